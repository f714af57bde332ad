//! Redacts a note and prints what was replaced: type, recogniser and score, never the value.

use anamnesis_redaction::{KnownIdentity, KnownPeople, RedactionError, RedactionPolicy, Redactor, SurrogateKey};
use anamnesis_text::{Document, Language};

fn main() -> Result<(), RedactionError> {
    let redactor = Redactor::builtin(RedactionPolicy::named("safe_harbor")?);
    // Whom the caller knows is found whatever the recognisers say.
    let patient = KnownIdentity { names: vec!["Ximena".to_owned()], ..KnownIdentity::default() };
    let people = KnownPeople::from_identities(vec![patient]);
    let note = "Ximena vive en la calle Olmo 12 de Toledo. DNI 12345678Z. Toma litio desde 2019.";
    let document = Document::plain(note, Language::Spanish);
    let redacted = redactor.redact(&document, &people, &SurrogateKey::new([7; 32]))?;
    println!("{}", redacted.document().text);
    for one in redacted.redactions() {
        println!("{:<12} {:<16} {:.2} -> {}", one.label, one.recognizer, one.score, one.replacement);
    }
    Ok(())
}
