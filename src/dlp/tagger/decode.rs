//! The best sequence of tags: Viterbi over the scores of tokens and transitions, linear in the tokens.

use super::tags::{COLUMNS, OUTSIDE, TAGS, is_inside};

/// Scores of one token by tag.
pub type Scores = [i16; COLUMNS];

/// The tags of a sequence. `transitions[a][b]` is added where tag `b` follows `a`.
pub fn best(scores: &[Scores], transitions: &[[i32; COLUMNS]]) -> Vec<u8> {
    let mut back: Vec<[u8; COLUMNS]> = Vec::with_capacity(scores.len());
    let mut last = [i32::MIN / 4; COLUMNS];
    for (at, token) in scores.iter().enumerate() {
        let mut from = [0u8; COLUMNS];
        let mut now = [i32::MIN / 4; COLUMNS];
        for tag in 0..TAGS {
            let (score, source) = if at == 0 {
                (if is_inside(tag) { i32::MIN / 4 } else { 0 }, OUTSIDE)
            } else {
                reach(&last, transitions, tag)
            };
            now[tag] = score + i32::from(token[tag]);
            from[tag] = source as u8;
        }
        back.push(from);
        last = now;
    }
    walk_back(&back, &last)
}

/// The best way to a tag: what goes on comes from its own kind alone.
fn reach(last: &[i32; COLUMNS], transitions: &[[i32; COLUMNS]], tag: usize) -> (i32, usize) {
    let ways: std::ops::Range<usize> = if is_inside(tag) { tag - 1..tag + 1 } else { 0..TAGS };
    let mut best = (i32::MIN / 2, OUTSIDE);
    for source in ways {
        let score = last[source] + transitions[source][tag];
        if score > best.0 {
            best = (score, source);
        }
    }
    best
}

fn walk_back(back: &[[u8; COLUMNS]], last: &[i32; COLUMNS]) -> Vec<u8> {
    let mut tag = (0..TAGS).max_by_key(|tag| last[*tag]).unwrap_or(OUTSIDE);
    let mut tags = vec![OUTSIDE as u8; back.len()];
    for at in (0..back.len()).rev() {
        tags[at] = tag as u8;
        tag = back[at][tag].into();
    }
    tags
}

/// How far the likeliest tag of a token stands above "nothing", in the unit of the weights; negative where "nothing" is
/// the likeliest.
pub fn margin(scores: &Scores) -> i32 {
    let most = scores[OUTSIDE + 1..TAGS].iter().max().copied().unwrap_or(0);
    i32::from(most) - i32::from(scores[OUTSIDE])
}

#[cfg(test)]
mod tests {
    use super::super::tags::{begin, inside};
    use super::*;

    #[test]
    fn what_goes_on_needs_a_beginning() {
        let mut token = [0i16; COLUMNS];
        token[inside(2)] = 50;
        token[begin(2)] = 10;
        let mut none = [0i16; COLUMNS];
        none[OUTSIDE] = 1;
        let tags = best(&[token, token, none], &vec![[0; COLUMNS]; TAGS]);
        assert_eq!(tags, [begin(2) as u8, inside(2) as u8, OUTSIDE as u8]);
        assert!(best(&[], &vec![[0; COLUMNS]; TAGS]).is_empty());
    }
}
