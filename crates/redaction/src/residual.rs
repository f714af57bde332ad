//! Residual identifiers: what no recogniser named but no clinical text needs in clear — long digit runs and '@'.

use super::document::DocumentContext;
use super::finding::{DetectionLayer, PiiFinding};
use super::label;
use super::token::{LONG_STRETCH, TextTokenKind};
use crate::deadline;
use anamnesis_text::Span;

/// Digits from which a run is no measurement, dose or code.
const LONG_RUN: usize = 9;
/// Digits in one run from which a word of letters and digits is a number of something ("AB1234567").
const MIXED_RUN: usize = 6;

/// Letters that begin record numbers: "MRN0016005".
const RECORDS: &[&str] = &["mrn", "nhc", "hc", "exp", "acc", "pat"];

/// Letters that begin the number of a trial: "NCT04280705". Registers of trials are public.
const TRIALS: &[&str] = &["nct", "isrctn", "actrn"];

/// Finds long digit runs (with single separators) and words around '@'.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    digit_runs(context, found);
    at_signs(context, found);
}

fn digit_runs(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let tokens = &context.tokens;
    let mut at = 0;
    while at < tokens.len() {
        deadline::check_at(at);
        if tokens[at].kind != TextTokenKind::Number {
            at += 1;
            continue;
        }
        let digits = tokens[at].span.len();
        let clings = |left: usize, right: usize| {
            tokens.get(right).is_some_and(|token| {
                tokens[left].span.end == token.span.start
                    && !(tokens[left].kind == TextTokenKind::Sign || token.kind == TextTokenKind::Sign)
            })
        };
        let before = at > 0 && tokens[at - 1].span.len() <= 5 && clings(at - 1, at);
        if before && TRIALS.contains(&context.lower(&tokens[at - 1])) {
            at += 1;
            continue;
        }
        // A bare number whose check digit is wrong names no person; next to words it may be anything.
        let announced = before && RECORDS.contains(&context.lower(&tokens[at - 1]));
        if !context.prose && !announced {
            at += 1;
            continue;
        }
        if (digits >= MIXED_RUN || announced && digits >= 4) && before {
            let span = Span::new(tokens[at - 1].span.start, tokens[at].span.end);
            found.push(PiiFinding::new(span, label::NUMBER, "letters_and_digits", 0.4, DetectionLayer::Residual));
        } else if digits >= LONG_RUN {
            found.push(PiiFinding::new(tokens[at].span, label::NUMBER, "digit_run", 0.5, DetectionLayer::Residual));
        }
        at += 1;
    }
}

fn at_signs(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let text = context.view.plain.as_bytes();
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+' | b'%') || b >= 0x80;
    let mut done = 0;
    let long =
        context.tokens.iter().filter(|token| token.kind == TextTokenKind::Sign && token.span.len() > LONG_STRETCH);
    let long: Vec<Span> =
        long.map(|token| token.span).filter(|span| span.slice(&context.view.plain).contains('@')).collect();
    for span in &long {
        found.push(PiiFinding::new(*span, label::HANDLE, "at_sign", 0.5, DetectionLayer::Residual));
    }
    for (at, _) in context.view.plain.match_indices('@') {
        let inside = long[long.partition_point(|span| span.end <= at)..].first().filter(|span| span.start <= at);
        if let Some(span) = inside {
            done = span.end;
            continue;
        }
        let mut start = at;
        while start > done && word(text[start - 1]) {
            start -= 1;
        }
        let mut end = at + 1;
        while end < text.len() && word(text[end]) {
            end += 1;
        }
        done = end;
        // "GCS 15 @0215": an hour.
        let after = text[at + 1..end].strip_suffix(b".").unwrap_or(&text[at + 1..end]);
        let hour = start == at && (1..=4).contains(&after.len()) && after.iter().all(u8::is_ascii_digit);
        if end - start > 1 && !hour {
            found.push(PiiFinding::new(Span::new(start, end), label::HANDLE, "at_sign", 0.5, DetectionLayer::Residual));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::labelled;
    use anamnesis_text::Language;

    fn found(text: &str) -> Vec<(&'static str, String)> {
        labelled(text, Language::Spanish, find)
    }

    #[test]
    fn long_numbers_and_record_numbers_leave_and_figures_and_trials_stay() {
        for (text, part) in [
            ("consta 123456789 en la hoja", "123456789"),
            ("consta AB123456 en la hoja", "AB123456"),
            ("consta MRN0016 en la hoja", "MRN0016"),
        ] {
            assert_eq!(found(text), [(label::NUMBER, part.to_owned())], "{text}");
        }
        for text in [
            "consta 12345678 en la hoja",
            "consta AB12345 en la hoja",
            "consta MRN001 en la hoja",
            "ensayo NCT04280705 en la hoja",
            "123456789",
            "consta ABCDEF123456 en hoja",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn words_around_an_at_sign_leave_and_hours_stay() {
        for (text, part) in [
            ("soy ana_r@algo aqui", "ana_r@algo"),
            ("soy @ana aqui", "@ana"),
            ("soy ana@ aqui", "ana@"),
            ("visto @02155 aqui", "@02155"),
        ] {
            assert_eq!(found(text), [(label::HANDLE, part.to_owned())], "{text}");
        }
        for text in ["visto @0215 aqui", "visto @ casa", "visto @14:10 aqui", "visto @0215. Bien"] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
        assert_eq!(found(&format!("vi {} aqui", "a@".repeat(LONG_STRETCH))).len(), 1, "one stretch is one finding");
    }
}
