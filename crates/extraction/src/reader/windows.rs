//! Which tokens are read together. A document is longer than the window of the model: each window labels some tokens,
//! with a few tokens before and after them as context.

use std::ops::Range;

/// Tokens seen and tokens labelled, as ranges over all tokens of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenWindow {
    pub(crate) seen: Range<usize>,
    pub(crate) labelled: Range<usize>,
}

/// Cuts a document into windows of at most `size` tokens, begin and end among them. Lines stay whole where they fit;
/// each token is labelled once. `lines` follow each other without a gap.
pub(super) fn windows(lines: &[Range<usize>], size: usize, context: usize) -> Vec<TokenWindow> {
    // Begin and end of the text take a place each.
    let room = size - 2;
    let longest = room - context;
    let mut units: Vec<Range<usize>> = Vec::with_capacity(lines.len());
    for line in lines {
        units.extend(line.clone().step_by(longest).map(|start| start..line.end.min(start + longest)));
    }
    let mut windows = Vec::new();
    let mut at = 0;
    while let Some(first) = units.get(at) {
        let from = context_start(&units[..at], first.start, context);
        let mut next = at + 1;
        while units.get(next).is_some_and(|unit| unit.end - from <= room) {
            next += 1;
        }
        let end = units[next - 1].end;
        // Of the line that comes next, as much as there is room for.
        let outlook = units.get(next).map_or(end, |unit| unit.end.min(from + room));
        windows.push(TokenWindow { seen: from..outlook, labelled: first.start..end });
        at = next;
    }
    windows
}

/// Where the context before `start` begins: whole units as long as they fit, else the end of the last one.
fn context_start(before: &[Range<usize>], start: usize, context: usize) -> usize {
    let whole = before.iter().rev().take_while(|unit| start - unit.start <= context).last();
    match (whole, before.last()) {
        (Some(unit), _) => unit.start,
        (None, Some(last)) => last.start.max(last.end.saturating_sub(context)),
        (None, None) => start,
    }
}
