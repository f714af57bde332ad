//! The best sequence of tags: a Viterbi search over token and transition scores, linear in the number of tokens. 16-bit
//! sums and the reuse of repeated tokens were part of a change that halved its time.

use super::tags::{COLUMNS, OUTSIDE, TAGS, is_inside};

pub(crate) type Scores = [i16; COLUMNS];
pub(crate) const FORBIDDEN: i16 = -20_000;
/// Largest transition score: with it no sum overflows 16 bits, and no forbidden transition comes near the best one.
pub(crate) const WEIGHTIEST: i16 = 8_000;
/// A tag this far below the best one cannot win any more: about 10 in log odds.
const BEHIND: i16 = 400;

/// The best tags. `transitions[a][b]` is added where tag `b` follows `a`.
pub(crate) fn viterbi(scores: &[Scores], transitions: &[Scores]) -> Vec<u8> {
    let mut back: Vec<[u8; COLUMNS]> = Vec::with_capacity(scores.len());
    let (mut before, mut last) = ([FORBIDDEN; COLUMNS], [FORBIDDEN; COLUMNS]);
    for (at, token) in scores.iter().enumerate() {
        // The same token after the same sums as before repeats the result; this is common among plain words.
        if at > 0 && last == before && *token == scores[at - 1] {
            back.push(back[at - 1]);
            continue;
        }
        before = last;
        // Predecessors are as wide as the sums, so that one vector operation compares and chooses both.
        let (mut from, mut now) = ([0i16; COLUMNS], [FORBIDDEN; COLUMNS]);
        if at == 0 {
            (0..TAGS).filter(|tag| !is_inside(*tag)).for_each(|tag| now[tag] = 0);
        } else {
            for source in (0..TAGS).filter(|source| last[*source] + BEHIND >= 0) {
                reach(last[source], source as i16, &transitions[source], &mut now, &mut from);
            }
        }
        now.iter_mut().zip(token).for_each(|(sum, own)| *sum = sum.saturating_add(*own));
        // Sums are normalised at each token, so that no text is too long for them.
        let most = now[..TAGS].iter().max().copied().unwrap_or(0);
        now.iter_mut().for_each(|sum| *sum = sum.saturating_sub(most).max(FORBIDDEN));
        back.push(from.map(|source| source as u8));
        last = now;
    }
    walk_back(&back, &last)
}

fn reach(so_far: i16, source: i16, ways: &Scores, now: &mut Scores, from: &mut [i16; COLUMNS]) {
    for ((sum, by), way) in now.iter_mut().zip(from).zip(ways) {
        let here = so_far + way;
        *by = if here > *sum { source } else { *by };
        *sum = here.max(*sum);
    }
}

fn walk_back(back: &[[u8; COLUMNS]], last: &Scores) -> Vec<u8> {
    let mut tag = (0..TAGS).max_by_key(|tag| last[*tag]).unwrap_or(OUTSIDE);
    let mut tags = vec![OUTSIDE as u8; back.len()];
    for at in (0..back.len()).rev() {
        tags[at] = tag as u8;
        tag = back[at][tag].into();
    }
    tags
}

