//! Allergies and intolerances, and the statement that there are none.

mod none;
mod reactions;

use std::ops::Range;

use super::dialogue::{DialogueRules, Polarity};
use super::lexicon::{Lexicon, List, Mention, SPEECH, label};
use super::matcher::Matcher;
use super::medication::SentenceDrugs;
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
use super::structure::Section;
use super::{Entity, EntityType, Experiencer, Statement, Temporality};
use crate::text::Speaker;

/// Turns after which a question about allergies is forgotten.
const TOPIC_TURNS: usize = 8;
/// Words of an answer to a question about allergies; a longer sentence tells of something else.
const LONGEST_ANSWER: usize = 18;
/// Words between a substance that is named first and the word that says what it does.
const FRONTED: usize = 4;
/// Words, signs included, of a question that names substances and says hardly more ("And penicillin?").
const ELLIPSIS: usize = 6;
/// Words of a question that only follows up on the one before.
const SHORT_QUESTION: usize = 9;
pub struct AllergyRules {
    allergens: Lexicon,
    reactions: Lexicon,
    allergic: Matcher,
    intolerant: Matcher,
    asks: Matcher,
    other: Matcher,
    what_happens: Matcher,
    causes: Matcher,
    not_substance: Matcher,
    taking: Matcher,
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
pub struct Allergies {
    pub entities: Vec<Entity>,
    pub statements: Vec<Statement>,
    pub taken: Vec<usize>,
}

/// A substance named in a sentence, drug or not.
#[derive(Clone)]
struct Substance {
    words: Range<usize>,
    name: String,
    /// A whole class ("antibiotics"): worth a note only where it is asserted.
    class: bool,
}

impl Substance {
    fn of(mention: &Mention) -> Self {
        let class = mention.concept.group == "class";
        Self { words: mention.words.clone(), name: mention.concept.name.into(), class }
    }
}

impl AllergyRules {
    pub fn builtin(book: &mut Builder) -> Self {
        Self {
            allergens: Lexicon::load(book, List::Allergens),
            reactions: Lexicon::load(book, List::Reactions),
            allergic: label(book, SPEECH, "allergic_to"),
            intolerant: label(book, SPEECH, "intolerant_to"),
            asks: label(book, SPEECH, "ask_allergy"),
            other: label(book, SPEECH, "other"),
            what_happens: label(book, SPEECH, "what_happens"),
            causes: label(book, SPEECH, "causes"),
            not_substance: label(book, SPEECH, "not_substance"),
            taking: label(book, SPEECH, "tells_of_taking"),
        }
    }

    pub fn find(&self, scene: &Scene<'_>, dialogue: &DialogueRules, drugs: &[SentenceDrugs]) -> Allergies {
        let mut out = Allergies::default();
        // The turn in which somebody last asked about allergies, and who.
        let mut topic: Option<(usize, Speaker)> = None;
        for (index, sentence) in scene.sentences() {
            if speaks_of_microbes(scene, index) {
                continue;
            }
            let substances = self.substances(scene, index, drugs);
            // "What are you taking for allergies?" asks about medicines.
            let asks_allergy = self
                .first(&self.asks, scene, &sentence.words)
                .is_some_and(|cue| !matches!(scene.reading.word(cue.start.saturating_sub(1)), "for" | "para" | "your"));
            let asked = scene.is_dialogue() && scene.exchanges.asks(index);
            if let Some(list) = self.listed(scene, index) {
                let under: Vec<Substance> = substances.iter().filter(|s| s.words.start >= list.from).cloned().collect();
                self.take(scene, index, &under, list.status, &mut out);
            }
            self.stated(scene, index, &substances, &mut out);
            self.reacted(scene, index, &substances, &mut out);
            self.goes_on(scene, index, &substances, &mut out);
            self.reacted_to_it(scene, index, drugs, &mut out);
            if let Some(turn) = sentence.turn {
                let asker = topic.filter(|(since, _)| turn <= since + TOPIC_TURNS).map(|(_, asker)| asker);
                if asked && asks_allergy && sentence.speaker != Speaker::Patient {
                    let none = self.none_answered(scene, index, &substances, &mut out);
                    topic = (!none).then_some((turn, sentence.speaker));
                } else if asked && asker == Some(sentence.speaker) {
                    let about = self.still_about(scene, index);
                    if about {
                        self.confirmed(scene, index, &substances, &mut out);
                    }
                    topic = topic.filter(|_| about);
                } else if !asked
                    && asker.is_some_and(|asker| asker != sentence.speaker)
                    && !self.tells_of_taking(scene, index)
                {
                    let denies = dialogue.polarity(scene.reading, sentence) == Polarity::No && substances.len() != 1;
                    let brief = sentence.words.len() <= LONGEST_ANSWER || asks_allergy;
                    if !denies && brief {
                        self.take(scene, index, &substances, None, &mut out);
                    } else if denies && substances.len() == 2 && brief {
                        // "No, a la aspirina no, al Nolotil": what is denied was asked, what follows is answered.
                        self.take(scene, index, &substances, None, &mut out);
                    }
                }
            }
        }
        self.add_reactions(scene, &mut out);
        self.settle(&mut out);
        out
    }

