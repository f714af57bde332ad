//! Which allergen a refutation belongs to: the one in its own clause, or the one that an empty clause goes on about. An
//! allergen that is only near stays an allergy.

use std::ops::Range;

use super::{AllergyMention, AllergyRules};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::medication::SentenceDrugs;

/// Words between "no longer allergic to" and the allergen.
const OBJECT: usize = 8;

/// A substance named anywhere, as an allergen or not.
pub(super) struct NamedSubstance {
    words: Range<usize>,
    name: String,
}

impl NamedSubstance {
    pub(crate) fn all(rules: &AllergyRules, doc: &AnalyzedDocument<'_>, drugs: &[SentenceDrugs]) -> Vec<Self> {
        let found = doc.sentences().flat_map(|(index, _)| rules.substances(doc, index, drugs).0);
        found.map(|substance| Self { words: substance.words, name: substance.name }).collect()
    }
}

/// Whether something else than this allergen, or one of its kind, is named within words.
pub(super) fn names_another(
    doc: &AnalyzedDocument<'_>,
    named: &[NamedSubstance],
    placed: &AllergyMention,
    within: &Range<usize>,
) -> bool {
    others(doc, named, placed, within).next().is_some()
}

fn others<'a>(
    doc: &'a AnalyzedDocument<'_>,
    named: &'a [NamedSubstance],
    placed: &'a AllergyMention,
    within: &'a Range<usize>,
) -> impl Iterator<Item = &'a NamedSubstance> {
    let inside = |one: &&NamedSubstance| one.words.start >= within.start && one.words.end <= within.end;
    named.iter().filter(inside).filter(move |one| one.words != placed.words && !is_same_kind(doc, one, placed))
}

fn is_same_kind(doc: &AnalyzedDocument<'_>, one: &NamedSubstance, placed: &AllergyMention) -> bool {
    let said = placed.entity.value.as_str();
    let word = |word: usize| doc.reading.word(word);
    one.name == said || one.words.clone().any(|at| super::retracted::is_related(said, word(at)))
}

/// The clause of words: up to a sign or "but" on both sides.
fn clause(doc: &AnalyzedDocument<'_>, hit: &Range<usize>) -> Range<usize> {
    let reading = doc.reading;
    let sentence = &reading.sentences[reading.sentence_of(hit.start)].words;
    let start =
        (sentence.start..hit.start).rev().find(|word| is_separator(doc, *word)).map_or(sentence.start, |at| at + 1);
    let end = (hit.end..sentence.end).find(|word| is_separator(doc, *word)).unwrap_or(sentence.end);
    start..end
}

/// A sign or a word that begins another clause; a hyphen inside a name does not.
fn is_separator(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    let reading = doc.reading;
    match reading.word(word) {
        "," | ";" | "." | ":" | "(" | ")" | "[" | "]" | "–" | "—" | "→" | "->" | "•" | "*" | "=" | "but" | "pero"
        | "aunque" | "although" | "though" | "whereas" | "mientras" => true,
        "-" | "/" => {
            let end = |at: Option<usize>| at.and_then(|at| reading.words.get(at)).map(|word| word.source.end);
            let here = reading.words[word].source;
            end(word.checked_sub(1)) != Some(here.start)
        }
        _ => false,
    }
}

impl AllergyRules {
    /// Whether words that take an allergy back belong to this one. `strict`: words as common as "fine", which need a
    /// separate clause.
    pub(super) fn is_said_of(
        &self,
        doc: &AnalyzedDocument<'_>,
        hit: &Range<usize>,
        placed: &AllergyMention,
        (named, strict): (&[NamedSubstance], bool),
    ) -> bool {
        let reading = doc.reading;
        let clause = clause(doc, hit);
        let own = &placed.words;
        let another = |within: Range<usize>| names_another(doc, named, placed, &within);
        if own.start >= clause.start && own.end <= hit.start {
            return !another(own.end..hit.start) && !points_on(doc, hit, clause.end);
        }
        if own.start >= hit.end {
            return self.is_object(doc, hit, placed, named);
        }
        // "Penicillin: rash, withdrawn": it was given no more, and stays an allergy.
        let weak = reading.word(hit.start) == ",";
        if weak && !self.reactions.find(reading, own.end..hit.start).is_empty() && !is_of_record(doc, hit.end) {
            return false;
        }
        let before = clause.start.min(hit.start)..hit.start;
        own.end <= clause.start.max(own.end)
            && own.end <= hit.start
            && !another(own.end..clause.end)
            && !points_on(doc, hit, clause.end)
            && !names_unknown(doc, hit, &before)
            && (!strict
                || before.clone().all(|word| is_small(reading.word(word)) || self.is_of_kind(doc, word, placed)))
    }

