//! Allergies and intolerances, and the statement that there are none.

mod apart;
mod asked;
mod borne;
mod challenged;
mod effects;
mod lists;
mod none;
mod owner;
mod reactions;
mod refutations;
mod refuted;
mod refuted_lists;
mod remedies;
mod stated;
mod stopped;
mod taken_back;
mod topic;

use std::ops::Range;

use effects::EffectWords;
pub(super) use none::says_none;
use owner::{OwnerWords, is_of_labelled_relative};
pub(super) use remedies::is_pen;
use remedies::{is_remedy, is_treatment};
use stopped::StoppedWords;
use taken_back::TakenBack;
use topic::Topic;

use super::dialogue::DialogueRules;
use super::lexicon::{Lexicon, List, Mention, SPEECH, label};
use super::matcher::Matcher;
use super::medication::{SELDOM, STEM, SentenceDrugs, is_bare};
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
use super::statements::is_current;
use super::structure::Section;
use super::{Entity, EntityType, Experiencer, Reaction, Statement, Temporality};
use anamnesis_text::Span;

/// Turns after which a question about allergies is forgotten.
const TOPIC_TURNS: usize = 8;
/// Words of an answer to a question about allergies; a longer sentence tells of something else.
const LONGEST_ANSWER: usize = 18;
/// Edible things in general.
const FOOD: &str = "food";
/// Words, signs included, of a question that names substances and says hardly more ("And penicillin?").
const ELLIPSIS: usize = 6;
/// Words of a question that only follows up on the one before.
const SHORT_QUESTION: usize = 9;
pub(crate) const WORDS: &str = include_str!("../lexicon/allergy_words.tsv");
/// Lines after a question in a text without turns in which it is answered.
const TOPIC_LINES: usize = 3;

pub(crate) struct AllergyRules {
    allergens: Lexicon,
    reactions: Lexicon,
    allergic: Matcher,
    intolerant: Matcher,
    asks: Matcher,
    other: Matcher,
    what_happens: Matcher,
    not_substance: Matcher,
    taking: Matcher,
    scope_end: Matcher,
    effects: EffectWords,
    owners: OwnerWords,
    stopped: StoppedWords,
    taken_back: TakenBack,
    reaction_title: Matcher,
}

/// How the text comes to speak of a substance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// As an allergy, in so many words.
    Allergy,
    /// As something that is not tolerated.
    Intolerance,
    /// By what it does alone.
    Effect,
}

/// A finding with the words that belong to it.
struct Placed {
    entity: Entity,
    words: Range<usize>,
    frame: Frame,
    /// What it did, where the rule that found it knows.
    told: Option<Reaction>,
}

/// Whether a sentence tells what a microbe is sensitive to, which says nothing of the patient.
fn speaks_of_microbes(scene: &Scene<'_>, index: usize) -> bool {
    let words = scene.reading.sentences[index].words.clone();
    let titled = matches!(
        scene.section(words.start.max(words.end.saturating_sub(1))),
        Some(Section::Antibiogram | Section::Vaccines)
    );
    titled
        || words.clone().any(|word| {
            matches!(
                scene.reading.word(word),
                "resistente" | "resistentes" | "resistant" | "isolate" | "aislamiento" | "ufc" | "cfu"
            )
        })
}

/// What the rules found: findings, statements, and the first words of the substances they took.
#[derive(Default)]
pub(crate) struct Allergies {
    pub(crate) entities: Vec<Entity>,
    pub(crate) statements: Vec<Statement>,
    /// First words of substances that are no medicine here.
    pub(crate) taken: Vec<usize>,
    /// First words of substances that are one only where a status or a dose says so.
    pub(crate) touched: Vec<usize>,
    /// Where reactions stand: no illnesses of their own.
    pub(crate) reactions: Vec<Span>,
    placed: Vec<Placed>,
}

/// A substance named in a sentence, drug or not.
#[derive(Clone)]
struct Substance {
    words: Range<usize>,
    name: String,
    /// A whole class ("antibiotics"): worth a note only where it is asserted.
    class: bool,
    /// It is in the list of medicines.
    drug: bool,
}

impl Substance {
    fn of(mention: &Mention, drug: bool) -> Self {
        let class = mention.concept.group == "class";
        Self { words: mention.words.clone(), name: mention.concept.name.into(), class, drug }
    }