    /// The substances of a sentence: drugs first, then everything else one may be allergic to.
    fn substances(&self, scene: &Scene<'_>, index: usize, drugs: &[SentenceDrugs]) -> Vec<Substance> {
        let words = scene.reading.sentences[index].words.clone();
        let mut out: Vec<Substance> = Vec::new();
        let slot = drugs.partition_point(|found| found.sentence < index);
        for mention in
            drugs.get(slot).filter(|found| found.sentence == index).into_iter().flat_map(|found| &found.mentions)
        {
            if mention.concept.group != "class" {
                out.push(Substance::of(mention));
            }
        }
        for mention in self.allergens.find(scene.reading, words) {
            if out.iter().all(|known| known.words.end <= mention.words.start || mention.words.end <= known.words.start)
            {
                out.push(Substance::of(&mention));
            }
        }
        out.sort_by_key(|substance| substance.words.start);
        out
    }

    fn first(&self, matcher: &Matcher, scene: &Scene<'_>, words: &Range<usize>) -> Option<Range<usize>> {
        words.clone().find_map(|word| matcher.at(scene.reading, word)).map(|hit| hit.words)
    }

    /// "Allergic to penicillin", "penicillin allergy", "Alergias: penicilina", "intolerante a la lactosa", "sin alergias".
    fn stated(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let words = scene.reading.sentences[index].words.clone();
        if scene.is_dialogue()
            && scene.exchanges.asks(index)
            && scene.reading.sentences[index].speaker != Speaker::Patient
        {
            return;
        }
        let intolerant = self.first(&self.intolerant, scene, &words);
        let Some(cue) = self.first(&self.allergic, scene, &words).or(intolerant.clone()) else {
            return self.none_in_words(scene, index, out);
        };
        let status = intolerant.filter(|other| *other == cue).map(|_| "intolerance");
        let end = (cue.end..words.end)
            .find(|&w| {
                matches!(scene.reading.word(w), ";" | "but" | "pero" | "takes" | "take" | "toma" | "tomar" | "aunque")
            })
            .unwrap_or(words.end);
        let mut governed: Vec<Substance> =
            substances.iter().filter(|s| s.words.start >= cue.start && s.words.start < end).cloned().collect();
        // "Penicillin allergy": the substance stands right before.
        governed.extend(substances.iter().filter(|s| s.words.end == cue.start).cloned());
        if governed.is_empty() {
            // "A la aspirina soy alérgico": named first.
            let fronted = |s: &&Substance| {
                let to = |offset: usize| matches!(scene.reading.word(s.words.start.wrapping_sub(offset)), "a" | "al");
                s.words.end <= cue.start && cue.start - s.words.end <= FRONTED && (to(1) || to(2))
            };
            governed.extend(substances.iter().filter(fronted).cloned());
        }
        if governed.is_empty() {
            governed.extend(self.unknown_substance(scene, &cue));
        }
        if governed.is_empty() {
            return self.none_in_words(scene, index, out);
        }
        self.take(scene, index, &governed, status, out);
    }

