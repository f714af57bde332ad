//! Splits a dialogue into passages of at most twelve words, and prints who speaks in each.

use anamnesis_text::{Document, Language, Speaker, passages};

fn main() {
    let turns = [
        (Speaker::Clinician, "How have you been sleeping since we met?", None),
        (
            Speaker::Patient,
            "Badly. I wake at four. The new tablets made it worse at first, then a little better.",
            None,
        ),
    ];
    let session = Document::dialogue(turns, Language::English);
    for passage in passages(&session, 12) {
        let speaker = session.turns.iter().find(|turn| turn.span.overlaps(&passage.span)).map(|turn| turn.speaker);
        println!("{speaker:?}: {}", passage.span.slice(&session.text).replace('\n', " "));
    }
}
