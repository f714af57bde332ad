//! Puts replacements into the text: from findings to [`Redacted`], with offsets both ways, turns and side values.

use super::context::Context;
use super::finding::Finding;
use super::operator::{Value, replacement};
use super::reversible::TokenKey;
use super::surrogate::Sealer;
use super::{PlacedValue, Redacted, Redaction, RedactionError, SurrogateKey, label};
use anamnesis_text::{Document, Span, Turn};

/// Builds the redacted text from merged findings (sorted, without overlaps, spans of the view).
pub(crate) fn apply(
    document: &Document,
    context: &Context<'_>,
    findings: Vec<Finding>,
    key: &SurrogateKey,
    token_key: Option<&TokenKey>,
) -> Result<Redacted, RedactionError> {
    let sealer = Sealer::new(key);
    let mut text = String::with_capacity(document.text.len());
    let (mut redactions, mut values): (Vec<Redaction>, Vec<PlacedValue>) = (Vec::new(), Vec::new());
    let mut read = 0;
    for found in findings {
        let wide = context.view.source(found.span);
        let source = Span::new(wide.start.max(read), wide.end);
        if source.end <= source.start {
            continue;
        }
        text.push_str(document.text.get(read..source.start).ok_or(RedactionError::Offsets)?);
        let value = value(&found, source.of(&document.text), context, &sealer);
        let replacement = replacement(context.policy.operator(value.label), &found, &value, &sealer, token_key);
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
        values.extend(found.value.map(|value| PlacedValue { at: redaction.redacted, value }));
        redactions.push(redaction);
        read = source.end;
    }
    text.push_str(document.text.get(read..).ok_or(RedactionError::Offsets)?);
    let turns = document.turns.iter().map(|turn| moved(turn, &redactions)).collect();
    let document = Document { text, language: document.language, turns };
    Ok(Redacted { document, redactions, values, policy: context.policy.revision() })
}

fn value<'a>(found: &Finding, text: &'a str, context: &Context<'_>, sealer: &Sealer) -> Value<'a> {
    let label = label::public(found.label);
    let subject = found.subject.clone().unwrap_or_else(|| normal(label, found.span.of(&context.view.lower)));
    Value { label, text, fingerprint: sealer.fingerprint(label, &subject), language: context.language }
}

/// The value that surrogates compare: words of a name in alphabetical order without titles, letters and digits of
/// everything else.
pub(crate) fn normal(label: &str, lower: &str) -> String {
    if label == label::PERSON {
        let mut words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && !is_no_part_of_a_name(word))
            .collect();
        words.sort_unstable();
        return words.join(" ");
    }
    if label == label::PHONE {
        let digits: String = lower.chars().filter(char::is_ascii_digit).collect();
        return digits[digits.len().saturating_sub(9)..].to_owned();
    }
    lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, '@' | '.')).collect()
}

/// Titles and particles: "Dr. de la Cruz" and "Cruz" are one value.
pub(crate) fn is_no_part_of_a_name(word: &str) -> bool {
    matches!(
        word,
        "dr" | "dra"
            | "sr"
            | "sra"
            | "srta"
            | "don"
            | "dona"
            | "mr"
            | "mrs"
            | "ms"
            | "miss"
            | "prof"
            | "de"
            | "del"
            | "la"
            | "las"
            | "los"
            | "y"
            | "e"
            | "s"
    )
}

/// The turn's place in the redacted text. No replacement crosses a border of turns: walls saw to that.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_without_what_only_their_writing_adds() {
        for (label, one, two) in [
            (label::PERSON, "dr. de la cruz, ana", "ana cruz"),
            (label::PHONE, "+34 612-345-678", "0034612345678"),
            (label::EMAIL, "ana@b.es", "ana@b.es"),
            (label::ADDRESS, "calle mayor, 5", "calle mayor 5"),
        ] {
            assert_eq!(normal(label, one), normal(label, two), "{label}");
        }
        assert_ne!(normal(label::PHONE, "612345678"), normal(label::PHONE, "712345678"));
        assert_ne!(normal(label::PERSON, "ana cruz"), normal(label::PERSON, "eva cruz"));
        assert_eq!(normal(label::PHONE, "12"), "12");
        assert!(is_no_part_of_a_name("sra") && !is_no_part_of_a_name("sara"));
    }
}
