//! Allergies that are gone or never were: outgrown, tolerated since, entered in error, taken off the list.

use std::ops::Range;

use super::refutation_words::{is_no_true_allergy, refutes_at};
use super::refuted::{NamedSubstance, is_anothers_denial, names_another};
use super::{AllergyFindings, AllergyFrame, AllergyMention, AllergyRules, WORDS};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::medication::SentenceDrugs;
use crate::phrase_trie::TrieBuilder;
use crate::{EntityType, Experiencer, Reaction};
use anamnesis_text::Speaker;

/// Sentences after the one that names the allergen in which it may be taken back.
const NEXT_SENTENCES: usize = 2;
/// Words between "tolerated" and the name of the tolerated substance.
const OBJECT: usize = 4;
/// Words between the name of a substance and the statement that it did no harm.
const TAKEN: usize = 8;
/// Words between "only" and its reaction.
const ONLY: usize = 5;

pub(super) struct AllergyRetractions {
    gone: PhraseMatcher,
    tolerated: PhraseMatcher,
    fine: PhraseMatcher,
    only: PhraseMatcher,
}

impl AllergyRetractions {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            gone: label(trie, WORDS, "gone"),
            tolerated: label(trie, WORDS, "tolerated"),
            fine: label(trie, WORDS, "fine"),
            only: label(trie, WORDS, "only"),
        }
    }
}

impl AllergyRules {
    /// A retracted allergy is denied, since the chart may still state it elsewhere.
    pub(super) fn take_back(&self, doc: &AnalyzedDocument<'_>, drugs: &[SentenceDrugs], out: &mut AllergyFindings) {
        self.refuted_lists(doc, drugs, out);
        out.placed.sort_by_key(|placed| placed.words.start);
        let places: Vec<Range<usize>> = out.placed.iter().map(|placed| placed.words.clone()).collect();
        let named = NamedSubstance::all(self, doc, drugs);
        let mut back: Vec<Range<usize>> = Vec::new();
        for placed in &mut out.placed {
            let own = placed.entity.context.experiencer == Experiencer::Patient;
            if own && placed.entity.context.negated && is_anothers_denial(doc, placed, &named) {
                placed.entity.context.negated = false;
            }
        }
        let mentioned = |placed: &&mut AllergyMention| {
            placed.frame != AllergyFrame::Effect || placed.entity.kind == EntityType::Allergy
        };
        for placed in out.placed.iter_mut().filter(mentioned) {
            let own = placed.entity.context.experiencer == Experiencer::Patient;
            let refuted =
                |placed: &AllergyMention| self.is_denied_value(doc, placed) || self.is_taken_back(doc, placed, &named);
            if own && !placed.entity.context.negated && refuted(placed) {
                if is_side_effect(doc, placed) {
                    placed.entity.kind = EntityType::Intolerance;
                    continue;
                }
                back.push(placed.words.clone());
                placed.entity.context.negated = true;
                placed.entity.context.uncertain = false;
                placed.entity.kind = EntityType::Allergy;
                placed.entity.reaction = None;
            }
        }
        // "Lactose intolerant and gluten intolerant. I'm not": a statement about the last of a list covers the whole
        // list.
        for at in (1..out.placed.len()).rev() {
            let (first, second) = (&out.placed[at - 1], &out.placed[at]);
            let between = first.words.end..second.words.start.max(first.words.end);
            let joined = between.len() <= 3
                && between.clone().any(|word| matches!(doc.reading.word(word), "and" | "y" | "," | "or"))
                && doc.reading.sentence_of(first.words.start) == doc.reading.sentence_of(second.words.start);
            if joined
                && back.contains(&second.words)
                && second.entity.context.negated
                && !first.entity.context.negated
                && first.entity.reaction.is_none()
            {
                out.placed[at - 1].entity.context.negated = true;
                out.placed[at - 1].entity.kind = EntityType::Allergy;
            }
        }
        self.side_effects_only(doc, &places, out);
        for placed in out.placed.drain(..) {
            out.entities.push(placed.entity);
        }
    }