    fn is_of_kind(&self, doc: &AnalyzedDocument<'_>, word: usize, placed: &AllergyMention) -> bool {
        super::retracted::is_related(&placed.entity.value, doc.reading.word(word))
    }

    /// "No longer allergic to eggs", "se descarta alergia a penicilina y látex": the allergen after.
    fn is_object(
        &self,
        doc: &AnalyzedDocument<'_>,
        hit: &Range<usize>,
        placed: &AllergyMention,
        named: &[NamedSubstance],
    ) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "refuted.is_object");
        let reading = doc.reading;
        let between = hit.end..placed.words.start;
        let listed = |word: usize| named.iter().any(|one| one.words.contains(&word));
        let joins = |word: usize| listed(word) || WORDS.contains(reading.word(word));
        // "Not allergic to eggs, penicillin: rash": a value after the name states another allergy.
        let mentioned = matches!(reading.word(placed.words.end), ":" | "→" | "->" | "(" | "–");
        let parted = between.clone().any(|word| reading.word(word) == ",");
        // "Penicilina descartada, alergia a ibuprofeno": another statement begins after the comma.
        let begins = |word: usize| matches!(reading.word(word), "alergia" | "allergy");
        let anew = reading.word(hit.end) == "," || parted && between.clone().skip(1).any(begins);
        between.len() <= OBJECT
            && !anew
            && reading.sentence_of(hit.start) == reading.sentence_of(placed.words.start)
            && between.clone().all(joins)
            && !(parted && mentioned)
    }
}

/// "Alergia a penicilina descartada, alergia a ibuprofeno confirmada": denied by a word in the clause of another one.
pub(super) fn is_anothers_denial(
    doc: &AnalyzedDocument<'_>,
    placed: &AllergyMention,
    named: &[NamedSubstance],
) -> bool {
    let reading = doc.reading;
    let denials = doc.scopes.denials(reading, &placed.words);
    // Only across a comma or "but": within one clause the denial covers both.
    let of_another = |cue: &Range<usize>| {
        let apart = cue.end <= placed.words.start
            && (cue.end..placed.words.start).any(|word| matches!(reading.word(word), "," | ";" | "pero" | "but"));
        apart && names_another(doc, named, placed, &(clause(doc, cue).start..cue.start))
    };
    !denials.is_empty() && denials.iter().all(of_another)
}

/// "Not allergic to …", "no es alérgica a nada más": the words after it are meant, unless they are "it" or "that".
fn points_on(doc: &AnalyzedDocument<'_>, hit: &Range<usize>, end: usize) -> bool {
    let word = |at: usize| doc.reading.word(at);
    let (first, second) = (hit.end, hit.end + 1);
    first < end
        && matches!(word(first), "to" | "a" | "al")
        && !matches!(
            word(second),
            "it" | "them" | "that" | "this" | "those" | "these" | "eso" | "ella" | "el" | "ese" | "esa" | "esto"
        )
}

/// "Alergia a zumbaina descartada", "zumba allergy removed": of something that no list knows.
fn names_unknown(doc: &AnalyzedDocument<'_>, hit: &Range<usize>, before: &Range<usize>) -> bool {
    let word = |at: usize| doc.reading.word(at);
    let of = before.clone().any(|at| {
        (word(at).starts_with("alerg") || word(at).starts_with("allerg"))
            && matches!(word(at + 1), "to" | "a" | "al")
            && at + 2 < hit.start
    });
    let led = matches!(word(hit.start), "allergy" | "entry" | "label")
        && before.end.checked_sub(1).is_some_and(|at| before.contains(&at) && !is_small(word(at)));
    of || led
}

/// "From the list", "del historial": it is the record that something is taken from.
fn is_of_record(doc: &AnalyzedDocument<'_>, from: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "refuted.is_of_record");
    (from..from + 4).any(|at| WORDS.contains(doc.reading.word(at)))
}

/// Words without content: the clause goes on about the substance before.
pub(super) fn is_small(word: &str) -> bool {
    super::retracted::takes(word) || word.bytes().all(|byte| !byte.is_ascii_alphabetic()) || SMALL.contains(word)
}

static SMALL: WordList = WordList::listed(word_lists::ALLERGIES, "refuted.small");
