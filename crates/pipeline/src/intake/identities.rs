//! People whom redaction must find in a document, whatever its recognisers find.

use anamnesis_messages::contract::{DocumentSubmitted, IdentityHint, SensitiveText};
use anamnesis_redaction::KnownIdentity;

/// The people that the producer describes and the speakers. Blank values would match everywhere and are left out.
pub(crate) fn identities(document: &DocumentSubmitted) -> Vec<KnownIdentity> {
    let named = |name| KnownIdentity { names: vec![name], ..KnownIdentity::default() };
    let speaking = document.speaking_names().into_iter().map(named);
    document.known_identities.iter().flatten().map(identity).chain(speaking).collect()
}

fn identity(hint: &IdentityHint) -> KnownIdentity {
    KnownIdentity {
        names: said(&hint.names),
        phones: said(&hint.phones),
        emails: said(&hint.emails),
        ids: said(&hint.ids),
        addresses: said(&hint.addresses),
        birth_date: hint.birth_date,
    }
}

/// Blank words name no one.
fn said(list: &Option<Vec<SensitiveText>>) -> Vec<String> {
    list.iter().flatten().filter(|words| !words.is_blank()).map(|words| words.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use anamnesis_messages::{Decoder, Message};
    use serde_json::json;

    use super::*;

    #[test]
    fn described_and_speaking_people_are_looked_for_and_blank_values_are_left_out() {
        let message = json!({
            "type": "document.submitted.v1",
            "organization_id": "5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e3f",
            "patient_id": "0b9f4a6e-93a5-4d0e-8d5b-6d1f1b7f2c11",
            "document_id": "7c1f0a52-11d0-4c43-9a55-0a4f6c1d2e01",
            "document_type": "session_transcript",
            "occurred_at": "2026-01-05T10:00:00Z",
            "language": "es",
            "participants": [{"role": "clinician", "label": "Dra. Zutana"}],
            "known_identities": [{"role": "patient", "names": ["Ximena"], "phones": [" ", " 55 1234 "]}],
            "turns": [{"speaker": "clinician", "text": "¿Cómo ha dormido?"}],
        });
        let envelope = Decoder::default().decode(message.to_string().as_bytes()).expect("decodes");
        let Message::DocumentSubmitted(document) = envelope.message else { panic!("a document") };
        let found = identities(&document);
        assert_eq!(
            (found[0].names.as_slice(), found[0].phones.as_slice()),
            (&["Ximena".to_owned()][..], &["55 1234".to_owned()][..])
        );
        assert!(found[1..].iter().any(|one| one.names.iter().any(|name| name.contains("Zutana"))), "{found:?}");
    }
}