    /// "Erythromycin, it was just a sick stomach", "codeine just binds me up": no allergy, but not tolerated.
    fn side_effects_only(&self, doc: &AnalyzedDocument<'_>, places: &[Range<usize>], out: &mut AllergyFindings) {
        let reading = doc.reading;
        let mut known: Vec<AllergyMention> = Vec::new();
        for placed in out.placed.iter_mut().filter(|placed| placed.frame == AllergyFrame::Allergy) {
            let sentence = &reading.sentences[reading.sentence_of(placed.words.start)];
            let next = places.iter().map(|other| other.start).filter(|start| *start >= placed.words.end).min();
            let words = placed.words.end..sentence.words.end.min(next.unwrap_or(usize::MAX));
            let Some(only) = words.clone().find_map(|word| self.taken_back.only.at(reading, word)) else { continue };
            let near = only.words.start.saturating_sub(ONLY).max(words.start)..words.end.min(only.words.end + ONLY);
            let found = self.reactions.find(reading, near).into_iter().find(|r| r.concept.group == "intolerance");
            let Some(reaction) = found else { continue };
            let mut entity = placed.entity.clone();
            entity.kind = EntityType::Intolerance;
            entity.context.negated = false;
            entity.context.uncertain = false;
            let place = reading.source(&reaction.words);
            entity.reaction = Some(Reaction { name: place.slice(doc.text()).to_lowercase(), place });
            known.push(AllergyMention {
                entity,
                words: placed.words.clone(),
                frame: AllergyFrame::Intolerance,
                mentioned: None,
            });
            placed.entity.kind = EntityType::Allergy;
            placed.entity.context.negated = true;
            placed.entity.context.uncertain = false;
            placed.entity.reaction = None;
        }
        out.placed.append(&mut known);
    }

