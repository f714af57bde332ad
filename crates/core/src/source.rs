//! From a free-text source to a source type, by whole words in English and Spanish (seed 001, section 3; model.md,
//! "Provenance"). "told by Claire" is external and names claire; "left lower lobe consolidation" is no one's
//! consolidation of memories. The seed's own code matched parts of words.

use super::provenance::SourceType;
use super::wording::{FoldedWord, denies, words};
use anamnesis_text::TokenKind;

#[rustfmt::skip] // lists of words read as paragraphs
#[path = "source_words.rs"]
mod vocabulary;
use vocabulary::{
    ACTS, ARTICLES, AUSCULTATION, BEFORE_NAME, BREAKS, CONSOLIDATION, CONSOLIDATION_HOMONYMS, DOCUMENTS, ENTRIES,
    FUNCTION_WORDS, HEARING, INFERENCE, JOINING, LEGACY, NO_ONE, NOBODY, OBJECTS, OBSERVED, ORIGINS, PATTERNS,
    PLACES_TO_READ, PRELOADED, SAYING, SEED, SEED_HOMONYMS, STANDING_ORDERS, TITLES, UNKNOWN,
};

/// The result of reading a free-text source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceReading {
    pub source_type: SourceType,
    /// The provider, in lower case; `None` when none is named.
    pub entity: Option<String>,
    /// An address that identifies who, where the source gives one.
    pub entity_ref: Option<String>,
}

/// Reads a source. Nothing at all reads as `unknown`; words that match no rule are the teller's own experience, seed
/// 001's default.
pub fn read(source: &str) -> SourceReading {
    let words = words(source);
    let entity_ref = words.iter().find(|w| w.kind == TokenKind::Email).map(|w| w.span.slice(source).to_lowercase());
    let reading = |source_type, entity| SourceReading { source_type, entity, entity_ref: entity_ref.clone() };
    let meaning: Vec<&FoldedWord> = words.iter().filter(|word| !word.is_sign()).collect();
    if meaning.is_empty() || (meaning.len() == 1 && meaning[0].is(UNKNOWN)) {
        return reading(SourceType::Unknown, None);
    }
    if let Some(stated) = SourceType::from_code(source.trim()) {
        return reading(stated, None);
    }
    if is_unknown(&meaning) {
        return reading(SourceType::Unknown, None);
    }
    match external(source, &words) {
        Some(Attribution::By(entity)) => reading(SourceType::External, entity),
        Some(Attribution::Document) => reading(SourceType::Observation, None),
        None if is_act(&meaning, CONSOLIDATION, CONSOLIDATION_HOMONYMS, 0) => reading(SourceType::Consolidation, None),
        None if is_act(&meaning, SEED, SEED_HOMONYMS, 1) => reading(SourceType::Seed, None),
        None if meaning.iter().any(|word| word.is(PRELOADED)) => reading(SourceType::Seed, None),
        None if is_inference(&meaning) => reading(SourceType::Inference, None),
        None if is_observation(&meaning) => reading(SourceType::Observation, None),
        None => reading(SourceType::DirectExperience, None),
    }
}

enum Attribution {
    By(Option<String>),
    /// "según la documentación": a page, not a being.
    Document,
}

/// The text says that nothing is known of the origin: "no source recorded", "sin procedencia", a legacy entry.
fn is_unknown(words: &[&FoldedWord]) -> bool {
    let has = |any_of: &[&str]| words.iter().any(|word| word.is(any_of));
    let missing = words.iter().any(|word| denies(&word.folded) || word.is(UNKNOWN));
    // "Fever of unknown origin" says nothing of where the words come from.
    let other = |word: &&&FoldedWord| {
        !(word.is(ORIGINS) || word.is(UNKNOWN) || word.is(ENTRIES) || word.is(FUNCTION_WORDS) || denies(&word.folded))
    };
    let of_words = words.iter().filter(other).count() <= usize::from(has(ENTRIES)) + 1 && !attributed(words);
    has(ORIGINS) && missing && of_words || has(LEGACY) && has(ENTRIES) && !has(SAYING)
}

