//! Allergies and intolerances, and the statement that the patient has none.

mod adverse_effects;
mod allergy_questions;
mod challenges;
mod discontinued;
mod experiencer;
mod explicit;
mod lists;
mod no_known_allergies;
mod reactions;
mod reconsideration;
mod refutation_words;
mod refuted;
mod refuted_lists;
mod remedies;
mod retracted;
mod tolerated;
mod topic;
mod unrelated_complaints;

use std::ops::Range;

use adverse_effects::EffectWords;
use discontinued::DiscontinuationWords;
use experiencer::{OwnerWords, is_of_labelled_relative};
pub(super) use no_known_allergies::says_none;
pub(super) use remedies::is_pen;
use remedies::{is_remedy, is_treatment};
use retracted::AllergyRetractions;
use topic::AllergyTopic;

use super::analysis::{AnalyzedDocument, AssertionStatus};
use super::dialogue::DialogueRules;
use super::lexicon::{ConceptMention, Lexicon, LexiconList, SPEECH, label};
use super::matcher::PhraseMatcher;
use super::medication::{SELDOM, STEM, SentenceDrugs, is_bare};
use super::negative_statements::is_current;
use super::phrase_trie::TrieBuilder;
use super::structure::Section;
use super::{Entity, EntityType, Experiencer, Reaction, Statement, Temporality};
use anamnesis_text::Span;
pub(super) use reconsideration::reconsider;

/// Turns after which a question about allergies is forgotten.
const TOPIC_TURNS: usize = 8;
/// Longest answer to a question about allergies; a longer sentence speaks of something else.
const LONGEST_ANSWER: usize = 18;
const FOOD: &str = "food";
/// Words, signs included, of a question that names substances and says hardly more ("And penicillin?").
const ELLIPSIS: usize = 6;
/// Longest question that only follows up on the one before.
const SHORT_QUESTION: usize = 9;
pub(crate) const WORDS: &str = include_str!("../lexicon/allergy_words.tsv");
/// Lines after a question in a text without turns in which it is answered.
const TOPIC_LINES: usize = 3;

pub(crate) struct AllergyRules {
    allergens: Lexicon,
    reactions: Lexicon,
    allergic: PhraseMatcher,
    intolerant: PhraseMatcher,
    asks: PhraseMatcher,
    other: PhraseMatcher,
    what_happens: PhraseMatcher,
    not_substance: PhraseMatcher,
    taking: PhraseMatcher,
    scope_end: PhraseMatcher,
    effects: EffectWords,
    owners: OwnerWords,
    stopped: DiscontinuationWords,
    taken_back: AllergyRetractions,
    reaction_title: PhraseMatcher,
}

/// In which way the text mentions a substance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AllergyFrame {
    /// As an allergy, in so many words.
    Allergy,
    /// As something that is not tolerated.
    Intolerance,
    /// By its effect alone.
    Effect,
}

/// A finding with the words that belong to it.
struct AllergyMention {
    entity: Entity,
    words: Range<usize>,
    frame: AllergyFrame,
    /// Its reaction, where the rule that found it knows.
    mentioned: Option<Reaction>,
}

/// Whether a sentence names the sensitivity of a microbe, which says nothing of the patient.
fn speaks_of_microbes(doc: &AnalyzedDocument<'_>, index: usize) -> bool {
    let words = doc.reading.sentences[index].words.clone();
    let titled = matches!(
        doc.section(words.start.max(words.end.saturating_sub(1))),
        Some(Section::Antibiogram | Section::Vaccines)
    );
    titled
        || words.clone().any(|word| {
            matches!(
                doc.reading.word(word),
                "resistente" | "resistentes" | "resistant" | "isolate" | "aislamiento" | "ufc" | "cfu"
            )
        })
}

/// The findings of the rules, statements, and the first words of their substances.
#[derive(Default)]
pub(crate) struct AllergyFindings {
    pub(crate) entities: Vec<Entity>,
    pub(crate) statements: Vec<Statement>,
    /// First words of substances that are no medicine here.
    pub(crate) taken: Vec<usize>,
    /// First words of substances that are one only where a status or a dose says so.
    pub(crate) touched: Vec<usize>,
    /// Places of reactions: they are no separate illnesses.
    pub(crate) reactions: Vec<Span>,
    placed: Vec<AllergyMention>,
}

