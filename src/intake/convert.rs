//! A submitted document on its way to redaction: the text layer's [`Document`] and the identities to look for.

use super::contract::{DocumentSubmitted, IdentityHint, Words};
use crate::dlp::KnownIdentity;
use crate::text::{Document, Language};

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
            None => Document::plain(self.text.as_deref().unwrap_or(""), language),
        }
    }

    /// Whom redaction must find whatever the recognisers say. Blank values would match everywhere and are left out.
    pub fn identities(&self) -> Vec<KnownIdentity> {
        self.known_identities.iter().flatten().map(IdentityHint::to_identity).collect()
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