/// Whether an origin is that of something else than an entry: "rash of unknown origin", "dolor de origen desconocido".
fn attributed(words: &[&FoldedWord]) -> bool {
    let origin = words.iter().position(|word| word.is(ORIGINS));
    let of = origin.and_then(|at| words[..at].iter().rposition(|word| word.is(&["of", "de"])));
    of.is_some_and(|of| of > 0 && !words[of - 1].is(ENTRIES))
}

/// Reasoned over known facts: by a word that says so, or as patterns that were joined.
fn is_inference(words: &[&FoldedWord]) -> bool {
    let has = |any_of: &[&str]| words.iter().any(|word| word.is(any_of));
    has(INFERENCE) || has(JOINING) && has(PATTERNS)
}

/// "Nobody told me", "not told by anyone": the saying is denied.
fn is_denied(words: &[FoldedWord], at: usize) -> bool {
    let before = &words[at.saturating_sub(4)..at];
    let clause = before.iter().rposition(FoldedWord::is_sign).map_or(0, |sign| sign + 1);
    before[clause..].iter().any(|word| word.is(NO_ONE))
        || before.last().is_some_and(|word| denies(&word.folded))
        || before.len() >= 2 && before[before.len() - 2..].iter().map(|w| w.folded.as_str()).eq(["no", "one"])
}

fn external(source: &str, words: &[FoldedWord]) -> Option<Attribution> {
    let mut nameless = None;
    for at in (0..words.len()).filter(|at| !is_denied(words, *at)) {
        if let Some(length) = BEFORE_NAME.iter().find_map(|phrase| matches_at(words, at, phrase)) {
            let name = name_after(source, words, at + length);
            match first_meaning(words, at + length) {
                Some(word) if word.is(STANDING_ORDERS) => continue,
                Some(word) if word.is(DOCUMENTS) => return Some(Attribution::Document),
                None if words[at].is(&["per"]) => continue,
                _ if words[at].is(&["heard"]) && auscultated(words) => continue,
                _ if name.is_none() => nameless = Some(Attribution::By(None)),
                _ => return Some(Attribution::By(name)),
            }
        }
        if words[at].is(HEARING) && !auscultated(words) && !words.iter().any(|w| w.is(&["hear"])) {
            return Some(Attribution::By(reporter_after_hear(source, words, at)));
        }
        if words[at].is(SAYING) && !is_place_name(words, at) {
            match teller(source, words, at) {
                SourceSubject::Oneself => continue,
                SourceSubject::Named(name) => return Some(Attribution::By(Some(name))),
                SourceSubject::Nobody => {
                    return Some(Attribution::By(name_after(source, words, after_objects(words, at + 1))));
                }
            }
        }
    }
    nameless
}

fn auscultated(words: &[FoldedWord]) -> bool {
    words.iter().any(|word| word.is(AUSCULTATION))
}

/// Port Said is a town.
fn is_place_name(words: &[FoldedWord], at: usize) -> bool {
    words[at].folded == "said" && at > 0 && words[at - 1].is(&["port", "bur"])
}

fn matches_at(words: &[FoldedWord], at: usize, phrase: &[&str]) -> Option<usize> {
    let there = words.get(at..at + phrase.len())?;
    there.iter().zip(phrase).all(|(word, wanted)| word.folded == *wanted).then_some(phrase.len())
}

/// "heard Sean say": the name comes between.
fn reporter_after_hear(source: &str, words: &[FoldedWord], at: usize) -> Option<String> {
    let rest = words.get(at + 1..)?;
    if rest.first().is_some_and(|word| word.is(&["a"])) {
        return name_after(source, words, at + 2);
    }
    let say = rest.iter().position(|word| word.is(&["say", "saying", "tell", "decir", "contar"]))?;
    name_of(source, &words[at + 1..at + 1 + say])
}

enum SourceSubject {
    /// "I said": no other being provided it.
    Oneself,
    Named(String),
    Nobody,
}

