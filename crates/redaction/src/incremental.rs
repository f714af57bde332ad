//! Decides whether a further pass over a text can find anything new. Text far from a replacement gives the same result
//! again, so only the surroundings of new replacements are read. Anything found there, or anything that could reach
//! further, requires a pass over the whole text. This module itself replaces nothing.

use super::document::{DocumentContext, TextProfile};
use super::form_fields::OpenFormField;
use anamnesis_text::Span;

/// Bytes read on each side of a replacement: about twice the longest text that a rule matches.
const REACH: usize = 256;
/// Longest run without white space in which a window may be cut.
const LONGEST: usize = 128;
/// Tenths of the text above which a pass over the whole text costs no more.
const MOST: usize = 8;
/// Some rules depend on the word count of a text, so a window needs at least this many words.
const ENOUGH: usize = 8;

/// The surroundings of `changed` places (of the view, in order), each with the form field that is open where it begins.
/// `None` requires a pass over the whole text: its profile changed, most of it changed, or a window cannot be cut.
pub(crate) fn surroundings<'a>(
    context: &DocumentContext<'a>,
    before: TextProfile,
    changed: &[Span],
) -> Option<Vec<DocumentContext<'a>>> {
    if context.profile() != before {
        return None;
    }
    let bytes = context.view.plain.as_bytes();
    let mut windows: Vec<Span> = Vec::new();
    for place in changed {
        let span = Span::new(edge_before(bytes, place.start)?, edge_after(bytes, place.end)?);
        match windows.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => windows.push(span),
        }
    }
    let read: usize = windows.iter().map(Span::len).sum();
    if read * 10 > bytes.len() * MOST {
        return None;
    }
    let mut open_field = OpenFormField::default();
    let mut at = 0;
    let mut parts = Vec::with_capacity(windows.len());
    for window in windows {
        let first = context.token_at(window.start);
        open_field.pass(&context.view, &context.tokens[at..first]);
        at = first;
        let part = context.part(window, open_field);
        parts.push((part.tokens.iter().filter(|token| token.is_word()).count() >= ENOUGH).then_some(part)?);
    }
    Some(parts)
}

fn edge_before(bytes: &[u8], place: usize) -> Option<usize> {
    let far = place.saturating_sub(REACH);
    let back = bytes[..far].iter().rev().take(LONGEST + 1).take_while(|byte| !byte.is_ascii_whitespace()).count();
    (back <= LONGEST).then(|| far - back)
}

fn edge_after(bytes: &[u8], place: usize) -> Option<usize> {
    let far = (place + REACH).min(bytes.len());
    let on = bytes[far..].iter().take(LONGEST + 1).take_while(|byte| !byte.is_ascii_whitespace()).count();
    (on <= LONGEST).then(|| far + on)
}