/// A substance named in a sentence, drug or not.
#[derive(Clone)]
struct AllergenMention {
    words: Range<usize>,
    name: String,
    /// A whole class ("antibiotics"): stored only where it is asserted.
    class: bool,
    /// It is in the list of medicines.
    drug: bool,
}

impl AllergenMention {
    fn from_mention(mention: &ConceptMention, drug: bool) -> Self {
        let class = mention.concept.group == "class";
        Self { words: mention.words.clone(), name: mention.concept.name.into(), class, drug }
    }

    /// A medicine; one that no list names goes by the word itself.
    fn named(doc: &AnalyzedDocument<'_>, mention: &ConceptMention) -> Self {
        let mut this = Self::from_mention(mention, true);
        if mention.concept.group == STEM {
            this.name = doc.reading.word(mention.words.start).to_owned();
        }
        this
    }
}

impl AllergyRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            allergens: Lexicon::load(trie, LexiconList::Allergens),
            reactions: Lexicon::load(trie, LexiconList::Reactions),
            allergic: label(trie, SPEECH, "allergic_to"),
            intolerant: label(trie, SPEECH, "intolerant_to"),
            asks: label(trie, SPEECH, "ask_allergy"),
            other: label(trie, SPEECH, "other"),
            what_happens: label(trie, SPEECH, "what_happens"),
            not_substance: label(trie, SPEECH, "not_substance"),
            taking: label(trie, SPEECH, "tells_of_taking"),
            scope_end: label(trie, WORDS, "scope_end"),
            effects: EffectWords::builtin(trie),
            owners: OwnerWords::builtin(trie),
            stopped: DiscontinuationWords::builtin(trie),
            taken_back: AllergyRetractions::builtin(trie),
            reaction_title: label(trie, WORDS, "reaction_title"),
        }
    }

    pub(crate) fn find(
        &self,
        doc: &AnalyzedDocument<'_>,
        dialogue: &DialogueRules,
        drugs: &[SentenceDrugs],
    ) -> AllergyFindings {
        let mut out = AllergyFindings::default();
        let mut topic = AllergyTopic::default();
        let mut list = lists::OpenList::default();
        let mut named: Option<(usize, AllergenMention)> = None;
        for (index, sentence) in doc.sentences() {
            topic.pass(doc, index);
            if speaks_of_microbes(doc, index) {
                continue;
            }
            let (substances, given) = self.substances(doc, index, drugs);
            // A remedy given once against a reaction is no medicine either, unless a dose or a status says so.
            out.touched.extend(given);
            // "What are you taking for allergies?" asks about medicines.
            let asks_allergy = self
                .first(&self.asks, doc, &sentence.words)
                .is_some_and(|cue| !matches!(doc.reading.word(cue.start.saturating_sub(1)), "for" | "para" | "your"));
            let listed = self.listed(doc, index, &substances, &mut list);
            let in_list = listed.is_some();
            if let Some(listed) = listed {
                let mut under: Vec<AllergenMention> =
                    substances.iter().filter(|s| s.words.start >= listed.from).cloned().collect();
                under.retain(|s| !is_remedy(doc.reading.word(s.words.start)));
                under.extend(self.unlisted(doc, listed.from..sentence.words.end, &under));
                under.sort_by_key(|substance| substance.words.start);
                let under = self.governed(doc, listed.from..sentence.words.end, &under);
                self.take_listed(doc, index, &under, listed.frame, &mut out);
                if under.is_empty() {
                    list.left |= self.none_listed(doc, index, listed.from, &mut out);
                }
            }
            self.stated(doc, index, &substances, &mut out);
            self.harmed(doc, index, &substances, &mut out);
            self.goes_on(doc, index, &substances, &mut out);
            self.reacted_to_it(doc, index, drugs, &mut out);
            let more = asks_allergy && substances.is_empty() && self.names_more(doc, index, drugs);
            self.asked(doc, index, dialogue, (&substances, more), asks_allergy && !in_list, &mut topic, &mut out);
            self.effects(doc, index, &substances, &mut out);
            self.ended_for(doc, index, &substances, &mut out);
            self.none_in_form(doc, index, &substances, &mut out);
            self.borne_in_challenge(doc, index, &substances, &mut out);
            self.borne_in_talk(doc, index, &substances, &mut out);
            if let Some((before, substance)) = named.take().filter(|_| substances.is_empty())
                && self.follows(doc, before, index)
            {
                self.ended_later(doc, index, &substance, &mut out);
                named = Some((before, substance));
            }
            if let [only] = substances.iter().filter(|s| s.drug && !s.class).cloned().collect::<Vec<_>>().as_slice() {
                named = Some((index, only.clone()));
            }
        }
        self.give_to_owners(doc, &mut out);
        self.add_reactions(doc, &mut out);
        self.take_back(doc, drugs, &mut out);
        self.drop_contradicted(&mut out);
        out
    }

    /// The substances of a sentence: drugs first, then everything else one may be allergic to.
    fn named_substances(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        drugs: &[SentenceDrugs],
    ) -> Vec<AllergenMention> {
        let words = doc.reading.sentences[index].words.clone();
        let mut out: Vec<AllergenMention> = Vec::new();
        let slot = drugs.partition_point(|found| found.sentence < index);
        for mention in
            drugs.get(slot).filter(|found| found.sentence == index).into_iter().flat_map(|found| &found.mentions)
        {
            if mention.concept.group != "class" {
                out.push(AllergenMention::named(doc, mention));
            }
        }
        for mention in self.allergens.find(doc.reading, words) {
            if out.iter().all(|known| known.words.end <= mention.words.start || mention.words.end <= known.words.start)
            {
                out.push(AllergenMention::from_mention(&mention, false));
            }
        }
        // "Sick as a dog" is no dog.
        let reactions = self.reactions.find(doc.reading, doc.reading.sentences[index].words.clone());
        out.retain(|s| !reactions.iter().any(|r| r.words.len() > s.words.len() && r.words.contains(&s.words.start)));
        out.retain(|s| !is_pen(doc, &s.words));
        out.sort_by_key(|substance| substance.words.start);
        out
    }

    /// The substances of a sentence without remedies against a reaction, and the words of the remedies.
    fn substances(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        drugs: &[SentenceDrugs],
    ) -> (Vec<AllergenMention>, Vec<usize>) {
        let mut named = self.named_substances(doc, index, drugs);
        let first = named.first().map(|substance| substance.words.start);
        let mut given = Vec::new();
        named.retain(|s| {
            let is_given = is_treatment(doc, &s.words, &s.name, first == Some(s.words.start));
            given.extend(s.words.clone().filter(|_| is_given));
            !is_given
        });
        (named, given)
    }

    fn first(&self, matcher: &PhraseMatcher, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> Option<Range<usize>> {
        words.clone().find_map(|word| matcher.at(doc.reading, word)).map(|hit| hit.words)
    }

    /// The substances of a list: up to the word that leaves it, or to one with a strength, which is taken.
    fn governed(
        &self,
        doc: &AnalyzedDocument<'_>,
        within: Range<usize>,
        substances: &[AllergenMention],
    ) -> Vec<AllergenMention> {
        let left = within.clone().find(|word| self.leaves(doc, *word)).unwrap_or(within.end);
        let inside = |s: &&AllergenMention| s.words.start < left && !is_dosed(doc, s.words.end);
        substances.iter().take_while(inside).cloned().collect()
    }

    /// "Takes", "toma", "but": the words after these are no allergen any more.
    fn leaves(&self, doc: &AnalyzedDocument<'_>, word: usize) -> bool {
        self.scope_end.at(doc.reading, word).is_some()
    }

    fn take(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        frame: AllergyFrame,
        out: &mut AllergyFindings,
    ) {
        for substance in substances {
            if let Some(assertion) = doc.assertion(index, &substance.words) {
                self.push(doc, substance, &assertion, frame, out);
            }
        }
    }

    /// As [`Self::take`], under a title: a question that follows in the form ("amoxicillin. What happened?") is no doubt.
    fn take_listed(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        frame: AllergyFrame,
        out: &mut AllergyFindings,
    ) {
        let words = doc.reading.sentences[index].words.clone();
        for substance in substances {
            let Some(mut assertion) = doc.assertion(index, &substance.words) else { continue };
            let asks_later = words.clone().find(|word| doc.reading.word(*word) == "¿");
            let at_end = doc.reading.sentences[index].question && substance.words.start < words.start + 3;
            if asks_later.is_some_and(|sign| sign >= substance.words.end) || (asks_later.is_none() && at_end) {
                assertion.context.uncertain = false;
            }
            assertion.context.negated &= doc.scopes.plainly_denied(doc.reading, &substance.words)
                || doc.structure.boxes(index).iter().any(|_| true);
            // "Allopurinol – Stevens-Johnson, not to be given again": the denial concerns the use.
            let mentioned = self.reactions.find(doc.reading, substance.words.end..words.end);
            let following = |cue: &Range<usize>| {
                mentioned.iter().any(|r| substance.words.end <= cue.start && r.words.end <= cue.start)
            };
            let denials = doc.scopes.denials(doc.reading, &substance.words);
            if assertion.context.negated && !denials.is_empty() && denials.iter().all(following) {
                assertion.context.negated = false;
            }
            self.push(doc, substance, &assertion, frame, out);
        }
    }

    /// As [`Self::take`], after words that deny by themselves ("does not tolerate", "can't have").
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn take_alongside(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        cue: &Range<usize>,
        frame: AllergyFrame,
        out: &mut AllergyFindings,
    ) {
        for substance in substances {
            let Some(mut assertion) = doc.assertion(index, &substance.words) else { continue };
            let denied = doc.scopes.plainly_denied(doc.reading, &substance.words) || assertion.answered;
            assertion.context.negated &= denied && doc.scopes.denied_but_by(doc.reading, &substance.words, cue);
            self.push(doc, substance, &assertion, frame, out);
        }
    }

    fn push(
        &self,
        doc: &AnalyzedDocument<'_>,
        substance: &AllergenMention,
        assertion: &AssertionStatus,
        frame: AllergyFrame,
        out: &mut AllergyFindings,
    ) {
        let asserted = !assertion.context.uncertain && assertion.context.temporality != Temporality::Hypothetical;
        let words = &substance.words;
        // "Food: no" states something, "food: peanuts" only names the kind of the next item.
        let empty = substance.name == FOOD && !assertion.context.negated;
        let known = out.taken.contains(&words.start) || substance.drug && self.is_indicated(doc, words);
        if known || empty || (substance.class && !asserted && !assertion.context.negated) {
            return;
        }
        let kind = if frame == AllergyFrame::Allergy { EntityType::Allergy } else { EntityType::Intolerance };
        let Some(mut entity) = doc.entity(kind, words, substance.name.clone(), assertion) else { return };
        if is_of_labelled_relative(doc, words.start) {
            entity.context.experiencer = Experiencer::Family;
        }
        if frame == AllergyFrame::Effect {
            entity.confidence = entity.confidence.min(0.85);
            out.touched.extend(words.clone());
        } else {
            out.taken.extend(words.clone());
        }
        out.placed.retain(|known| known.words != *words);
        out.placed.push(AllergyMention { entity, words: words.clone(), frame, mentioned: None });
    }

    /// A document that names an allergy does not also state that there is none.
    fn drop_contradicted(&self, out: &mut AllergyFindings) {
        let positive = out.entities.iter().any(|entity| {
            let context = &entity.context;
            let asserted = !context.uncertain && context.temporality != Temporality::Hypothetical;
            entity.kind == EntityType::Allergy
                && !context.negated
                && asserted
                && context.experiencer == Experiencer::Patient
        });
        if positive {
            out.statements.clear();
        }
        out.statements.dedup();
    }

    /// Whether a sentence lists current medicines rather than intolerances.
    fn speaks_of_taking(&self, doc: &AnalyzedDocument<'_>, index: usize) -> bool {
        let words = doc.reading.sentences[index].words.clone();
        let allergic = words
            .clone()
            .any(|w| doc.reading.word(w).starts_with("alerg") || doc.reading.word(w).starts_with("allerg"));
        let reaction = || !self.reactions.find(doc.reading, words.clone()).is_empty();
        !allergic && self.taking.first(doc.reading, words.clone()).is_some() && !reaction()
    }
}

/// A strength right after the name: it is a medicine that is taken.
fn is_dosed(doc: &AnalyzedDocument<'_>, after: usize) -> bool {
    let word = doc.reading.word(after);
    let digits = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let unit =
        |word: &str| matches!(word, "mg" | "mcg" | "g" | "ml" | "ug" | "units" | "puffs" | "tablets" | "comprimidos");
    digits(word) && (word.ends_with("mg") || word.ends_with("mcg") || unit(doc.reading.word(after + 1)))
        || matches!(word, "od" | "bd" | "tds" | "nocte" | "prn" | "mane")
}

#[cfg(test)]
mod misreading_tests;
#[cfg(test)]
mod tests;