/// The person before a verb of saying.
fn teller(source: &str, words: &[FoldedWord], verb: usize) -> SourceSubject {
    let mut end = verb;
    while end > 0
        && words[end - 1].is(&["me", "nos", "le", "les", "lo", "se", "que", "just", "also", "ya", "has", "had"])
    {
        end -= 1;
    }
    let mut start = end;
    while start > 0 && end - start < 5 && !is_break(words, start - 1) {
        start -= 1;
    }
    let before = &words[start..end];
    if before.last().is_some_and(|word| word.is(&["i", "we", "yo", "nosotros"])) {
        return SourceSubject::Oneself;
    }
    match name_of(source, before) {
        Some(name) => SourceSubject::Named(name),
        None => SourceSubject::Nobody,
    }
}

fn after_objects(words: &[FoldedWord], mut at: usize) -> usize {
    while words.get(at).is_some_and(|word| word.is(OBJECTS)) {
        at += 1;
    }
    at
}

fn is_break(words: &[FoldedWord], at: usize) -> bool {
    let word = &words[at];
    let title = word.folded == "." && at > 0 && words[at - 1].is(TITLES);
    (word.is_sign() && !title) || word.is(BREAKS)
}

fn first_meaning(words: &[FoldedWord], at: usize) -> Option<&FoldedWord> {
    words.get(at..)?.iter().find(|word| !word.is(ARTICLES) && !word.is_sign())
}

fn name_after(source: &str, words: &[FoldedWord], at: usize) -> Option<String> {
    let mut start = at;
    while words.get(start).is_some_and(|word| word.is(ARTICLES)) {
        start += 1;
    }
    let end = (start..words.len().min(start + 6)).find(|i| is_break(words, *i)).unwrap_or(words.len().min(start + 6));
    name_of(source, &words[start.min(end)..end])
}

/// The name that the words spell, in lower case, without articles; `None` for pronouns.
fn name_of(source: &str, words: &[FoldedWord]) -> Option<String> {
    let first = words.iter().position(|word| !word.is(ARTICLES) && !word.is_sign())?;
    let named = &words[first..];
    if named.iter().all(|word| word.is(NOBODY) || word.is_sign()) || named[0].is(NOBODY) {
        return None;
    }
    let text = source.get(named.first()?.span.start..named.last()?.span.end)?;
    Some(text.trim_end_matches("'s").trim_end_matches("’s").to_lowercase())
}

/// Whether the text speaks of the act: its word is there, no clinical homonym is, and either something that is done to
/// memories is next to it or at most `spare` other words are. What is undecided is not the act.
fn is_act(words: &[&FoldedWord], act: &[&str], homonyms: &[&str], spare: usize) -> bool {
    let others: Vec<_> = words.iter().filter(|word| !mentions(word, act) && !word.is(FUNCTION_WORDS)).collect();
    let spoken = others.iter().filter(|word| word.kind == TokenKind::Word).count();
    words.iter().any(|word| mentions(word, act))
        && !words.iter().any(|word| mentions(word, homonyms))
        && (words.iter().any(|word| mentions(word, ACTS)) || spoken <= spare)
}

/// The word or a part of a compound ("seed-beliefs").
fn mentions(word: &FoldedWord, any_of: &[&str]) -> bool {
    word.is(any_of) || (word.kind == TokenKind::Word && word.folded.split('-').any(|part| any_of.contains(&part)))
}

fn is_observation(words: &[&FoldedWord]) -> bool {
    // A patient under observation is not an observation.
    let ward = ["under", "unit", "ward", "bed", "room", "en", "sala", "unidad", "cama", "ingresado", "ingresada"];
    let observed = words.iter().any(|word| word.is(OBSERVED)) && !words.iter().any(|word| word.is(&ward));
    let documents = words.iter().any(|word| word.is(DOCUMENTS));
    let read = words.iter().any(|word| word.is(PLACES_TO_READ)) || words.len() <= 3;
    observed || (documents && read)
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