/// How far the likeliest tag of a token is above "nothing", in units of the weights; negative if "nothing" is
/// likeliest.
pub(crate) fn margin(scores: &Scores) -> i32 {
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
        let tags = viterbi(&[token, token, none], &vec![[0; COLUMNS]; TAGS]);
        assert_eq!(tags, [begin(2) as u8, inside(2) as u8, OUTSIDE as u8]);
        assert!(viterbi(&[], &vec![[0; COLUMNS]; TAGS]).is_empty());
    }

    /// The plain search over wide numbers.
    fn plainly(scores: &[Scores], transitions: &[Scores]) -> Vec<u8> {
        let mut last: Vec<i64> = (0..TAGS).map(|tag| if is_inside(tag) { -1_000_000 } else { 0 }).collect();
        let mut back: Vec<Vec<usize>> = Vec::new();
        for (at, token) in scores.iter().enumerate() {
            let way = |source: usize, tag: usize| match transitions[source][tag] {
                FORBIDDEN => -1_000_000,
                allowed => i64::from(allowed),
            };
            let to = |tag: usize| {
                let near = (0..TAGS).rev().filter(|source| last[*source] + i64::from(BEHIND) >= 0);
                let from = near.max_by_key(|source| last[*source] + way(*source, tag)).unwrap();
                (last[from] + way(from, tag), from)
            };
            let reached: Vec<(i64, usize)> =
                (0..TAGS).map(|tag| if at == 0 { (last[tag], 0) } else { to(tag) }).collect();
            last = reached.iter().zip(token).map(|((sum, _), own)| sum + i64::from(*own)).collect();
            let most = *last.iter().max().unwrap();
            last.iter_mut().for_each(|sum| *sum -= most);
            back.push(reached.into_iter().map(|(_, from)| from).collect());
        }
        let mut tag = (0..TAGS).max_by_key(|tag| last[*tag]).unwrap();
        let mut tags = Vec::new();
        for from in back.iter().rev() {
            tags.push(tag as u8);
            tag = from[tag];
        }
        tags.reverse();
        tags
    }

    #[test]
    fn narrow_numbers_and_repeated_tokens_change_no_sequence() {
        let mut state = 9u64;
        let mut dice = |below: u64| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            ((state >> 33) % below) as i16
        };
        for _ in 0..300 {
            let mut transitions = vec![[FORBIDDEN; COLUMNS]; TAGS];
            for (before, tag) in (0..TAGS * TAGS).map(|pair| (pair / TAGS, pair % TAGS)) {
                if super::super::tags::may_follow(before, tag) {
                    transitions[before][tag] = dice(150) - 80;
                }
            }
            let mut scores: Vec<Scores> = Vec::new();
            for _ in 0..1 + dice(40) {
                let mut quiet = [0; COLUMNS];
                quiet[OUTSIDE] = 300;
                let token = if dice(3) == 0 { std::array::from_fn(|_| dice(400) - 200) } else { quiet };
                scores.extend(std::iter::repeat_n(token, 1 + dice(5) as usize));
            }
            assert_eq!(viterbi(&scores, &transitions), plainly(&scores, &transitions));
        }
    }

    #[test]
    fn no_sequence_goes_on_with_what_did_not_begin() {
        let mut state = 5u64;
        let mut dice = |below: u64| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            ((state >> 33) % below) as i16
        };
        let mut transitions = vec![[FORBIDDEN; COLUMNS]; TAGS];
        for (before, tag) in (0..TAGS * TAGS).map(|pair| (pair / TAGS, pair % TAGS)) {
            if super::super::tags::may_follow(before, tag) {
                transitions[before][tag] = 0;
            }
        }
        for _ in 0..200 {
            let scores: Vec<Scores> = (0..1 + dice(60)).map(|_| std::array::from_fn(|_| dice(4_000) - 2_000)).collect();
            let tags = viterbi(&scores, &transitions);
            let mut before = OUTSIDE;
            for tag in tags.into_iter().map(usize::from) {
                assert!(super::super::tags::may_follow(before, tag), "{tag} behind {before}");
                before = tag;
            }
        }
    }

    #[test]
    fn sums_of_a_long_text_stay_within_their_numbers() {
        let mut token = [0i16; COLUMNS];
        token[OUTSIDE] = 3_000;
        token[begin(1)] = -3_000;
        let tags = viterbi(&vec![token; 500], &vec![[0; COLUMNS]; TAGS]);
        assert!(tags.iter().all(|tag| usize::from(*tag) == OUTSIDE));
    }

    #[test]
    fn the_margin_is_that_of_the_likeliest_kind() {
        let mut token = [0i16; COLUMNS];
        token[OUTSIDE] = 30;
        token[begin(3)] = 50;
        assert_eq!(margin(&token), 20);
        token[begin(3)] = -9;
        assert_eq!(margin(&token), -30);
        token[TAGS] = 900;
        assert_eq!(margin(&token), -30, "the columns behind the tags are none");
    }
}
