//! The sentences of each turn.

use super::*;

/// A turn and its sentences.
pub(super) struct TurnSentences {
    pub speaker: Speaker,
    pub(super) sentences: Range<usize>,
}

pub(super) fn turns(doc: &AnalyzedDocument<'_>) -> Vec<TurnSentences> {
    let mut out: Vec<TurnSentences> = Vec::new();
    let mut last = None;
    for (index, sentence) in doc.reading.sentences.iter().enumerate() {
        match out.last_mut().filter(|turn| last == Some(sentence.turn) || turn.speaker == sentence.speaker) {
            Some(turn) if turn.speaker == sentence.speaker => turn.sentences.end = index + 1,
            _ => out.push(TurnSentences { speaker: sentence.speaker, sentences: index..index + 1 }),
        }
        last = Some(sentence.turn);
    }
    out
}