    /// "I have no allergies. The penicillin thing was when I was little.": the sentence after one about allergies, which
    /// names a substance and tells of nothing that is taken.
    fn goes_on(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let previous = index.checked_sub(1).map(|before| &scene.reading.sentences[before]);
        let Some(previous) = previous.filter(|previous| previous.turn.is_some() && previous.turn == sentence.turn)
        else {
            return;
        };
        let about = |words: &Range<usize>| self.first(&self.asks, scene, words).is_some();
        let dosed = sentence.words.clone().any(|word| scene.reading.word(word).bytes().any(|b| b.is_ascii_digit()));
        let brief = sentence.words.len() <= LONGEST_ANSWER && !dosed && !sentence.question;
        let word = |offset: usize| scene.reading.word(sentence.words.start + offset);
        let refers = matches!((word(0), word(1)), ("lo" | "eso" | "la" | "esa", "de" | "del")) || word(2) == "thing";
        let past = |s: &Substance| scene.contexts.of(scene.reading, &s.words).temporality == Temporality::Historical;
        if brief
            && (refers || substances.iter().any(past))
            && about(&previous.words)
            && !about(&sentence.words)
            && !self.tells_of_taking(scene, index)
        {
            self.take(scene, index, substances, None, out);
        }
    }

    /// Whether the asker's next question stays with allergies: a short one ("Ciprofloxacin?", "Are you sure?") or one
    /// about the reaction; "Are you still taking Zoloft?" has left them.
    fn still_about(&self, scene: &Scene<'_>, index: usize) -> bool {
        let words = &scene.reading.sentences[index].words;
        let reaction = self.first(&self.what_happens, scene, words).is_some();
        reaction || (words.len() <= SHORT_QUESTION && !self.tells_of_taking(scene, index))
    }

    /// "Ciprofloxacin?" — "Yes!": named by the one who asks, confirmed by the other.
    fn confirmed(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        // "Did they give you antibiotics?" speaks of something else; "Ciprofloxacin?" does not.
        let named: usize = substances.iter().map(|substance| substance.words.len()).sum();
        let elliptic = sentence.words.len() <= named + ELLIPSIS;
        let confirmed =
            elliptic && scene.exchanges.answer(index).is_some_and(|answer| answer.polarity == Polarity::Yes);
        let reaction = self.first(&self.what_happens, scene, &sentence.words).is_some();
        if confirmed && !reaction {
            self.take(scene, index, substances, None, out);
        }
    }

    fn take(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        status: Option<&'static str>,
        out: &mut Allergies,
    ) {
        for substance in substances {
            if let Some(stance) = scene.stance(index, &substance.words) {
                self.push(scene, substance, &stance, status, out);
            }
        }
    }

    fn push(
        &self,
        scene: &Scene<'_>,
        substance: &Substance,
        stance: &Stance,
        status: Option<&'static str>,
        out: &mut Allergies,
    ) {
        let asserted = !stance.context.uncertain && stance.context.temporality != Temporality::Hypothetical;
        if out.taken.contains(&substance.words.start) || (substance.class && !asserted) {
            return;
        }
        let Some(mut entity) = scene.entity(EntityType::Allergy, &substance.words, substance.name.clone(), stance)
        else {
            return;
        };
        entity.status = status.filter(|status| *status == "intolerance").map(str::to_owned);
        out.taken.extend(substance.words.clone());
        out.entities.push(entity);
    }

    /// A document that names an allergy does not also say there is none.
    fn settle(&self, out: &mut Allergies) {
        let positive = out.entities.iter().any(|entity| {
            let context = &entity.context;
            let asserted = !context.uncertain && context.temporality != Temporality::Hypothetical;
            !context.negated && asserted && context.experiencer == Experiencer::Patient && entity.status.is_none()
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
        !allergic && self.taking.first(scene.reading, words).is_some()
    }
}