    /// A medicine; one that no list names goes by the word itself.
    fn named(scene: &Scene<'_>, mention: &Mention) -> Self {
        let mut this = Self::of(mention, true);
        if mention.concept.group == STEM {
            this.name = scene.reading.word(mention.words.start).to_owned();
        }
        this
    }
}

impl AllergyRules {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        Self {
            allergens: Lexicon::load(book, List::Allergens),
            reactions: Lexicon::load(book, List::Reactions),
            allergic: label(book, SPEECH, "allergic_to"),
            intolerant: label(book, SPEECH, "intolerant_to"),
            asks: label(book, SPEECH, "ask_allergy"),
            other: label(book, SPEECH, "other"),
            what_happens: label(book, SPEECH, "what_happens"),
            not_substance: label(book, SPEECH, "not_substance"),
            taking: label(book, SPEECH, "tells_of_taking"),
            scope_end: label(book, WORDS, "scope_end"),
            effects: EffectWords::builtin(book),
            owners: OwnerWords::builtin(book),
            stopped: StoppedWords::builtin(book),
            taken_back: TakenBack::builtin(book),
            reaction_title: label(book, WORDS, "reaction_title"),
        }
    }

    pub(crate) fn find(&self, scene: &Scene<'_>, dialogue: &DialogueRules, drugs: &[SentenceDrugs]) -> Allergies {
        let mut out = Allergies::default();
        let mut topic = Topic::default();
        let mut list = lists::Open::default();
        let mut named: Option<(usize, Substance)> = None;
        for (index, sentence) in scene.sentences() {
            topic.pass(scene, index);
            if speaks_of_microbes(scene, index) {
                continue;
            }
            let (substances, given) = self.substances(scene, index, drugs);
            // What was given once against a reaction is no medicine either, unless a dose or a status says so.
            out.touched.extend(given);
            // "What are you taking for allergies?" asks about medicines.
            let asks_allergy = self
                .first(&self.asks, scene, &sentence.words)
                .is_some_and(|cue| !matches!(scene.reading.word(cue.start.saturating_sub(1)), "for" | "para" | "your"));
            let listed = self.listed(scene, index, &substances, &mut list);
            let in_list = listed.is_some();
            if let Some(listed) = listed {
                let mut under: Vec<Substance> =
                    substances.iter().filter(|s| s.words.start >= listed.from).cloned().collect();
                under.retain(|s| !is_remedy(scene.reading.word(s.words.start)));
                under.extend(self.unlisted(scene, listed.from..sentence.words.end, &under));
                under.sort_by_key(|substance| substance.words.start);
                let under = self.governed(scene, listed.from..sentence.words.end, &under);
                self.take_listed(scene, index, &under, listed.frame, &mut out);
                if under.is_empty() {
                    list.left |= self.none_listed(scene, index, listed.from, &mut out);
                }
            }
            self.stated(scene, index, &substances, &mut out);
            self.harmed(scene, index, &substances, &mut out);
            self.goes_on(scene, index, &substances, &mut out);
            self.reacted_to_it(scene, index, drugs, &mut out);
            let more = asks_allergy && substances.is_empty() && self.names_more(scene, index, drugs);
            self.asked(scene, index, dialogue, (&substances, more), asks_allergy && !in_list, &mut topic, &mut out);
            self.effects(scene, index, &substances, &mut out);
            self.ended_for(scene, index, &substances, &mut out);
            self.none_in_form(scene, index, &substances, &mut out);
            self.borne_in_challenge(scene, index, &substances, &mut out);
            self.borne_in_talk(scene, index, &substances, &mut out);
            if let Some((before, substance)) = named.take().filter(|_| substances.is_empty())
                && self.follows(scene, before, index)
            {
                self.ended_later(scene, index, &substance, &mut out);
                named = Some((before, substance));
            }
            if let [only] = substances.iter().filter(|s| s.drug && !s.class).cloned().collect::<Vec<_>>().as_slice() {
                named = Some((index, only.clone()));
            }
        }
        self.give_to_owners(scene, &mut out);
        self.add_reactions(scene, &mut out);
        self.take_back(scene, drugs, &mut out);
        self.settle(&mut out);
        out
    }

    /// The substances of a sentence: drugs first, then everything else one may be allergic to.
    fn named_substances(&self, scene: &Scene<'_>, index: usize, drugs: &[SentenceDrugs]) -> Vec<Substance> {
        let words = scene.reading.sentences[index].words.clone();
        let mut out: Vec<Substance> = Vec::new();
        let slot = drugs.partition_point(|found| found.sentence < index);
        for mention in
            drugs.get(slot).filter(|found| found.sentence == index).into_iter().flat_map(|found| &found.mentions)
        {
            if mention.concept.group != "class" {
                out.push(Substance::named(scene, mention));
            }
        }
        for mention in self.allergens.find(scene.reading, words) {
            if out.iter().all(|known| known.words.end <= mention.words.start || mention.words.end <= known.words.start)
            {
                out.push(Substance::of(&mention, false));
            }
        }
        // "Sick as a dog" is no dog.
        let reactions = self.reactions.find(scene.reading, scene.reading.sentences[index].words.clone());
        out.retain(|s| !reactions.iter().any(|r| r.words.len() > s.words.len() && r.words.contains(&s.words.start)));
        out.retain(|s| !is_pen(scene, &s.words));
        out.sort_by_key(|substance| substance.words.start);
        out
    }

    /// The substances of a sentence, without what was given against a reaction, and the words of that.
    fn substances(&self, scene: &Scene<'_>, index: usize, drugs: &[SentenceDrugs]) -> (Vec<Substance>, Vec<usize>) {
        let mut named = self.named_substances(scene, index, drugs);
        let first = named.first().map(|substance| substance.words.start);
        let mut given = Vec::new();
        named.retain(|s| {
            let is_given = is_treatment(scene, &s.words, &s.name, first == Some(s.words.start));
            given.extend(s.words.clone().filter(|_| is_given));
            !is_given
        });
        (named, given)
    }

    fn first(&self, matcher: &Matcher, scene: &Scene<'_>, words: &Range<usize>) -> Option<Range<usize>> {
        words.clone().find_map(|word| matcher.at(scene.reading, word)).map(|hit| hit.words)
    }

    /// The substances of a list: up to the word that leaves it, or to one with a strength, which is taken.
    fn governed(&self, scene: &Scene<'_>, within: Range<usize>, substances: &[Substance]) -> Vec<Substance> {
        let left = within.clone().find(|word| self.leaves(scene, *word)).unwrap_or(within.end);
        let inside = |s: &&Substance| s.words.start < left && !is_dosed(scene, s.words.end);
        substances.iter().take_while(inside).cloned().collect()
    }

    /// "Takes", "toma", "but": what follows is no allergen any more.
    fn leaves(&self, scene: &Scene<'_>, word: usize) -> bool {
        self.scope_end.at(scene.reading, word).is_some()
    }

    fn take(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], frame: Frame, out: &mut Allergies) {
        for substance in substances {
            if let Some(stance) = scene.stance(index, &substance.words) {
                self.push(scene, substance, &stance, frame, out);
            }
        }
    }

    /// As [`Self::take`], under a title: a question that follows in the form ("amoxicillin. What happened?") is no doubt.
    fn take_listed(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        frame: Frame,
        out: &mut Allergies,
    ) {
        let words = scene.reading.sentences[index].words.clone();
        for substance in substances {
            let Some(mut stance) = scene.stance(index, &substance.words) else { continue };
            let asks_later = words.clone().find(|word| scene.reading.word(*word) == "¿");
            let at_end = scene.reading.sentences[index].question && substance.words.start < words.start + 3;
            if asks_later.is_some_and(|sign| sign >= substance.words.end) || (asks_later.is_none() && at_end) {
                stance.context.uncertain = false;
            }
            stance.context.negated &= scene.contexts.plainly_denied(scene.reading, &substance.words)
                || scene.structure.boxes(index).iter().any(|_| true);
            // "Allopurinol – Stevens-Johnson, not to be given again": what is denied behind the reaction is another thing.
            let told = self.reactions.find(scene.reading, substance.words.end..words.end);
            let behind =
                |cue: &Range<usize>| told.iter().any(|r| substance.words.end <= cue.start && r.words.end <= cue.start);
            let denials = scene.contexts.denials(scene.reading, &substance.words);
            if stance.context.negated && !denials.is_empty() && denials.iter().all(behind) {
                stance.context.negated = false;
            }
            self.push(scene, substance, &stance, frame, out);
        }
    }

    /// As [`Self::take`], behind words that deny by themselves ("does not tolerate", "can't have").
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn take_beside(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        cue: &Range<usize>,
        frame: Frame,
        out: &mut Allergies,
    ) {
        for substance in substances {
            let Some(mut stance) = scene.stance(index, &substance.words) else { continue };
            let denied = scene.contexts.plainly_denied(scene.reading, &substance.words) || stance.answered;
            stance.context.negated &= denied && scene.contexts.denied_but_by(scene.reading, &substance.words, cue);
            self.push(scene, substance, &stance, frame, out);
        }
    }

    fn push(&self, scene: &Scene<'_>, substance: &Substance, stance: &Stance, frame: Frame, out: &mut Allergies) {
        let asserted = !stance.context.uncertain && stance.context.temporality != Temporality::Hypothetical;
        let words = &substance.words;
        // "Food: no" says something, "food: peanuts" only says of what kind the next one is.
        let empty = substance.name == FOOD && !stance.context.negated;
        let known = out.taken.contains(&words.start) || substance.drug && self.is_indicated(scene, words);
        if known || empty || (substance.class && !asserted && !stance.context.negated) {
            return;
        }
        let kind = if frame == Frame::Allergy { EntityType::Allergy } else { EntityType::Intolerance };
        let Some(mut entity) = scene.entity(kind, words, substance.name.clone(), stance) else { return };
        if is_of_labelled_relative(scene, words.start) {
            entity.context.experiencer = Experiencer::Family;
        }
        if frame == Frame::Effect {
            entity.confidence = entity.confidence.min(0.85);
            out.touched.extend(words.clone());
        } else {
            out.taken.extend(words.clone());
        }
        out.placed.retain(|known| known.words != *words);
        out.placed.push(Placed { entity, words: words.clone(), frame, told: None });
    }

    /// A document that names an allergy does not also say there is none.
    fn settle(&self, out: &mut Allergies) {
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

    /// Whether a sentence tells what is taken rather than what is not tolerated.
    fn tells_of_taking(&self, scene: &Scene<'_>, index: usize) -> bool {
        let words = scene.reading.sentences[index].words.clone();
        let allergic = words
            .clone()
            .any(|w| scene.reading.word(w).starts_with("alerg") || scene.reading.word(w).starts_with("allerg"));
        let reaction = || !self.reactions.find(scene.reading, words.clone()).is_empty();
        !allergic && self.taking.first(scene.reading, words.clone()).is_some() && !reaction()
    }
}

