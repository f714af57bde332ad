//! A submitted document on its way to redaction: the text layer's [`Document`] and the names that speak in it.

use super::contract::DocumentSubmitted;
use super::labelled_turns;
use anamnesis_core::wording::person;
use anamnesis_text::{Document, Language, Speaker, fold};

impl DocumentSubmitted {
    /// The text with its turns. Turns in which nothing is said are left out, so turn numbers of findings count the
    /// others.
    pub fn to_document(&self) -> Document {
        let language = self.language.as_ref().map_or(Language::Unknown, |tag| tag.language());
        match &self.turns {
            Some(turns) => {
                let said = turns.iter().filter(|turn| !turn.text.is_blank());
                Document::dialogue(said.map(|turn| (turn.speaker, turn.text.as_str(), turn.at_ms)), language)
            }
            None => match labelled_turns::turns_of(self) {
                Some(turns) => {
                    Document::dialogue(turns.iter().map(|turn| (turn.speaker, turn.text.as_str(), None)), language)
                }
                None => Document::plain(self.text.as_deref().unwrap_or(""), language),
            },
        }
    }

    /// Names under which people speak in the document, from its list of participants.
    pub fn speaking_names(&self) -> Vec<String> {
        labelled_turns::names(self.participants.as_deref().unwrap_or_default())
    }

    /// What the one relative who speaks is to the patient, where only one does and the producer says what.
    pub fn informant(&self) -> Option<&'static str> {
        let mut relatives = self.participants.iter().flatten().filter(|one| one.role == Speaker::Family);
        let only = relatives.next().filter(|_| relatives.next().is_none())?;
        only.relation.as_ref().and_then(|relation| person(&fold(relation.trim())))
    }
}
