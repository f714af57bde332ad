//! The best sequence of tags: Viterbi over the scores of tokens and transitions, linear in the tokens.

use super::tags::{COLUMNS, OUTSIDE, TAGS, is_inside};

/// Scores of one token by tag.
pub type Scores = [i16; COLUMNS];
/// The score of a move that no sequence makes.
pub const FORBIDDEN: i32 = -1_000_000;
/// A tag that stands so far behind the best one begins no way that wins: about 20 in log odds.
const BEHIND: i32 = 400;

/// The tags of a sequence. `transitions[a][b]` is added where tag `b` follows `a`.
pub fn best(scores: &[Scores], transitions: &[[i32; COLUMNS]]) -> Vec<u8> {
    let mut back: Vec<[u8; COLUMNS]> = Vec::with_capacity(scores.len());
    let mut last = [FORBIDDEN; COLUMNS];
    for (at, token) in scores.iter().enumerate() {
        // As wide as the sums, so that both are compared and chosen in one go.
        let (mut from, mut now) = ([0i32; COLUMNS], [i32::MIN; COLUMNS]);
        if at == 0 {
            (0..TAGS).filter(|tag| !is_inside(*tag)).for_each(|tag| now[tag] = 0);
        } else {
            // The best of the sums so far is 0.
            for source in (0..TAGS).filter(|source| last[*source] + BEHIND >= 0) {
                reach(last[source], source as i32, &transitions[source], &mut now, &mut from);
            }
        }
        now.iter_mut().zip(token).for_each(|(sum, own)| *sum = sum.saturating_add(i32::from(*own)));
        // Sums are kept small, so that no text is too long for them.
        let most = now[..TAGS].iter().max().copied().unwrap_or(0);
        now.iter_mut().for_each(|sum| *sum = (*sum).saturating_sub(most).max(2 * FORBIDDEN));
        back.push(from.map(|source| source as u8));
        last = now;
    }
    walk_back(&back, &last)
}

/// Ways from one tag to all others.
fn reach(so_far: i32, source: i32, ways: &[i32; COLUMNS], now: &mut [i32; COLUMNS], from: &mut [i32; COLUMNS]) {
    for ((sum, by), way) in now.iter_mut().zip(from).zip(ways) {
        let here = so_far + way;
        let better = here > *sum;
        *sum = if better { here } else { *sum };
        *by = if better { source } else { *by };
    }
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