/// A strength stands right after the name: it is a medicine that is taken.
fn is_dosed(scene: &Scene<'_>, after: usize) -> bool {
    let word = scene.reading.word(after);
    let digits = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let unit =
        |word: &str| matches!(word, "mg" | "mcg" | "g" | "ml" | "ug" | "units" | "puffs" | "tablets" | "comprimidos");
    digits(word) && (word.ends_with("mg") || word.ends_with("mcg") || unit(scene.reading.word(after + 1)))
        || matches!(word, "od" | "bd" | "tds" | "nocte" | "prn" | "mane")
}

/// What is known by its effect alone, once all of the document is read: a side effect of what is still taken is no
/// intolerance. And what is an allergen of the patient's is no medicine because it is named: of nineteen such bare names in
/// whole documents none was one that is taken.
pub(super) fn reconsider(entities: &mut Vec<Entity>) {
    let own = |entity: &Entity| entity.context.experiencer == Experiencer::Patient && !entity.context.negated;
    let allergen =
        |entity: &&Entity| matches!(entity.kind, EntityType::Allergy | EntityType::Intolerance) && own(entity);
    let allergens: Vec<String> = entities.iter().filter(allergen).map(|entity| entity.value.clone()).collect();
    for entity in entities.iter_mut().filter(|entity| own(entity) && is_bare(entity)) {
        if allergens.contains(&entity.value) {
            entity.confidence = entity.confidence.min(SELDOM);
        }
    }
    let taken: Vec<String> =
        entities.iter().filter(|entity| is_current(entity)).map(|entity| entity.value.clone()).collect();
    let stopped = |value: &str, entities: &[Entity]| {
        entities
            .iter()
            .any(|e| e.kind == EntityType::Medication && e.value == value && e.status.as_deref() == Some("stopped"))
    };
    let borne: Vec<bool> = entities
        .iter()
        .map(|entity| {
            let told = entity.status.as_deref() == Some(effects::EFFECT) && entity.kind == EntityType::Intolerance;
            told && taken.contains(&entity.value) && !stopped(&entity.value, entities)
        })
        .collect();
    let mut borne = borne.into_iter();
    entities.retain(|_| !borne.next().unwrap_or(false));
    for entity in entities.iter_mut().filter(|entity| entity.status.as_deref() == Some(effects::EFFECT)) {
        entity.status = None;
    }
}

#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod tests;