    fn is_taken_back(&self, doc: &AnalyzedDocument<'_>, placed: &AllergyMention, named: &[NamedSubstance]) -> bool {
        let reading = doc.reading;
        let index = reading.sentence_of(placed.words.start);
        let here = &reading.sentences[index];
        for later in reading.sentences.iter().skip(index).take(NEXT_SENTENCES + 1) {
            let gap = doc.text().get(here.span.end..later.span.start).unwrap_or("");
            // "I've still got peanuts on here." — "He did the challenge and he passed."
            let answers = here.turn.zip(later.turn).is_some_and(|(here, later)| here + 1 == later)
                && here.speaker == Speaker::Clinician
                && matches!(later.speaker, Speaker::Patient | Speaker::Family);
            if !answers && (later.turn != here.turn || (later.span != here.span && gap.contains('\n'))) {
                break;
            }
            let words = later.words.clone();
            if later.question || doc.scopes.only_asked(reading, &words) {
                continue;
            }
            for word in words.clone() {
                let gone = self.taken_back.gone.at(reading, word);
                if gone.is_some_and(|hit| self.is_said_of(doc, &hit.words, placed, (named, answers))) {
                    return true;
                }
                // Plain words ("to be removed", "no es cierto") need a clause that names nothing else; "tachado"
                // belongs to a record.
                let plain = !matches!(reading.word(word), "tachado" | "tachada" | "crossed" | "struck" | "scored");
                if refutes_at(doc, word).is_some_and(|hit| self.is_said_of(doc, &hit, placed, (named, plain))) {
                    return true;
                }
                if self.borne_well(doc, word, placed, (&words, named)) {
                    return true;
                }
                let tolerated = self.taken_back.tolerated.at(reading, word);
                let of_it = |hit: &Range<usize>| {
                    self.of_the_same(doc, hit, placed) && self.is_said_of(doc, hit, placed, (named, true))
                };
                if tolerated.is_some_and(|hit| of_it(&hit.words)) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether words that begin here say that a substance did no harm.
    pub(super) fn harmless(&self, doc: &AnalyzedDocument<'_>, word: usize) -> bool {
        self.taken_back.fine.at(doc.reading, word).is_some()
    }

    /// "Has had co-amoxiclav twice without trouble", "eats them every day", "la he tomado mil veces": taken since, of the same
    /// kind, and no harm.
    fn borne_well(
        &self,
        doc: &AnalyzedDocument<'_>,
        word: usize,
        placed: &AllergyMention,
        (within, named): (&Range<usize>, &[NamedSubstance]),
    ) -> bool {
        let reading = doc.reading;
        let Some(fine) = self.taken_back.fine.at(reading, word) else { return false };
        let from = fine.words.start.saturating_sub(TAKEN).max(within.start);
        let Some(verb) = (from..fine.words.start).rev().find(|at| takes(reading.word(*at))) else { return false };
        let denied = (verb.saturating_sub(2).max(within.start)..verb)
            .any(|at| matches!(reading.word(at), "not" | "n't" | "no" | "never" | "nunca" | "cant" | "cannot"));
        let between = verb + 1..fine.words.start;
        let parted = between.clone().any(|at| matches!(reading.word(at), "." | ";" | "but" | "pero"));
        let said = placed.entity.value.as_str();
        let same = between.clone().any(|at| {
            let word = reading.word(at);
            is_related(said, word) || matches!(word, "it" | "them" | "one" | "those" | "that")
        }) || matches!(reading.word(verb.wrapping_sub(2)), "la" | "lo" | "los" | "las")
            || matches!(reading.word(verb.wrapping_sub(1)), "la" | "lo" | "los" | "las")
            || verb >= placed.words.end && verb - placed.words.end <= 4 && between.is_empty();
        // "Kiwi: itch. Banana he eats every day": the nearer one is meant.
        let between = placed.words.end.min(fine.words.start)..fine.words.start;
        let another = names_another(doc, named, placed, &between);
        !denied && !parted && same && !another && (verb >= placed.words.end || placed.words.start >= verb)
    }

    /// "Tolerated 300 mg", "tolerated amoxicillin since": not "tolerates cephalosporins", which is another substance.
    fn of_the_same(&self, doc: &AnalyzedDocument<'_>, tolerated: &Range<usize>, placed: &AllergyMention) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "retracted.of_the_same");
        let reading = doc.reading;
        let sentence = &reading.sentences[reading.sentence_of(tolerated.start)];
        let before = tolerated.start.saturating_sub(2)..tolerated.start;
        let denied = before
            .clone()
            .any(|word| matches!(reading.word(word), "not" | "n't" | "no" | "never" | "nunca" | "poorly" | "mal"));
        if denied
            || tolerated.start < placed.words.end
                && reading.sentence_of(placed.words.start) == reading.sentence_of(tolerated.start)
                && tolerated.end <= placed.words.start
                && placed.words.start - tolerated.end > OBJECT
        {
            return false;
        }
        let object = tolerated.end..sentence.words.end.min(tolerated.end + OBJECT);
        let word = |word: usize| reading.word(word);
        let said = placed.entity.value.as_str();
        // Nothing that could be another substance: figures, a pause, the end, or the same name again.
        object.is_empty()
            || reading.words[tolerated.end.min(reading.words.len() - 1)].punctuation
            || word(tolerated.end).starts_with(|c: char| c.is_ascii_digit())
            || WORDS.contains(word(tolerated.end))
            || object.clone().any(|at| word(at) == said)
    }
}

/// "Vómitos, no alergia": the reaction is stated with it, and is an intolerance.
fn is_side_effect(doc: &AnalyzedDocument<'_>, placed: &AllergyMention) -> bool {
    let reading = doc.reading;
    let Some(reaction) = &placed.entity.reaction else { return false };
    let harm = reading.words_at(reaction.place);
    let sentence = &reading.sentences[reading.sentence_of(placed.words.start)].words;
    harm.start >= placed.words.end
        && harm.end <= sentence.end
        && is_no_true_allergy(reading, placed.words.end, sentence.end)
}

/// A verb of taking or eating, as used for something that did no harm.
pub(super) fn takes(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "retracted.takes");
    WORDS.contains(word)
}

/// Whether a word names what an allergy is to, or one of its kind: amoxicillin to penicillin, prawns to shellfish.
pub(super) fn is_related(said: &str, word: &str) -> bool {
    let penicillins = ["penicil", "amoxi", "cillin", "cilina", "augmentin", "clavul", "tazocin"];
    let shellfish = ["shellfish", "prawn", "shrimp", "gamba", "camaron", "marisco", "crab", "seafood", "langostino"];
    let kinds: [&[&str]; 2] = [&penicillins, &shellfish];
    let of = |text: &str, kind: &[&str]| kind.iter().any(|name| text.contains(name));
    let stem = |text: &str| text.chars().take(5).collect::<String>();
    word.len() >= 3 && stem(word) == stem(said) || kinds.iter().any(|kind| of(said, kind) && of(word, kind))
}
