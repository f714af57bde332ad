//! Changes a text as real texts differ: capitals, accents, punctuation. Spans follow the letters they hold.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::example::TaggerExample;
use anamnesis_linear_model::random::Random;
use anamnesis_text::Span;

/// How a text is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Lower,
    Upper,
    NoAccents,
    /// Lower case without punctuation but in numbers and addresses: speech as recognisers write it.
    Spoken,
}

/// A changed copy of an example.
pub(crate) fn augment(example: &TaggerExample, random: &mut Random) -> TaggerExample {
    let changes: &[Change] = match random.below(6) {
        0 | 1 => &[Change::Lower],
        2 => &[Change::Spoken],
        3 => &[Change::NoAccents],
        4 => &[Change::Lower, Change::NoAccents],
        _ => &[Change::Upper],
    };
    changed(example, changes)
}

/// The example as a recogniser of speech would write it.
pub(crate) fn spoken(example: &TaggerExample) -> TaggerExample {
    changed(example, &[Change::Spoken])
}

fn changed(example: &TaggerExample, changes: &[Change]) -> TaggerExample {
    let mut text = String::with_capacity(example.text.len());
    // Where each byte of the source went.
    let mut places = vec![0usize; example.text.len() + 1];
    for (at, c) in example.text.char_indices() {
        places[at] = text.len();
        for part in letters(c, changes) {
            text.push(part);
        }
    }
    places[example.text.len()] = text.len();
    let spans = example
        .spans
        .iter()
        .map(|(span, label)| (Span::new(places[span.start], places[span.end]), *label))
        .filter(|(span, _)| !span.is_empty())
        .collect();
    TaggerExample { text, spans, ..example.clone() }
}

fn letters(c: char, changes: &[Change]) -> Vec<char> {
    let mut parts = vec![c];
    for change in changes {
        parts = match change {
            Change::Lower => parts.iter().flat_map(|c| c.to_lowercase()).collect(),
            Change::Upper => parts.iter().flat_map(|c| c.to_uppercase()).collect(),
            Change::NoAccents => parts.iter().copied().nfd().filter(|c| !is_combining_mark(*c)).collect(),
            Change::Spoken if matches!(c, ',' | '.' | ';' | ':' | '¿' | '?' | '¡' | '!' | '(' | ')' | '"') => {
                Vec::new()
            }
            Change::Spoken => parts.iter().flat_map(|c| c.to_lowercase()).collect(),
        };
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::example::AnnotationScope;
    use super::*;
    use anamnesis_text::Language;

    #[test]
    fn spans_follow_their_letters() {
        let text = "¿Es José, no?".to_owned();
        let start = text.find("José").unwrap();
        let spans = vec![(Span::new(start, start + 5), "PERSON")];
        let example =
            TaggerExample { text, language: Language::Spanish, spans, marked: AnnotationScope::Names, group: 0 };
        let changed = changed(&example, &[Change::Spoken, Change::NoAccents]);
        assert_eq!((changed.text.as_str(), changed.spans[0].0.slice(&changed.text)), ("es jose no", "jose"));
    }
}
