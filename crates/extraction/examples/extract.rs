//! Prints the facts of a note with their evidence and context.

use anamnesis_extraction::{ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

fn main() {
    let note = "No known drug allergies. She takes lithium 400 mg twice a day. Her mother had bipolar disorder. \
                Denies suicidal thoughts.";
    let document = Document::plain(note, Language::English);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document));
    for fact in &found.entities {
        let context = fact.context;
        println!(
            "{:?} {} (dose {:?}, about {:?}, negated {}): \"{}\"",
            fact.kind,
            fact.value,
            fact.dose,
            context.experiencer,
            context.negated,
            fact.evidence.slice(note)
        );
    }
    for risk in &found.risk {
        println!("risk {} denied {}: \"{}\"", risk.class, risk.denied, risk.span.slice(note));
    }
}
