//! A set of questions with their answers: one patient a line, with the documents, the questions, and for each question the
//! documents' own words that answer it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_search::SearchHit;
use anamnesis_text::fold;

/// Share of the words of an answer that a passage has to hold: an answer may begin in one passage and end in the next.
const SHARE: f64 = 0.5;
/// Shorter words are in every passage.
const SHORTEST: usize = 4;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoldPatient {
    pub(super) id: String,
    pub(super) lang: String,
    pub(super) documents: Vec<GoldRecord>,
    pub(super) questions: Vec<GoldQuestion>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoldRecord {
    id: String,
    #[serde(rename = "type")]
    document_type: String,
    pub(super) occurred_at: DateTime<Utc>,
    text: Option<String>,
    #[serde(default)]
    turns: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoldQuestion {
    pub(super) id: String,
    pub(super) lang: String,
    pub(super) text: String,
    pub(super) answers: Vec<GoldQuote>,
}

/// Words of a document that answer a question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoldQuote {
    document: String,
    quote: String,
}

impl GoldPatient {
    fn named(&self, what: &str, name: &str) -> Uuid {
        Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("anamnesis:recall:{what}:{}:{name}", self.id).as_bytes())
    }

    pub(super) fn scope(&self) -> Option<Scope> {
        Scope::new(OrgId(self.named("organization", "")), PatientId(self.named("patient", ""))).ok()
    }

    /// The documents as messages, each with its time.
    pub(super) fn messages(&self) -> Vec<(DateTime<Utc>, Vec<u8>)> {
        let message = |document: &GoldRecord| {
            let mut body = json!({
                "organization_id": self.named("organization", ""), "patient_id": self.named("patient", ""),
                "document_id": self.named("document", &document.id), "revision": 1,
                "document_type": document.document_type, "occurred_at": document.occurred_at, "language": self.lang,
            });
            match &document.text {
                Some(text) => body["text"] = json!(text),
                None => body["turns"] = json!(document.turns),
            }
            (document.occurred_at, body.to_string().into_bytes())
        };
        let mut all: Vec<_> = self.documents.iter().map(message).collect();
        all.sort();
        all
    }

    /// The answers of a question that a passage contains.
    pub(super) fn answer_in(&self, question: &GoldQuestion, hit: &SearchHit) -> Option<usize> {
        let said = words(&hit.fragment);
        question.answers.iter().position(|answer| {
            let wanted = words(&answer.quote);
            let held = wanted.intersection(&said).count() as f64;
            hit.document_id == DocumentId(self.named("document", &answer.document))
                && held > 0.0
                && held >= SHARE * wanted.len() as f64
        })
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let folded = fold(text);
    let whole = |word: &&str| word.chars().count() >= SHORTEST;
    folded.split(|c: char| !c.is_alphanumeric()).filter(whole).map(str::to_owned).collect()
}
