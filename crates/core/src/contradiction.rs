//! Contradictions between two statements (seed 001, section 5), found and stored, never resolved: direct negation,
//! comparative opposition, preference conflict. English and Spanish, whole words, with the conditions of model.md,
//! "Change of mind": an opposed pair, the same experiencer, overlapping validity, and at least two shared content stems
//! or enough similarity; one stem where one side likes what the other does not.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::coded_enum::codes;
use super::finding::Experiencer;
use super::wording::{FoldedWord, denies, person, plain_words, starts_with};
use anamnesis_text::{Language, LanguageVotes, detect_both, stems};

#[rustfmt::skip] // lists of words read as paragraphs
#[path = "contradiction_words.rs"]
mod vocabulary;
mod comparison;
use comparison::{ComparativeClause, compares_with_time, since_a_change};
use vocabulary::{
    BEARS, BODILY, COMPARISONS, DIRECT, DISLIKES, FEELINGS, FUNCTION_CUES, JUDGEMENTS, LIKE_AFTER, LIKES, NO_OBJECT,
    PAST,
};

codes!(
    ContradictionType {
        /// "never" against "always", or a thing said against the same thing denied.
        DirectNegation = "direct_negation",
        /// "more" against "less", or two things that change places in a comparison.
        ComparativeOpposition = "comparative_opposition",
        /// "prefer" against "avoid", or one thing liked and not liked.
        PreferenceConflict = "preference_conflict",
    }
);

/// When two opposed statements are about the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContradictionPolicy {
    /// Cosine from which on two statements are about the same thing. Belongs to the embedding model's profile.
    pub min_similarity: f64,
    /// … or so many content stems in common.
    pub min_shared_stems: usize,
}

impl Default for ContradictionPolicy {
    fn default() -> Self {
        Self { min_similarity: 0.6, min_shared_stems: 2 }
    }
}

/// One statement and its known attributes.
#[derive(Debug, Clone, Copy)]
pub struct ContradictionClaim<'a> {
    pub text: &'a str,
    /// Of whom it is true; read from the text where it is `None`.
    pub experiencer: Option<Experiencer>,
    /// True in the world from … until (half-open); `None` is unbounded.
    pub valid_from: Option<DateTime<Utc>>,
    pub valid_to: Option<DateTime<Utc>>,
}

impl<'a> ContradictionClaim<'a> {
    /// A statement of which nothing but the words is known.
    pub fn from_text(text: &'a str) -> Self {
        Self { text, experiencer: None, valid_from: None, valid_to: None }
    }
}

/// A statement that is compared with many others: its words are read once for each language.
pub struct ParsedStatement<'a> {
    claim: ContradictionClaim<'a>,
    votes: LanguageVotes,
    sides: [OnceCell<StatementSide>; 3],
}

impl<'a> ParsedStatement<'a> {
    pub fn parse(claim: ContradictionClaim<'a>) -> Self {
        Self { claim, votes: LanguageVotes::count(claim.text), sides: Default::default() }
    }

    fn side(&self, language: Language) -> &StatementSide {
        let place = match language {
            Language::Spanish => 0,
            Language::English => 1,
            Language::Unknown => 2,
        };
        self.sides[place].get_or_init(|| StatementSide::parse(self.claim.text, language))
    }

    fn sides<'s>(&'s self, other: &'s Self) -> (&'s StatementSide, &'s StatementSide) {
        let language = detect_both((self.claim.text, &self.votes), (other.claim.text, &other.votes));
        (self.side(language), other.side(language))
    }

    /// How the other contradicts this one without vectors: one speaks only of what the other speaks of, which replaces
    /// similarity.
    pub fn opposition(&self, other: &Self, policy: &ContradictionPolicy) -> Option<ContradictionType> {
        let (left, right) = self.sides(other);
        found_between((&self.claim, left), (&other.claim, right), || shares_subject(left, right), policy)
    }
}

/// A statement that another sentence may oppose, without being about an illness or a medicine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opinion {
    /// Two things, one ahead of the other: "running helps me more than talking".
    Comparison,
    /// An attitude towards something that is named: "I can't stand the group".
    Attitude,
    /// The value of a thing or an act: "asking for help is for cowards", "the tablets make me weak".
    Judgement,
}

/// The opinion that a sentence holds now; `None` where it speaks of a time that is over, or names no object.
pub fn opinion(text: &str, language: Language) -> Option<Opinion> {
    let side = StatementSide::parse(text, language);
    if side.past {
        return None;
    }
    let about = |clause: &OpinionClause| !clause.subjects.is_empty();
    let (likes, hates, bears) = FEELINGS;
    let felt = |clause: &OpinionClause| {
        clause.has(likes, false) || clause.has(likes, true) || clause.has(hates, false) || clause.has(bears, true)
    };
    let judged =
        |clause: &OpinionClause| JUDGEMENTS.iter().any(|(good, bad)| clause.has(good, false) || clause.has(bad, false));
    if !side.comparisons.is_empty() || side.changed.is_some() {
        Some(Opinion::Comparison)
    } else if side.clauses.iter().any(|clause| about(clause) && felt(clause)) {
        Some(Opinion::Attitude)
    } else {
        side.clauses.iter().any(|clause| about(clause) && judged(clause)).then_some(Opinion::Judgement)
    }
}

