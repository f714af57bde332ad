//! Extensions of a switchboard: "x4471", "ext 220".

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use anamnesis_text::Span;

/// Bytes around an extension in which words of joint motion are searched.
const REACH: usize = 32;

/// Finds extensions, each with the letters that announce it.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let bytes = context.view.lower.as_bytes();
    for (at, _) in context.view.lower.match_indices('x') {
        let announced = || announced(bytes, at).filter(|span| !is_motion(bytes, *span));
        if let Some(span) = lone(bytes, at).or_else(announced) {
            found.push(PiiFinding::new(span, label::PHONE, "phone", 0.7, DetectionLayer::Identifier));
        }
    }
}

fn digits(bytes: &[u8], from: usize) -> usize {
    bytes.iter().skip(from).take(7).take_while(|byte| byte.is_ascii_digit()).count()
}

fn is_open(bytes: &[u8], span: Span) -> bool {
    let joins = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let before = span.start.checked_sub(1).map(|at| &bytes[at]);
    let decimal = matches!(bytes.get(span.end), Some(b'.' | b',' | b'/'))
        && bytes.get(span.end + 1).is_some_and(u8::is_ascii_digit);
    !before.is_some_and(joins) && !bytes.get(span.end).is_some_and(joins) && !decimal
}

/// "x4471": three digits or more, but no magnification ("x400") or product ("12 x340").
fn lone(bytes: &[u8], at: usize) -> Option<Span> {
    let count = digits(bytes, at + 1);
    let span = Span::new(at, at + 1 + count);
    let product = bytes[..at].iter().rev().find(|byte| **byte != b' ').is_some_and(u8::is_ascii_digit);
    let round = bytes[at + 1..span.end].ends_with(b"00") || bytes[at + 1..span.end].ends_with(b"50");
    ((3..=5).contains(&count) && !round && !product && is_open(bytes, span)).then_some(span)
}

/// "flex 130, ext 110 degrees" is the range of motion of a joint.
fn is_motion(bytes: &[u8], span: Span) -> bool {
    let near = &bytes[span.start.saturating_sub(REACH)..(span.end + REACH).min(bytes.len())];
    let holds = |word: &[u8]| near.windows(word.len()).any(|part| part == word);
    holds(b"flex") || holds(b"deg") || holds(b"rom ") || holds(b"knee") || holds(b"lag")
}

fn announced(bytes: &[u8], at: usize) -> Option<Span> {
    let start = at.checked_sub(1).filter(|start| bytes[*start] == b'e')?;
    let word = [&b"extension"[..], b"extn", b"ext"].into_iter().find(|word| bytes[start..].starts_with(word))?;
    let from = start + word.len();
    let gap = bytes[from..].iter().take(3).take_while(|byte| matches!(byte, b'.' | b' ' | b':' | b'#')).count();
    let count = digits(bytes, from + gap);
    let span = Span::new(start, from + gap + count);
    ((2..=6).contains(&count) && is_open(bytes, span)).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedactionPolicy;
    use anamnesis_text::{Document, Language};

    fn found(text: &str) -> Vec<String> {
        let (document, policy) = (Document::plain(text.to_owned(), Language::English), RedactionPolicy::default());
        let (context, mut found) = (DocumentContext::new(&document, &policy), Vec::new());
        find(&context, &mut found);
        found.iter().map(|one| one.span.slice(text).to_owned()).collect()
    }

    #[test]
    fn extensions_are_distinguished_from_magnifications_and_products() {
        assert_eq!(
            found("Ask for Ines at x4471, or ext. 77, or extension 220."),
            ["x4471", "ext. 77", "extension 220"]
        );
        for text in
            ["seen at x400", "plaque 12 x340 mm", "AOx3", "10 x 100", "knee ext 5.5", "flex 130 ext 110", "Mexico 2010"]
        {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn an_extension_has_two_to_six_digits_after_its_word_and_three_to_five_alone() {
        for (text, value) in [
            ("ring x447", "x447"),
            ("ring x44717", "x44717"),
            ("ring extn 12", "extn 12"),
            ("ring ext: 123456", "ext: 123456"),
            ("ring ext #4471", "ext #4471"),
        ] {
            assert_eq!(found(text), [value], "{text}");
        }
        for text in [
            "ring x44",
            "ring x447178",
            "ring ext 1",
            "ring ext 1234567",
            "ring ext    44",
            "next 4471",
            "ring x447a",
            "x4471.5 mm",
            "lens x450 used",
            "text 4471",
            "ext 110 deg",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
