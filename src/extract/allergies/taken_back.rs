//! Allergies that are gone or never were: outgrown, tolerated since, entered in error, taken off the list.

use std::ops::Range;

use super::{Allergies, AllergyRules, Frame, Placed, WORDS};
use crate::extract::EntityType;
use crate::extract::lexicon::label;
use crate::extract::matcher::Matcher;
use crate::extract::phrasebook::Builder;
use crate::extract::scene::Scene;

/// Sentences after the one that names the allergen in which it may be taken back.
const NEXT_SENTENCES: usize = 2;
/// Words between "tolerated" and the name of what was tolerated.
const OBJECT: usize = 4;

pub(super) struct TakenBack {
    gone: Matcher,
    tolerated: Matcher,
}

impl TakenBack {
    pub fn builtin(book: &mut Builder) -> Self {
        Self { gone: label(book, WORDS, "gone"), tolerated: label(book, WORDS, "tolerated") }
    }
}

impl AllergyRules {
    /// What is taken back is denied: the chart may still say it elsewhere.
    pub(super) fn take_back(&self, scene: &Scene<'_>, out: &mut Allergies) {
        let places: Vec<Range<usize>> = out.placed.iter().map(|placed| placed.words.clone()).collect();
        for placed in out.placed.iter_mut().filter(|placed| placed.frame != Frame::Effect) {
            if !placed.entity.context.negated && self.is_taken_back(scene, placed, &places) {
                placed.entity.context.negated = true;
                placed.entity.context.uncertain = false;
                placed.entity.kind = EntityType::Allergy;
                placed.entity.reaction = None;
            }
        }
        // "Lactose intolerant and gluten intolerant. I'm not": what was said of the last of a list holds of all of it.
        for at in (1..out.placed.len()).rev() {
            let (first, second) = (&out.placed[at - 1], &out.placed[at]);
            let between = first.words.end..second.words.start.max(first.words.end);
            let joined = between.len() <= 3
                && between.clone().any(|word| matches!(scene.reading.word(word), "and" | "y" | "," | "or"))
                && scene.reading.sentence_of(first.words.start) == scene.reading.sentence_of(second.words.start);
            if joined
                && second.entity.context.negated
                && !first.entity.context.negated
                && first.entity.reaction.is_none()
            {
                out.placed[at - 1].entity.context.negated = true;
                out.placed[at - 1].entity.kind = EntityType::Allergy;
            }
        }
        for placed in out.placed.drain(..) {
            out.entities.push(placed.entity);
        }
    }

    fn is_taken_back(&self, scene: &Scene<'_>, placed: &Placed, places: &[Range<usize>]) -> bool {
        let reading = scene.reading;
        let index = reading.sentence_of(placed.words.start);
        let here = &reading.sentences[index];
        let next = places.iter().map(|other| other.start).filter(|start| *start >= placed.words.end).min();
        let previous = places.iter().map(|other| other.end).filter(|end| *end <= placed.words.start).max();
        let limit = next.unwrap_or(usize::MAX);
        for later in reading.sentences.iter().skip(index).take(NEXT_SENTENCES + 1) {
            let gap = scene.text().get(here.span.end..later.span.start).unwrap_or("");
            if later.turn != here.turn || (later.span != here.span && gap.contains('\n')) {
                break;
            }
            let from =
                if later.span == here.span { here.words.start.max(previous.unwrap_or(0)) } else { later.words.start };
            let words = from..later.words.end.min(limit);
            if words.is_empty() {
                break;
            }
            let gone = words.clone().find_map(|word| self.taken_back.gone.at(reading, word));
            let asked = later.question || scene.contexts.only_asked(reading, &words);
            if gone.is_some() && !asked {
                return true;
            }
            let tolerated = words.clone().find_map(|word| self.taken_back.tolerated.at(reading, word));
            if tolerated.is_some_and(|hit| self.of_the_same(scene, &hit.words, placed)) {
                return true;
            }
        }
        false
    }

    /// "Tolerated 300 mg", "tolerated amoxicillin since": not "tolerates cephalosporins", which is another substance.
    fn of_the_same(&self, scene: &Scene<'_>, tolerated: &Range<usize>, placed: &Placed) -> bool {
        let reading = scene.reading;
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
            || matches!(
                word(tolerated.end),
                "since"
                    | "in"
                    | "it"
                    | "without"
                    | "well"
                    | "fine"
                    | "now"
                    | "sin"
                    | "bien"
                    | "despues"
                    | "ahora"
                    | "with"
            )
            || object.clone().any(|at| word(at) == said)
    }
}
