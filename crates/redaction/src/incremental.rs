//! Whether a further pass over a text can find anything new. A pass takes all that it finds. Text far from a replacement
//! cannot change its result, so only the surroundings of new replacements are read again. Whatever is found there, or
//! could reach further than surroundings do, calls for a pass over the whole text. This reading alone takes nothing.

use super::document::{DocumentContext, TextProfile};
use super::form_fields::OpenFormField;
use anamnesis_text::Span;

/// How far the surroundings of a replacement reach, in bytes: about twice as far as a field's name and its value, or an
/// address and its lines, which are the longest that any rule reads. What is cut at an edge lies where nothing changed.
const REACH: usize = 256;
/// Longest stretch without white space that an edge may stand in. Longer ones are no text.
const LONGEST: usize = 128;
/// Parts of ten of a text from which reading it as a whole costs no more.
const MOST: usize = 8;
/// Words from which no rule asks how few a text has.
const ENOUGH: usize = 8;

/// The surroundings of `changed` places (of the view, in order), each with the field that is open where it begins.
/// `None` where the whole text must be read: read otherwise than before, changed nearly everywhere, or no text that
/// edges can stand in.
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

/// The white space or the beginning of the text that lies far enough before a place.
fn edge_before(bytes: &[u8], place: usize) -> Option<usize> {
    let far = place.saturating_sub(REACH);
    let back = bytes[..far].iter().rev().take(LONGEST + 1).take_while(|byte| !byte.is_ascii_whitespace()).count();
    (back <= LONGEST).then(|| far - back)
}

/// The white space or the end of the text that lies far enough after a place.
fn edge_after(bytes: &[u8], place: usize) -> Option<usize> {
    let far = (place + REACH).min(bytes.len());
    let on = bytes[far..].iter().take(LONGEST + 1).take_while(|byte| !byte.is_ascii_whitespace()).count();
    (on <= LONGEST).then(|| far + on)
}
