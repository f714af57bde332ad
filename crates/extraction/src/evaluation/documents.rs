//! Files of documents, one JSON object a line.

use anamnesis_text::{Document, Language, Speaker};
use serde::Deserialize;

#[derive(Deserialize)]
struct DocumentRow {
    #[serde(default)]
    lang: String,
    text: Option<String>,
    turns: Option<Vec<DocumentTurn>>,
}

#[derive(Deserialize)]
struct DocumentTurn {
    #[serde(default)]
    pub speaker: serde_json::Value,
    text: String,
}

/// Reads documents `{"lang","text"|"turns"}`; rows of another kind are passed over.
///
/// # Errors
/// The number of the first line that is malformed, counted from 1.
pub fn read_documents(text: &str) -> Result<Vec<Document>, usize> {
    let mut documents = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row: DocumentRow = serde_json::from_str(line).map_err(|_| at + 1)?;
        let language = if row.lang.starts_with("es") { Language::Spanish } else { Language::English };
        match (row.text, row.turns) {
            (_, Some(turns)) => {
                // Some sets name other speakers ("guest"): they are no known person.
                let speaker =
                    |turn: &DocumentTurn| serde_json::from_value(turn.speaker.clone()).unwrap_or(Speaker::Unknown);
                let turns = turns.iter().map(|turn| (speaker(turn), turn.text.as_str(), None));
                documents.push(Document::dialogue(turns, language));
            }
            (Some(text), None) => documents.push(Document::plain(text, language)),
            (None, None) => {}
        }
    }
    Ok(documents)
}
