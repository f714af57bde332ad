//! The summary of a period of a patient's history: an episode of one document, a conversation, a week, a quarter. It is
//! composed of the facts that were extracted, by fixed sentences in Spanish or English, and of nothing else: no model,
//! no word that no fact carries (seed 001, sections 2 and 7; seed 003, phase 3). Equal facts in any order give an equal
//! summary.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::coded_enum::codes;
use super::finding::{EntityType, Experiencer};

codes!(
    /// The subject of a summary.
    SummaryPeriod {
        /// One document that is no chat message: an episode.
        Document = "document",
        /// A closed conversation.
        Session = "session",
        Week = "week",
        Quarter = "quarter",
    }
);

impl SummaryPeriod {
    /// An episode rests on its own document; a summary of several documents has a separate text.
    pub fn has_text(self) -> bool {
        self != Self::Document
    }
}

/// The language of a summary: of most of its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryLanguage {
    Spanish,
    English,
}

/// One extracted fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizedFact {
    pub document: Uuid,
    pub entity: EntityType,
    /// As the document words it.
    pub name: String,
    /// Preferred name: equal names are one thing.
    pub concept: String,
    pub dose: Option<String>,
    pub frequency: Option<String>,
    pub value: Option<String>,
    pub negated: bool,
    /// It says that something ended.
    pub ended: bool,
    pub past: bool,
    /// Whom the fact is true of.
    pub experiencer: Experiencer,
}

/// The summary itself. Sealed with its memory; an episode's parts are those of seed 001, section 2.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    #[serde(rename = "stretch")]
    pub period: Option<SummaryPeriod>,
    pub text: String,
    /// Its subject: goals, else complaints and conditions.
    pub(crate) objective: Option<String>,
    /// Its result: treatment, ended items, appointments.
    pub(crate) outcome: Option<String>,
    /// What to remember in care: preferences.
    pub(crate) lessons: Vec<String>,
    /// `symptom:insomnia`, by preferred name.
    pub tags: Vec<String>,
    /// Number of distinct facts.
    pub(crate) facts: u32,
}

impl Summary {
    /// The same summary in other words, after a later redaction.
    pub fn reworded(&self, clean: &dyn Fn(&str) -> String) -> Self {
        let maybe = |text: &Option<String>| text.as_deref().map(clean);
        let all = |texts: &[String]| texts.iter().map(|text| clean(text)).collect();
        Self {
            period: self.period,
            text: clean(&self.text),
            objective: maybe(&self.objective),
            outcome: maybe(&self.outcome),
            lessons: all(&self.lessons),
            tags: all(&self.tags),
            facts: self.facts,
        }
    }
}

/// A paragraph of a summary, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SummarySection {
    Goals,
    Complaints,
    Conditions,
    Allergies,
    Intolerances,
    Treatment,
    Ended,
    Events,
    Appointments,
    Procedures,
    Measurements,
    Signals,
    Preferences,
    Relationships,
    Family,
    Past,
    Denied,
}

impl SummarySection {
    fn from_fact(fact: &SummarizedFact) -> Self {
        // First: a relative's illness must never read as the patient's.
        if fact.experiencer != Experiencer::Patient && fact.entity != EntityType::Relationship {
            return Self::Family;
        }
        if fact.negated {
            return Self::Denied;
        }
        if fact.ended {
            return Self::Ended;
        }
        if fact.past && matches!(fact.entity, EntityType::Condition | EntityType::Symptom | EntityType::Medication) {
            return Self::Past;
        }
        match fact.entity {
            EntityType::Goal => Self::Goals,
            EntityType::Symptom => Self::Complaints,
            EntityType::Condition => Self::Conditions,
            EntityType::Intolerance => Self::Intolerances,
            EntityType::Allergy => Self::Allergies,
            EntityType::Medication => Self::Treatment,
            EntityType::Event => Self::Events,
            EntityType::Procedure => Self::Procedures,
            EntityType::Measurement => Self::Measurements,
            EntityType::Appointment => Self::Appointments,
            EntityType::HealthSignal => Self::Signals,
            EntityType::Preference => Self::Preferences,
            EntityType::Relationship => Self::Relationships,
        }
    }

