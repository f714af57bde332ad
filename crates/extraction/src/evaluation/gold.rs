//! A row of gold data. Offsets are code points of the text, or of the turns' texts joined with a line feed.

use serde::Deserialize;

use anamnesis_text::{Document, Language, Speaker};

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GoldRow {
    pub(crate) id: String,
    #[serde(default, alias = "lang")]
    language: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    turns: Option<Vec<GoldTurn>>,
    // Context of a target.
    #[serde(default)]
    pub(crate) start: Option<usize>,
    #[serde(default)]
    pub(crate) end: Option<usize>,
    #[serde(default)]
    pub(crate) negated: Option<bool>,
    #[serde(default)]
    pub(crate) uncertain: Option<bool>,
    #[serde(default)]
    pub(crate) temporality: Option<String>,
    #[serde(default)]
    pub(crate) experiencer: Option<String>,
    /// A row that repeats another.
    #[serde(default)]
    pub(crate) dup: bool,
    // Mentions.
    #[serde(default)]
    pub(crate) entities: Option<Vec<GoldMention>>,
    /// Kinds of mention that the row is complete for; without it, those that it marks.
    #[serde(default)]
    pub(crate) kinds: Option<Vec<String>>,
    // Sets of current values; alternatives of one value are separated by `|`.
    #[serde(default)]
    pub(crate) task: Option<String>,
    #[serde(default)]
    pub(crate) gold: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) gold_none_stated: bool,
    #[serde(default = "complete")]
    pub(crate) complete: bool,
    #[serde(default)]
    pub(crate) risk: Option<String>,
    #[serde(default)]
    pub(crate) themes: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) sentiment: Option<String>,
    #[serde(default)]
    pub(crate) patterns: Option<Vec<String>>,
    // Facts that must and must not be found.
    #[serde(default)]
    pub(crate) must: Option<Vec<GoldFact>>,
    #[serde(default)]
    pub(crate) must_not: Option<Vec<GoldFact>>,
}

fn complete() -> bool {
    true
}

#[derive(Debug, Clone, Deserialize)]
struct GoldTurn {
    #[serde(default)]
    speaker: String,
    #[serde(default)]
    text: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GoldMention {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A fact of a dialogue: an entity type or `intolerance`, `risk`, `risk_of_family`, `hypothesis`, or the kind of a statement.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GoldFact {
    pub(crate) fact: String,
    #[serde(default)]
    pub(crate) value: Option<String>,
    #[serde(default)]
    pub(crate) dose: Option<String>,
    #[serde(default)]
    pub(crate) negated: bool,
}

impl GoldRow {
    pub(crate) fn language(&self) -> &str {
        self.language.as_deref().unwrap_or("und")
    }

    pub(crate) fn document(&self) -> Document {
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

impl GoldTurn {
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
