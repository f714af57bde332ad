//! Stated preferences: a patient's wishes about conversation and treatment become one memory per topic (seed 001,
//! section 7; model.md, "Job runs"). The same wish reinforces it, another value replaces it (`projection::replay`). The
//! statements themselves stay: of two that oppose each other both are stored (seed 001, section 9), while this memory
//! contains the latest.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::super::derived_finding::DerivedFinding;
use super::super::driver::{JobError, JobWindow};
use super::{AUTHOR, Consolidation, MentionText};
use anamnesis_core::ids::{FindingId, derive};
use anamnesis_core::memory::Kind;
use anamnesis_core::preference::{self, STATED, StatedPreference, UNWANTED, WANTED};
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::Transaction;
use anamnesis_store::Keys;
use anamnesis_store::maintenance::raw_id;
use anamnesis_store::records::{Evidence, FindingWords, NewFinding, finding_id};
use anamnesis_store::recurrence::{self, Mention};

/// One document's last word on one topic.
#[derive(Debug)]
pub(crate) struct PreferenceMention {
    pub(crate) scope: Scope,
    /// The finding to be added to the log.
    pub(crate) id: FindingId,
    source: Uuid,
    mention: Mention,
    /// Effective confidence of the statement at the time of the run.
    sure: f64,
    stated: StatedPreference,
    evidence: Option<Evidence>,
    /// As the document says it.
    wording: String,
}

impl Consolidation {
    /// The wishes about conversation and treatment in these mentions. Only the patient's own statements and those of
    /// clinicians count; what others report about a person is their view.
    pub(super) async fn preferred(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        mentions: &[Mention],
    ) -> Result<Vec<PreferenceMention>, JobError> {
        let said: Vec<&Mention> = mentions.iter().filter(|t| t.is_stated && t.trust == Trust::T1).collect();
        if said.is_empty() {
            return Ok(Vec::new());
        }
        let mut scopes: Vec<Scope> = said.iter().filter_map(|t| Scope::new(window.org, t.patient).ok()).collect();
        scopes.dedup();
        let keys: Keys = self.keys.known(&scopes).await?;
        let wanted: Vec<_> = said.iter().map(|t| (t.patient, t.finding)).collect();
        let mut words: BTreeMap<FindingId, (FindingWords, Option<Evidence>)> = BTreeMap::new();
        for (id, texts, evidence) in recurrence::words(tx, window.org, &keys, &wanted).await? {
            words.insert(id, (texts, evidence));
        }
        let mut last: BTreeMap<(Scope, Uuid, String), (usize, PreferenceMention)> = BTreeMap::new();
        for mention in said {
            let (Ok(scope), Some((texts, evidence))) =
                (Scope::new(window.org, mention.patient), words.get(&mention.finding))
            else {
                continue;
            };
            let place = evidence.as_ref().map_or(0, |evidence| evidence.span.start);
            for stated in preference::stated(&texts.concept) {
                let key = (scope, mention.document, stated.key());
                let stated = if mention.negated { opposite(stated) } else { stated };
                let preferred =
                    self.of_mention(scope, mention, stated, MentionText { words: texts, evidence }, window.cutoff);
                if last.get(&key).is_none_or(|(before, _)| *before <= place) {
                    last.insert(key, (place, preferred));
                }
            }
        }
        Ok(last.into_values().map(|(_, preferred)| preferred).collect())
    }

    fn of_mention(
        &self,
        scope: Scope,
        mention: &Mention,
        stated: StatedPreference,
        MentionText { words, evidence }: MentionText<'_>,
        cutoff: DateTime<Utc>,
    ) -> PreferenceMention {
        let document = of_document(mention.document);
        let key = format!("{}|{}", stated.key(), stated.value);
        PreferenceMention {
            scope,
            id: finding_id(scope, document, 1, key.as_bytes()),
            source: of_revision(document, mention.revision),
            mention: *mention,
            sure: self.effective(mention, cutoff),
            stated,
            evidence: evidence.clone(),
            wording: words.mention.clone(),
        }
    }

    /// The finding that is added to the log.
    pub(super) fn preference(
        &self,
        preferred: &PreferenceMention,
        keys: &PatientKeys,
        recorded_at: DateTime<Utc>,
    ) -> Option<NewFinding> {
        let PreferenceMention { mention, stated, .. } = preferred;
        let words = FindingWords {
            concept: stated.heading(),
            value: Some(stated.value.clone()),
            status: Some(STATED.to_owned()),
            mention: preferred.wording.clone(),
            never: false,
            formed_from: vec![raw_id(preferred.scope, mention.document, mention.revision)],
            ..FindingWords::default()
        };
        let formed = DerivedFinding {
            scope: preferred.scope,
            id: preferred.id,
            source: preferred.source,
            text: mention.text,
            attribute: keys.hash(STATED, stated.key().as_bytes()),
            kind: Kind::Belief,
            document_type: None,
            parents: &[mention.trust],
            weakest: preferred.sure,
            extraction_confidence: mention.extraction_confidence,
            span: (mention.asserted_at, mention.asserted_at),
            recorded_at,
            words,
            evidence: preferred.evidence.clone(),
            author: AUTHOR,
        };
        formed.finding()
    }
}

/// The opposite, for a denial that covers the whole statement: "ya no prefiero las llamadas".
fn opposite(stated: StatedPreference) -> StatedPreference {
    let value = match stated.value.as_str() {
        WANTED => UNWANTED.to_owned(),
        UNWANTED => WANTED.to_owned(),
        value => value.strip_prefix("not ").map_or_else(|| format!("not {value}"), str::to_owned),
    };
    StatedPreference { value, ..stated }
}

/// The id of a document's statements.
fn of_document(document: Uuid) -> Uuid {
    derive("consolidation.preference", &[document.as_bytes()])
}

/// Whether this is the source of a finding that was derived from a document, in any revision.
pub(super) fn is_of_document(source: Uuid, document: Uuid) -> bool {
    source.as_bytes()[..12] == of_document(document).as_bytes()[..12]
}

/// Of two revisions of a document, whose statements are of the same instant, the log walks the later one last.
fn of_revision(document: Uuid, revision: u32) -> Uuid {
    let mut bytes = document.into_bytes();
    bytes[12..].copy_from_slice(&revision.to_be_bytes());
    Uuid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::preference::Topic;

    #[test]
    fn a_denial_turns_a_preference_round_and_twice_denied_is_what_was_said() {
        let of = |value: &str| StatedPreference {
            topic: Topic::Contact,
            about: Some("mother".to_owned()),
            value: value.to_owned(),
        };
        for (said, denied) in
            [(WANTED, UNWANTED), (UNWANTED, WANTED), ("formal", "not formal"), ("not formal", "formal")]
        {
            let turned = opposite(of(said));
            assert_eq!(turned, of(denied));
            assert_eq!(opposite(turned), of(said));
        }
    }

    #[test]
    fn what_a_document_states_is_known_by_the_document_and_sorted_by_its_revision() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let of = |document, revision| of_revision(of_document(document), revision);
        for revision in [0, 1, 7, u32::MAX] {
            assert!(is_of_document(of(one, revision), one), "{revision}");
            assert!(!is_of_document(of(one, revision), two), "{revision}");
        }
        assert!(of(one, 1) < of(one, 2) && of(one, 255) < of(one, 256), "the later one is walked last");
        assert_ne!(of(one, 1), of(two, 1));
        assert_ne!(of_document(one), one);
    }
}
