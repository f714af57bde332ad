//! A row of gold data. Offsets are code points of the text, or of the turns' texts joined with a line feed.

use serde::Deserialize;

use crate::text::{Document, Language, Speaker};

#[derive(Debug, Clone, Deserialize)]
pub struct Gold {
    pub id: String,
    #[serde(default, alias = "lang")]
    language: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    turns: Option<Vec<Said>>,
    // Context of a target.
    #[serde(default)]
    pub start: Option<usize>,
    #[serde(default)]
    pub end: Option<usize>,
    #[serde(default)]
    pub negated: Option<bool>,
    #[serde(default)]
    pub uncertain: Option<bool>,
    #[serde(default)]
    pub temporality: Option<String>,
    #[serde(default)]
    pub experiencer: Option<String>,
    /// A row that repeats another.
    #[serde(default)]
    pub dup: bool,
    // Mentions.
    #[serde(default)]
    pub entities: Option<Vec<Marked>>,
    /// Kinds of mention that the row is complete for; without it, those that it marks.
    #[serde(default)]
    pub kinds: Option<Vec<String>>,
    // Sets of current values; alternatives of one value are parted by `|`.
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    pub gold: Option<Vec<String>>,
    #[serde(default)]
    pub gold_none_stated: bool,
    #[serde(default = "complete")]
    pub complete: bool,
    #[serde(default)]
    pub risk: Option<String>,
    #[serde(default)]
    pub themes: Option<Vec<String>>,
    #[serde(default)]
    pub sentiment: Option<String>,
    #[serde(default)]
    pub patterns: Option<Vec<String>>,
    // What must and must not come out.
    #[serde(default)]
    pub must: Option<Vec<Fact>>,
    #[serde(default)]
    pub must_not: Option<Vec<Fact>>,
}

fn complete() -> bool {
    true
}

#[derive(Debug, Clone, Deserialize)]
struct Said {
    #[serde(default)]
    speaker: String,
    #[serde(default)]
    text: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Marked {
    #[serde(rename = "type")]
    pub kind: String,
    pub start: usize,
    pub end: usize,
}

/// A fact of a dialogue: an entity type or `intolerance`, `risk`, `risk_of_family`, `hypothesis`, or the kind of a statement.
#[derive(Debug, Clone, Deserialize)]
pub struct Fact {
    pub fact: String,
    #[serde(default)]
    pub value: Option<String>,
    #[serde(default)]
    pub dose: Option<String>,
    #[serde(default)]
    pub negated: bool,
}

impl Gold {
    pub fn language(&self) -> &str {
        self.language.as_deref().unwrap_or("und")
    }

    pub fn document(&self) -> Document {
        let language = match self.language() {
            "es" => Language::Spanish,
            "en" => Language::English,
            _ => Language::Unknown,
        };
        match &self.turns {
            Some(turns) => {
                let said = turns.iter().filter(|turn| !turn.text.trim().is_empty());
                Document::dialogue(said.map(|turn| (turn.speaker(), turn.text.as_str(), None)), language)
            }
            None => Document::plain(self.text.as_deref().unwrap_or_default(), language),
        }
    }
}

impl Said {
    fn speaker(&self) -> Speaker {
        match self.speaker.as_str() {
            "patient" => Speaker::Patient,
            "clinician" | "guest_clinician" | "guest_clinican" => Speaker::Clinician,
            "family" | "guest_family" | "patient_guest" => Speaker::Family,
            "agent" => Speaker::Agent,
            _ => Speaker::Unknown,
        }
    }
}
