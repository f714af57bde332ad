//! A submitted document on its way to redaction: the text layer's [`Document`] and the identities to look for.

use super::contract::{DocumentSubmitted, IdentityHint, Words};
use super::speakers;
use crate::dlp::KnownIdentity;
use crate::domain::wording::person;
use crate::text::{Document, Language, Speaker, fold};

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
            None => match speakers::turns_of(self) {
                Some(turns) => {
                    Document::dialogue(turns.iter().map(|turn| (turn.speaker, turn.text.as_str(), None)), language)
                }
                None => Document::plain(self.text.as_deref().unwrap_or(""), language),
            },
        }
    }

    /// Whom redaction must find whatever the recognisers say. Blank values would match everywhere and are left out.
    pub fn identities(&self) -> Vec<KnownIdentity> {
        let labels = speakers::names(self.participants.as_deref().unwrap_or_default());
        let speaking = labels.into_iter().map(|name| KnownIdentity { names: vec![name], ..KnownIdentity::default() });
        self.known_identities.iter().flatten().map(IdentityHint::to_identity).chain(speaking).collect()
    }

    /// What the one relative who speaks is to the patient, where only one does and the producer says what.
    pub fn informant(&self) -> Option<&'static str> {
        let mut relatives = self.participants.iter().flatten().filter(|one| one.role == Speaker::Family);
        let only = relatives.next().filter(|_| relatives.next().is_none())?;
        only.relation.as_ref().and_then(|relation| person(&fold(relation.trim())))
    }
}

impl IdentityHint {
    fn to_identity(&self) -> KnownIdentity {
        KnownIdentity {
            names: said(&self.names),
            phones: said(&self.phones),
            emails: said(&self.emails),
            ids: said(&self.ids),
            addresses: said(&self.addresses),
            birth_date: self.birth_date,
        }
    }
}

fn said(list: &Option<Vec<Words>>) -> Vec<String> {
    list.iter().flatten().filter(|words| !words.is_blank()).map(|words| words.trim().to_string()).collect()
}
