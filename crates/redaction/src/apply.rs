//! Puts replacements into the text: from findings to [`Redacted`], with offsets both ways, turns and side values.

use super::document::DocumentContext;
use super::error::RedactionError;
use super::finding::PiiFinding;
use super::label;
use super::operator::MatchedValue;
use super::redacted::{Redacted, Redaction};
use super::replace::replacement;
use super::surrogate::{Fingerprinter, SurrogateKey};
use super::tokenization::TokenKey;
use super::value_normalization::normalized_value;
use anamnesis_core::side_value::PlacedValue;
use anamnesis_text::{Document, Span, Turn};

/// Builds the redacted text from merged findings (sorted, without overlaps, spans of the view).
pub(crate) fn apply(
    document: &Document,
    context: &DocumentContext<'_>,
    findings: Vec<PiiFinding>,
    key: &SurrogateKey,
    token_key: Option<&TokenKey>,
) -> Result<Redacted, RedactionError> {
    let fingerprinter = Fingerprinter::new(key);
    let mut text = String::with_capacity(document.text.len());
    let (mut redactions, mut values): (Vec<Redaction>, Vec<PlacedValue>) = (Vec::new(), Vec::new());
    let mut read = 0;
    for found in findings {
        let wide = context.view.source(found.span);
        // Folding can map two findings to one source letter ("ﬁ"), so a finding begins after the one before it.
        let source = Span::new(wide.start.max(read), wide.end);
        if source.end <= source.start {
            continue;
        }
        text.push_str(document.text.get(read..source.start).ok_or(RedactionError::Offsets)?);
        let value = value(&found, source.slice(&document.text), context, &fingerprinter);
        let replacement = replacement(context.policy.operator(value.label), &found, &value, &fingerprinter, token_key);
        let redacted = Span::new(text.len(), text.len() + replacement.len());
        let (label, fingerprint) = (value.label, value.fingerprint);
        let redaction = Redaction {
            source,
            redacted,
            label,
            recognizer: found.recognizer,
            score: found.score,
            replacement,
            fingerprint,
        };
        text.push_str(&redaction.replacement);
        // Dates and ages leave the text but stay usable: as typed values at the position of their tag.
        values.extend(found.value.map(|value| PlacedValue { at: redaction.redacted, value }));
        redactions.push(redaction);
        read = source.end;
    }
    text.push_str(document.text.get(read..).ok_or(RedactionError::Offsets)?);
    let turns = document.turns.iter().map(|turn| moved(turn, &redactions)).collect();
    let document = Document { text, language: document.language, turns };
    Ok(Redacted { document, redactions, values, policy: context.policy.revision() })
}

fn value<'a>(
    found: &PiiFinding,
    text: &'a str,
    context: &DocumentContext<'_>,
    fingerprinter: &Fingerprinter,
) -> MatchedValue<'a> {
    let label = label::public(found.label);
    let subject =
        found.subject.clone().unwrap_or_else(|| normalized_value(label, found.span.slice(&context.view.lower)));
    MatchedValue { label, text, fingerprint: fingerprinter.fingerprint(label, &subject), language: context.language }
}

/// The turn's place in the redacted text. No replacement crosses a border of turns: boundaries saw to that.
fn moved(turn: &Turn, redactions: &[Redaction]) -> Turn {
    let place = |at: usize| {
        let before = redactions.partition_point(|redaction| redaction.source.end <= at);
        match before.checked_sub(1).map(|last| &redactions[last]) {
            Some(last) => last.redacted.end + (at - last.source.end),
            None => at,
        }
    };
    let (start, end) = (place(turn.span.start), place(turn.span.end));
    Turn { speaker: turn.speaker, span: Span::new(start, end.max(start)), at_ms: turn.at_ms }
}