/// How two statements contradict each other, or `None`. Symmetric. `similarity` is the cosine of their vectors, where
/// it is known.
pub fn contradiction(
    a: &ContradictionClaim<'_>,
    b: &ContradictionClaim<'_>,
    similarity: Option<f64>,
    policy: &ContradictionPolicy,
) -> Option<ContradictionType> {
    let (one, other) = (ParsedStatement::parse(*a), ParsedStatement::parse(*b));
    let (left, right) = one.sides(&other);
    found_between((a, left), (b, right), || similarity.is_some_and(|cosine| cosine >= policy.min_similarity), policy)
}

fn found_between(
    (a, left): (&ContradictionClaim<'_>, &StatementSide),
    (b, right): (&ContradictionClaim<'_>, &StatementSide),
    near: impl Fn() -> bool,
    policy: &ContradictionPolicy,
) -> Option<ContradictionType> {
    if !overlap(a, b) || !same_experiencer(a, left, b, right) || left.past != right.past {
        return None;
    }
    // A repetition contradicts no more than the other contradicts itself, unless word order turns a comparison.
    let swapped = left.compares_otherwise(right);
    if !swapped && (left.repeats(right) || right.repeats(left)) {
        return None;
    }
    let shared = left.stems().intersection(&right.stems()).count();
    let liking = left.likes_what_is_disliked(right) || right.likes_what_is_disliked(left);
    if shared < policy.min_shared_stems && !liking && !near() {
        return None;
    }
    opposition(left, right, swapped, liking)
}

/// Whether one of two statements speaks of nothing that the other does not speak of: "I love swimming", "I can't stand
/// swimming in the sea". Attitudes and denials are not subjects.
fn shares_subject(left: &StatementSide, right: &StatementSide) -> bool {
    let (left, right) = (left.subjects(), right.subjects());
    let (shorter, longer) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    !shorter.is_empty() && shorter.is_subset(&longer)
}

fn overlap(a: &ContradictionClaim<'_>, b: &ContradictionClaim<'_>) -> bool {
    !ends_before(a.valid_to, b.valid_from) && !ends_before(b.valid_to, a.valid_from)
}

fn ends_before(end: Option<DateTime<Utc>>, start: Option<DateTime<Utc>>) -> bool {
    end.zip(start).is_some_and(|(end, start)| end <= start)
}

fn same_experiencer(
    a: &ContradictionClaim<'_>,
    left: &StatementSide,
    b: &ContradictionClaim<'_>,
    right: &StatementSide,
) -> bool {
    if a.experiencer.is_none() && b.experiencer.is_none() {
        return left.subject == right.subject;
    }
    let read = |claim: &ContradictionClaim<'_>, side: &StatementSide| {
        claim.experiencer.unwrap_or(if side.subject.is_some() { Experiencer::Family } else { Experiencer::Patient })
    };
    // Two relatives are two people, where the texts name them.
    let other_relative = left.subject.is_some() && right.subject.is_some() && left.subject != right.subject;
    read(a, left) == read(b, right) && !other_relative
}

struct StatementSide {
    clauses: Vec<OpinionClause>,
    /// The relative it speaks of, where it begins or ends with one.
    subject: Option<&'static str>,
    /// It speaks of a time that is over: a present statement does not contradict it.
    past: bool,
    comparisons: Vec<ComparativeClause>,
    /// It compares with a time that moves on.
    moving: bool,
    /// It names the result of a change: "worse since the switch to venlafaxine".
    changed: Option<BTreeSet<String>>,
}

#[derive(Default, PartialEq)]
struct OpinionClause {
    stems: BTreeSet<String>,
    /// Stems that are no attitude and no pole: the subjects of the clause.
    subjects: BTreeSet<String>,
    denied: BTreeSet<String>,
    cues: Vec<(String, bool)>,
    liked: BTreeSet<String>,
    disliked: BTreeSet<String>,
}

/// How many words before an attitude its denial may come: "no me gusta", "I don't really like".
const OBJECT_DENIAL: usize = 3;
const OBJECT_BEHIND: usize = 4;
const OBJECT_BEFORE: usize = 3;
const CLAUSE_WORDS: &[&str] = &["and", "but", "whereas", "while", "y", "e", "pero", "mientras", "aunque", "although"];
const SCOPE: usize = 6;

impl StatementSide {
    fn parse(text: &str, language: Language) -> Self {
        let words = plain_words(text);
        let clauses = words
            .split(|word| word.is_sign() || word.is(CLAUSE_WORDS))
            .filter(|clause| !clause.is_empty())
            .map(|clause| OpinionClause::parse(clause, language))
            .collect();
        let past = (0..words.len()).any(|at| is_past(&words, at));
        let comparisons = ComparativeClause::all(&words, language);
        let (moving, changed) = (compares_with_time(&words), since_a_change(&words, language));
        Self { clauses, subject: subject(&words), past, comparisons, moving, changed }
    }

    fn subjects(&self) -> BTreeSet<&str> {
        self.clauses.iter().flat_map(|clause| clause.subjects.iter().map(String::as_str)).collect()
    }

    fn compares_otherwise(&self, other: &Self) -> bool {
        self.comparisons.iter().any(|one| other.comparisons.iter().any(|theirs| one.opposes(theirs)))
    }

    /// Whether this one likes what the other does not like, and does not dislike it in the same clause.
    fn likes_what_is_disliked(&self, other: &Self) -> bool {
        let opposed = |l: &OpinionClause, r: &OpinionClause| {
            l.liked.intersection(&r.disliked).any(|stem| !l.disliked.contains(stem))
        };
        self.clauses.iter().any(|l| other.clauses.iter().any(|r| opposed(l, r)))
    }

    fn repeats(&self, other: &Self) -> bool {
        self.clauses.iter().all(|clause| other.clauses.contains(clause))
    }

    fn stems(&self) -> BTreeSet<&str> {
        self.clauses.iter().flat_map(|clause| clause.stems.iter().map(String::as_str)).collect()
    }
}

/// A frame of a time that is over. "Mejor que antes" speaks of now, "antes que" of no time.
fn is_past(words: &[FoldedWord], at: usize) -> bool {
    let compared = words[at].is(&["antes"])
        && (at.checked_sub(1).is_some_and(|before| words[before].is(&["que"]))
            || words.get(at + 1).is_some_and(|next| next.is(&["que", "de"])));
    !compared && PAST.iter().any(|phrase| starts_with(&words[at..], phrase))
}

impl OpinionClause {
    fn parse(words: &[FoldedWord], language: Language) -> Self {
        let mut clause = Self::default();
        clause.note_objects(words, language);
        let mut denied_for = 0usize;
        for (at, word) in words.iter().enumerate() {
            let denied = denied_for > 0;
            denied_for = denied_for.saturating_sub(1);
            if denies(&word.folded) {
                denied_for = SCOPE;
            }
            let cue = is_cue(words, at);
            if cue {
                clause.cues.push((word.folded.clone(), denied));
            }
            if denies(&word.folded) || word.is(FUNCTION_CUES) {
                continue;
            }
            // "No me gusta el café" denies the liking, not the coffee.
            if denied && (word.is(LIKES) || word.is(DISLIKES) || word.is(BEARS)) {
                denied_for = 0;
            }
            for stem in stems(&word.folded, language) {
                if !cue {
                    clause.subjects.insert(stem.clone());
                }
                if denied {
                    clause.denied.insert(stem.clone());
                }
                clause.stems.insert(stem);
            }
        }
        clause
    }

    /// The object of each attitude: "hates tablets", "las gotas no las quiero".
    fn note_objects(&mut self, words: &[FoldedWord], language: Language) {
        for (at, word) in words.iter().enumerate().filter(|(at, _)| is_cue(words, *at)) {
            let denied = words[at.saturating_sub(OBJECT_DENIAL)..at].iter().any(|before| denies(&before.folded));
            let likes = match (word.is(LIKES), word.is(DISLIKES), word.is(BEARS)) {
                (true, ..) => !denied,
                (_, true, _) => denied,
                (_, _, true) if denied => false,
                _ => continue,
            };
            let names = |near: &&FoldedWord| {
                !denies(&near.folded)
                    && !near.is(FUNCTION_CUES)
                    && !near.is(NO_OBJECT)
                    && ![LIKES, DISLIKES, BEARS].iter().any(|list| near.is(list))
            };
            let behind = words[at + 1..].iter().filter(names).take(OBJECT_BEHIND);
            let before = words[..at].iter().rev().filter(names).take(OBJECT_BEFORE);
            let objects = behind.chain(before).flat_map(|near| stems(&near.folded, language));
            if likes { self.liked.extend(objects) } else { self.disliked.extend(objects) }
        }
    }

    fn has(&self, words: &[&str], denied: bool) -> bool {
        self.cues.iter().any(|(cue, is_denied)| *is_denied == denied && words.contains(&cue.as_str()))
    }

    fn likes(&self) -> bool {
        self.has(LIKES, false) || self.has(DISLIKES, true)
    }

    fn dislikes(&self) -> bool {
        self.has(DISLIKES, false) || self.has(LIKES, true) || self.has(BEARS, true)
    }
}

fn is_cue(words: &[FoldedWord], at: usize) -> bool {
    let word = &words[at];
    let pairs =
        || DIRECT.iter().chain(COMPARISONS).chain(JUDGEMENTS).any(|(one, other)| word.is(one) || word.is(other));
    // "feels like" likes nothing.
    let preposition = word.is(&["like"]) && at > 0 && !words[at - 1].is(LIKE_AFTER);
    // "Can't stand on the left leg", "stomach pain" and "cannot bear weight" concern the body.
    let bodily = word.is(&["stand", "bear", "stomach"])
        && (words.get(at + 1).is_some_and(|next| next.is(BODILY))
            || at.checked_sub(1).is_none_or(|b| !denies(&words[b].folded)));
    !preposition && !bodily && (word.is(LIKES) || word.is(DISLIKES) || word.is(BEARS) || pairs())
}

/// `swapped`: they compare the same two things, not alike. `liking`: one likes what the other does not.
fn opposition(left: &StatementSide, right: &StatementSide, swapped: bool, liking: bool) -> Option<ContradictionType> {
    if swapped {
        return Some(ContradictionType::ComparativeOpposition);
    }
    let by_pair = |pairs: &[(&[&str], &[&str])]| {
        pairs.iter().filter(|(one, other)| opposed(left, right, |c| c.has(one, false), |c| c.has(other, false))).count()
    };
    if by_pair(DIRECT) > 0 || denied_elsewhere(left, right) || denied_elsewhere(right, left) {
        return Some(ContradictionType::DirectNegation);
    }
    if liking {
        return Some(ContradictionType::PreferenceConflict);
    }
    // Two oppositions cancel out: "more rest is better" agrees with "less rest is worse".
    let both_compare = !left.comparisons.is_empty() && !right.comparisons.is_empty();
    let other_changes =
        left.changed.as_ref().zip(right.changed.as_ref()).is_some_and(|(one, other)| one.is_disjoint(other));
    if !both_compare && !other_changes && !left.moving && !right.moving && by_pair(COMPARISONS) % 2 == 1 {
        return Some(ContradictionType::ComparativeOpposition);
    }
    let judged = by_pair(JUDGEMENTS) % 2 == 1;
    (judged || opposed(left, right, OpinionClause::likes, OpinionClause::dislikes))
        .then_some(ContradictionType::PreferenceConflict)
}

/// Whether one side holds the one pole and the other side the other. A side with both poles ("tea always, coffee
/// never") counts only by clauses that share a content stem with the opposed side.
fn opposed(
    left: &StatementSide,
    right: &StatementSide,
    one: impl Fn(&OpinionClause) -> bool,
    other: impl Fn(&OpinionClause) -> bool,
) -> bool {
    let both = |side: &StatementSide| side.clauses.iter().any(&one) && side.clauses.iter().any(&other);
    let strict = both(left) || both(right);
    left.clauses.iter().any(|l| {
        right.clauses.iter().any(|r| {
            let poles = (one(l) && other(r) && !other(l) && !one(r)) || (other(l) && one(r) && !one(l) && !other(r));
            poles && (!strict || !l.stems.is_disjoint(&r.stems))
        })
    })
}

fn denied_elsewhere(denying: &StatementSide, saying: &StatementSide) -> bool {
    let said = |stem: &String| saying.clauses.iter().any(|c| c.stems.contains(stem) && !c.denied.contains(stem));
    let denied = |stem: &String| saying.clauses.iter().any(|c| c.denied.contains(stem));
    let own = |stem: &String| denying.clauses.iter().any(|c| c.stems.contains(stem) && !c.denied.contains(stem));
    denying.clauses.iter().flat_map(|clause| &clause.denied).any(|stem| said(stem) && !denied(stem) && !own(stem))
}

const ARTICLES: &[&str] = &[
    "my", "his", "her", "their", "our", "the", "mi", "su", "tu", "nuestra", "nuestro", "la", "el", "patient",
    "paciente", "del",
];

/// The relative a statement is about: "my mother always …", "diabetes in her mother".
fn subject(words: &[FoldedWord]) -> Option<&'static str> {
    let meaning: Vec<&FoldedWord> = words.iter().filter(|word| !word.is_sign() && !word.is(ARTICLES)).collect();
    match meaning.as_slice() {
        [first, ..] if person(&first.folded).is_some() => person(&first.folded),
        [.., link, last] if link.is(&["in", "of", "en", "de"]) => person(&last.folded),
        _ => None,
    }
}

#[cfg(test)]
#[path = "contradiction_tests.rs"]
mod tests;
