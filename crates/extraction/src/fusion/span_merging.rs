//! Tags as the reader means them: it labels piece by piece, and one uncertain piece cuts a mention in two.

use crate::reader::{LabelLayer, ReaderLine, ReaderMention};

/// Bytes between two parts of one clause.
const CLAUSE_GAP: usize = 24;
/// Words that may come between two parts of one name.
const JOINTS: [&str; 10] = ["", "-", "de", "del", "of", "the", "la", "el", "en", "in"];

/// The tags with those joined that are parts of one mention. `tags`: by line, start, end and layer, as they come.
pub(super) fn joined(lines: &[ReaderLine<'_>], tags: &[ReaderMention]) -> Vec<ReaderMention> {
    let mut out: Vec<ReaderMention> = Vec::with_capacity(tags.len());
    for tag in tags {
        let open = out.iter().rposition(|known| known.line == tag.line && known.layer == tag.layer);
        match open {
            Some(at) if is_one(lines, &out[at], tag) => extend(&mut out[at], tag),
            _ => out.push(tag.clone()),
        }
    }
    out
}

fn is_one(lines: &[ReaderLine<'_>], known: &ReaderMention, next: &ReaderMention) -> bool {
    if known.kind != next.kind || next.start < known.end {
        return false;
    }
    let Some(between) = lines.get(known.line).and_then(|line| line.text.get(known.end..next.start)) else {
        return false;
    };
    match known.layer {
        LabelLayer::Clauses => between.len() <= CLAUSE_GAP && !between.contains(['.', ';', '?', '!', '|', '\t']),
        _ => JOINTS.contains(&between.trim()),
    }
}

/// The longer part says how the whole is meant; its probability is the mean over both.
fn extend(known: &mut ReaderMention, next: &ReaderMention) {
    let (one, other) = ((known.end - known.start) as f32, (next.end - next.start) as f32);
    known.probability = (known.probability * one + next.probability * other) / (one + other);
    if other > one {
        known.attributes.clone_from(&next.attributes);
    }
    known.end = next.end;
}