    fn heading(self, language: SummaryLanguage) -> &'static str {
        let (es, en) = match self {
            Self::Goals => ("Objetivos", "Goals"),
            Self::Complaints => ("Refiere", "Reports"),
            Self::Conditions => ("Diagnósticos", "Conditions"),
            Self::Allergies => ("Alergias", "Allergies"),
            Self::Intolerances => ("Intolerancias", "Intolerances"),
            Self::Treatment => ("Tratamiento", "Treatment"),
            Self::Ended => ("Terminó", "Ended"),
            Self::Events => ("Acontecimientos", "Events"),
            Self::Appointments => ("Citas", "Appointments"),
            Self::Procedures => ("Procedimientos", "Procedures"),
            Self::Measurements => ("Mediciones", "Measurements"),
            Self::Signals => ("Señales", "Signals"),
            Self::Preferences => ("Preferencias", "Preferences"),
            Self::Relationships => ("Personas", "People"),
            Self::Family => ("De otras personas", "Of other people"),
            Self::Past => ("Antecedentes", "History"),
            Self::Denied => ("Niega", "Denies"),
        };
        if language == SummaryLanguage::Spanish { es } else { en }
    }
}

fn title(period: SummaryPeriod, language: SummaryLanguage) -> &'static str {
    match (period, language) {
        (SummaryPeriod::Document, SummaryLanguage::Spanish) => "Episodio",
        (SummaryPeriod::Document, SummaryLanguage::English) => "Episode",
        (SummaryPeriod::Session, SummaryLanguage::Spanish) => "Resumen de la conversación",
        (SummaryPeriod::Session, SummaryLanguage::English) => "Summary of the conversation",
        (SummaryPeriod::Week, SummaryLanguage::Spanish) => "Resumen de la semana",
        (SummaryPeriod::Week, SummaryLanguage::English) => "Summary of the week",
        (SummaryPeriod::Quarter, SummaryLanguage::Spanish) => "Resumen del trimestre",
        (SummaryPeriod::Quarter, SummaryLanguage::English) => "Summary of the quarter",
    }
}

/// The key of one fact, however often it was stated.
type FactKey = (SummarySection, String, String, String, String);

struct MergedFact {
    words: String,
    documents: BTreeSet<Uuid>,
}

/// Renders the facts of a period; `None` when there are fewer than `least` distinct ones: nothing is written then.
pub fn render(
    period: SummaryPeriod,
    language: SummaryLanguage,
    facts: &[SummarizedFact],
    least: usize,
) -> Option<Summary> {
    let mut merged: BTreeMap<FactKey, MergedFact> = BTreeMap::new();
    for fact in facts {
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        let key = (
            SummarySection::from_fact(fact),
            fact.concept.clone(),
            text(&fact.dose),
            text(&fact.frequency),
            text(&fact.value),
        );
        let words = words(fact);
        let known =
            merged.entry(key).or_insert_with(|| MergedFact { words: words.clone(), documents: BTreeSet::new() });
        // Whichever fact comes first, the wording is the same.
        known.words = known.words.clone().min(words);
        known.documents.insert(fact.document);
    }
    // One fact stated twice is one fact, and no summary.
    if merged.len() < least.max(1) {
        return None;
    }
    let mut parts: BTreeMap<SummarySection, Vec<(usize, String)>> = BTreeMap::new();
    for ((part, ..), one) in &merged {
        parts.entry(*part).or_default().push((one.documents.len(), one.words.clone()));
    }
    for lines in parts.values_mut() {
        // By frequency, then by words: equal facts in any order give equal text.
        lines.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    }
    let mut text = format!("{}.", title(period, language));
    for (part, lines) in &parts {
        let lines: Vec<String> = lines.iter().map(|(times, words)| counted(words, *times, language)).collect();
        text.push_str(&format!(" {}: {}.", part.heading(language), lines.join("; ")));
    }
    let joined = |wanted: &[SummarySection]| -> Option<String> {
        let lines: Vec<&str> =
            wanted.iter().filter_map(|part| parts.get(part)).flatten().map(|(_, words)| words.as_str()).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    };
    let lessons =
        parts.get(&SummarySection::Preferences).into_iter().flatten().map(|(_, words)| words.clone()).collect();
    let mut tags: Vec<String> = facts.iter().map(|fact| format!("{}:{}", fact.entity, fact.concept)).collect();
    tags.sort_unstable();
    tags.dedup();
    Some(Summary {
        period: Some(period),
        text,
        objective: joined(&[SummarySection::Goals])
            .or_else(|| joined(&[SummarySection::Complaints, SummarySection::Conditions])),
        outcome: joined(&[SummarySection::Treatment, SummarySection::Ended, SummarySection::Appointments]),
        lessons,
        tags,
        facts: u32::try_from(merged.len()).unwrap_or(u32::MAX),
    })
}

fn words(fact: &SummarizedFact) -> String {
    let name = if fact.name.is_empty() { &fact.concept } else { &fact.name };
    let mut words = name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    for part in [&fact.dose, &fact.frequency, &fact.value].into_iter().flatten() {
        words.push(' ');
        words.push_str(part);
    }
    words
}

