//! How long the source of what is remembered is stored (features 87 and 108): by the type of the document, and by a
//! privacy tier. The patient's own choice of a tier precedes the organisation's, and the organisation's precedes the
//! country's. Pure.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::coded_enum::codes;
use super::document::DocumentType;

codes!(
    /// How much of a source a patient, an organisation or a country wants stored.
    PrivacyTier {
        Standard = "standard",
        /// The findings stay, without the text and without quotes from it.
        SummaryOnly = "summary_only",
        /// The text goes once it was understood; quotes that are evidence stay.
        DropSource = "drop_source",
        /// The text leaves every search and lies sealed, to be read by name only.
        ColdArchive = "cold_archive",
    }
);

codes!(
    /// The result for a source.
    RetentionState {
        SummaryOnly = "summary_only",
        SourceDropped = "source_dropped",
        Archived = "archived",
    }
);

impl PrivacyTier {
    /// A tier as a profile event words it: "Summary only", "drop-source". `None` for words that name no tier.
    pub fn read(words: &str) -> Option<Self> {
        let word = anamnesis_text::fold(words);
        let parts: Vec<&str> = word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
        Self::from_code(&parts.join("_"))
    }
}

/// The country (ISO 3166-1, two letters) that a region begins with: "ES", "es-MD", "CO / Antioquia". `None` for a region
/// that is named otherwise.
pub fn country(region: &str) -> Option<String> {
    let letters: String = region.trim().chars().take_while(char::is_ascii_alphabetic).collect();
    (letters.len() == 2).then(|| letters.to_ascii_uppercase())
}

/// The result for documents of one type, and its time.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Rule")]
pub struct RetentionRule {
    /// Days since the document was recorded; 0 is the next run.
    pub after_days: u32,
    pub(crate) then: RetentionState,
}

// A mark of the store is a digest of the policy's debug text: the name in it is that of version 0.1.0.
impl fmt::Debug for RetentionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("after_days", &self.after_days).field("then", &self.then).finish()
    }
}

/// Rules of one tier; a type that is not named stays.
pub(crate) type TierRules = BTreeMap<DocumentType, RetentionRule>;

/// The tier in force, and its rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetentionPolicy {
    /// Where neither patient nor organisation nor country says one.
    pub(crate) tier: PrivacyTier,
    /// By country code.
    #[serde(default)]
    pub countries: BTreeMap<String, PrivacyTier>,
    #[serde(default)]
    pub tiers: BTreeMap<PrivacyTier, TierRules>,
    /// Days since the last message about a patient after which the whole patient is erased, 1 to 36,500. Twenty-six years
    /// where nothing is said: a newborn is then an adult past every minimum of docs/retention.md.
    #[serde(default = "child_to_adult")]
    pub patient_days: u32,
}

fn child_to_adult() -> u32 {
    9_497
}

/// The tiers that apply to one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatedTiers<'a> {
    pub patient: Option<PrivacyTier>,
    pub organization: Option<PrivacyTier>,
    /// Where the patient lives, else where the organisation works.
    pub country: Option<&'a str>,
}

impl RetentionPolicy {
    /// The patient's word before the organisation's, the organisation's before the country's (feature 87).
    pub(crate) fn tier_of(&self, said: &StatedTiers<'_>) -> PrivacyTier {
        let of_country = || said.country.and_then(|country| self.countries.get(country)).copied();
        said.patient.or(said.organization).or_else(of_country).unwrap_or(self.tier)
    }

    /// When a document's source is deleted, and how. `None`: it stays.
    pub fn due(
        &self,
        said: &StatedTiers<'_>,
        document_type: DocumentType,
        recorded_at: DateTime<Utc>,
    ) -> Option<(DateTime<Utc>, RetentionState)> {
        let rule = self.tiers.get(&self.tier_of(said))?.get(&document_type)?;
        Some((recorded_at + TimeDelta::days(i64::from(rule.after_days)), rule.then))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The mark of a store is a digest of this text: another name would make every document be looked at again.
    #[test]
    fn the_mark_of_a_policy_names_rules_as_version_0_1_0_did() {
        let text = format!("{:?}", RetentionRule { after_days: 365, then: RetentionState::Archived });
        assert_eq!(text, "Rule { after_days: 365, then: Archived }");
    }

    fn policy() -> RetentionPolicy {
        let rules =
            |days, then| BTreeMap::from([(DocumentType::ChatMessage, RetentionRule { after_days: days, then })]);
        RetentionPolicy {
            tier: PrivacyTier::Standard,
            countries: BTreeMap::from([("DE".to_owned(), PrivacyTier::DropSource)]),
            tiers: BTreeMap::from([
                (PrivacyTier::Standard, rules(365, RetentionState::Archived)),
                (PrivacyTier::DropSource, rules(1, RetentionState::SourceDropped)),
                (PrivacyTier::SummaryOnly, rules(0, RetentionState::SummaryOnly)),
            ]),
            patient_days: 9_497,
        }
    }

    #[test]
    fn the_record_of_a_patient_has_a_term_where_a_policy_says_none() {
        let policy: RetentionPolicy = serde_json::from_value(serde_json::json!({"tier": "standard"})).unwrap();
        assert_eq!(policy.patient_days, 9_497);
    }

    #[test]
    fn the_patients_word_comes_before_the_organisations_and_that_before_the_countrys() {
        let policy = policy();
        let country = StatedTiers { country: Some("DE"), ..StatedTiers::default() };
        let organization = StatedTiers { organization: Some(PrivacyTier::Standard), ..country };
        let patient = StatedTiers { patient: Some(PrivacyTier::SummaryOnly), ..organization };
        let tiers = [StatedTiers::default(), country, organization, patient].map(|said| policy.tier_of(&said));
        let expected =
            [PrivacyTier::Standard, PrivacyTier::DropSource, PrivacyTier::Standard, PrivacyTier::SummaryOnly];
        assert_eq!(tiers, expected);
        assert_eq!(
            policy.tier_of(&StatedTiers { country: Some("FR"), ..StatedTiers::default() }),
            PrivacyTier::Standard
        );
    }

    #[test]
    fn words_of_a_profile_name_a_tier_or_none() {
        assert_eq!(PrivacyTier::read("Summary only"), Some(PrivacyTier::SummaryOnly));
        assert_eq!(PrivacyTier::read("drop-source"), Some(PrivacyTier::DropSource));
        assert_eq!(PrivacyTier::read("gold"), None);
        assert_eq!(country("es-MD").as_deref(), Some("ES"));
        assert_eq!(country(" CO / Antioquia").as_deref(), Some("CO"));
        assert_eq!(country("España"), None);
    }

    proptest! {
        /// A type that the tier does not name stays; one that it names goes exactly after its days.
        #[test]
        fn a_source_goes_after_the_days_of_its_tier_and_type_and_no_other_goes(at in 0i64..4_000_000_000, n in 0usize..6) {
            let policy = policy();
            let recorded = DateTime::from_timestamp(at, 0).unwrap();
            let document_type = DocumentType::ALL[n];
            let said = StatedTiers { patient: Some(PrivacyTier::DropSource), ..StatedTiers::default() };
            let expected = (document_type == DocumentType::ChatMessage)
                .then(|| (recorded + TimeDelta::days(1), RetentionState::SourceDropped));
            prop_assert_eq!(policy.due(&said, document_type, recorded), expected);
            let cold = StatedTiers { patient: Some(PrivacyTier::ColdArchive), ..StatedTiers::default() };
            prop_assert_eq!(policy.due(&cold, document_type, recorded), None);
        }
    }
}