fn counted(words: &str, times: usize, language: SummaryLanguage) -> String {
    match (times, language) {
        (0 | 1, _) => words.to_owned(),
        (n, SummaryLanguage::Spanish) => format!("{words} ({n} veces)"),
        (n, SummaryLanguage::English) => format!("{words} ({n} times)"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fact(document: u128, entity: EntityType, name: &str) -> SummarizedFact {
        SummarizedFact {
            document: Uuid::from_u128(document),
            entity,
            name: name.to_owned(),
            concept: name.to_lowercase(),
            dose: None,
            frequency: None,
            value: None,
            negated: false,
            ended: false,
            past: false,
            experiencer: Experiencer::Patient,
        }
    }

    fn facts() -> Vec<SummarizedFact> {
        vec![
            fact(1, EntityType::Symptom, "Insomnio"),
            fact(2, EntityType::Symptom, "insomnio"),
            fact(2, EntityType::Symptom, "cefalea"),
            SummarizedFact { dose: Some("50 mg".into()), ..fact(1, EntityType::Medication, "sertralina") },
            SummarizedFact { ended: true, ..fact(2, EntityType::Medication, "litio") },
            SummarizedFact { negated: true, ..fact(2, EntityType::Symptom, "fiebre") },
            SummarizedFact { experiencer: Experiencer::Family, ..fact(1, EntityType::Condition, "diabetes") },
            fact(1, EntityType::Goal, "volver a trabajar"),
            fact(1, EntityType::Preference, "sesiones por la tarde"),
        ]
    }

    #[test]
    fn a_week_lists_its_facts_under_their_headings_and_how_often_each_was_stated() {
        let account = render(SummaryPeriod::Week, SummaryLanguage::Spanish, &facts(), 2).unwrap();
        assert_eq!(
            account.text,
            "Resumen de la semana. Objetivos: volver a trabajar. Refiere: insomnio (2 veces); cefalea. Tratamiento: \
             sertralina 50 mg. Terminó: litio. Preferencias: sesiones por la tarde. De otras personas: diabetes. Niega: fiebre."
        );
        assert_eq!(account.facts, 8);
        assert_eq!(account.objective.as_deref(), Some("volver a trabajar"));
        assert_eq!(account.outcome.as_deref(), Some("sertralina 50 mg; litio"));
        assert_eq!(account.lessons, ["sesiones por la tarde"]);
        assert!(account.tags.contains(&"symptom:insomnio".to_owned()));
        let english = render(SummaryPeriod::Document, SummaryLanguage::English, &facts()[..3], 2).unwrap();
        assert_eq!(english.text, "Episode. Reports: insomnio (2 times); cefalea.");
        assert_eq!(english.objective.as_deref(), Some("insomnio; cefalea"));
    }

    #[test]
    fn what_is_not_tolerated_never_reads_as_an_allergy() {
        let intolerance = fact(1, EntityType::Intolerance, "fluoxetine");
        let facts = [fact(1, EntityType::Allergy, "sulfa"), intolerance];
        let text = render(SummaryPeriod::Week, SummaryLanguage::English, &facts, 1).unwrap().text;
        assert_eq!(text, "Summary of the week. Allergies: sulfa. Intolerances: fluoxetine.");
    }

    #[test]
    fn too_few_facts_give_no_summary() {
        assert_eq!(
            render(SummaryPeriod::Week, SummaryLanguage::Spanish, &facts()[..2], 2),
            None,
            "one fact, told twice"
        );
        assert_eq!(render(SummaryPeriod::Week, SummaryLanguage::Spanish, &[], 0), None);
    }

    #[test]
    fn facts_of_another_person_and_denials_never_read_as_the_patients_own() {
        let text = render(SummaryPeriod::Session, SummaryLanguage::English, &facts(), 1).unwrap().text;
        let reports = text.split("Reports: ").nth(1).unwrap().split('.').next().unwrap();
        assert!(!reports.contains("fiebre") && !reports.contains("diabetes"), "{text}");
    }

    proptest! {
        #[test]
        fn any_order_and_any_repetition_of_the_same_facts_gives_the_same_account(
            order in Just((0..9usize).collect::<Vec<_>>()).prop_shuffle(), again in prop::collection::vec(0usize..9, 0..6)
        ) {
            let known = facts();
            let shuffled: Vec<SummarizedFact> = order.iter().chain(&again).map(|n| known[*n].clone()).collect();
            prop_assert_eq!(
                render(SummaryPeriod::Quarter, SummaryLanguage::Spanish, &shuffled, 2), render(SummaryPeriod::Quarter, SummaryLanguage::Spanish, &known, 2)
            );
        }
    }
}
