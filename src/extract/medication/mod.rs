//! Medicines: which, how much, how often, and whether they are taken now.

mod dose;
mod frequency;
mod laboratory;
mod regimen;
mod stems;

use std::ops::Range;

pub(super) use regimen::REGIMEN;
use regimen::{Regimen, RegimenRules};
use stems::is_named_by_stem;

use super::allergies::Allergies;
use super::lexicon::{Concept, Lexicon, List, Mention, SPEECH, label};
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
use super::structure::Section;
use super::{Entity, EntityType, RegimenPlaces, Temporality};
use crate::text::Speaker;

/// What was done with a medicine, told by the words around it; the first that applies from the top.
const STATUSES: [&str; 7] = ["stopped", "past_use", "not_adherent", "changed", "started", "suggested", "taking"];
/// Words of a sentence in which a bare number may answer for a dose.
const LONGEST_ANSWER: usize = 12;
/// The group of a medicine that no list names, known by the stem of its name.
pub(super) const STEM: &str = "stem";
/// Words before a mention in which its verb is looked for.
const VERB_REACH: usize = 14;

pub struct MedicationRules {
    drugs: Lexicon,
    regimen: RegimenRules,
    statuses: Vec<(&'static str, Matcher)>,
    ask: Matcher,
    not_taken: Matcher,
    visit: Matcher,
    ask_dose: Matcher,
    allergy: Matcher,
}

/// Drug mentions of one sentence.
pub struct SentenceDrugs {
    pub sentence: usize,
    pub mentions: Vec<Mention>,
}

impl MedicationRules {
    pub fn builtin(book: &mut Builder) -> Self {
        Self {
            drugs: Lexicon::load(book, List::Drugs),
            regimen: RegimenRules::builtin(book),
            statuses: STATUSES.iter().map(|status| (*status, label(book, SPEECH, status))).collect(),
            ask: label(book, SPEECH, "ask_medication"),
            not_taken: label(book, SPEECH, "not_taken"),
            visit: label(book, SPEECH, "visit"),
            ask_dose: label(book, SPEECH, "ask_dose"),
            allergy: label(book, SPEECH, "ask_allergy"),
        }
    }

    /// All drug names, sentence by sentence: allergies look at them first.
    pub fn mentions(&self, scene: &Scene<'_>) -> Vec<SentenceDrugs> {
        scene
            .sentences()
            .map(|(index, sentence)| SentenceDrugs { sentence: index, mentions: self.named(scene, &sentence.words) })
            .filter(|found| !found.mentions.is_empty())
            .collect()
    }

    /// Names of the list, and words built like the name of a medicine.
    fn named(&self, scene: &Scene<'_>, words: &Range<usize>) -> Vec<Mention> {
        let mut mentions = self.drugs.find(scene.reading, words.clone());
        let listed = mentions.len();
        for word in words.clone() {
            if !is_named_by_stem(scene.reading.word(word))
                || mentions[..listed].iter().any(|mention| mention.words.contains(&word))
            {
                continue;
            }
            let concept = Concept { group: STEM, name: STEM, code: None };
            mentions.push(Mention { words: word..word + 1, concept });
        }
        mentions.retain(|mention| !is_ordinary_word(scene, mention));
        mentions.retain(|mention| !laboratory::is_measured(scene.reading, words, mention));
        mentions.sort_by_key(|mention| mention.words.start);
        mentions
    }

    /// Medicines among the mentions that no allergy has taken .
    pub fn find(&self, scene: &Scene<'_>, drugs: &[SentenceDrugs], allergies: &Allergies, out: &mut Vec<Entity>) {
        for (slot, found) in drugs.iter().enumerate() {
            let sentence = &scene.reading.sentences[found.sentence];
            for (nth, mention) in found.mentions.iter().enumerate() {
                if allergies.taken.contains(&mention.words.start) {
                    continue;
                }
                let Some(stance) =
                    scene.stance(found.sentence, &mention.words).or_else(|| self.told_how(scene, found, mention))
                else {
                    continue;
                };
                let previous =
                    nth.checked_sub(1).map_or(sentence.words.start, |before| found.mentions[before].words.end);
                let next = found.mentions.get(nth + 1).map_or(sentence.words.end, |after| after.words.start);
                let regimen = self.regimen.read(
                    scene.reading,
                    &mention.words,
                    previous..mention.words.start,
                    mention.words.end..next,
                );
                let stance = self.corrected(scene, found.sentence, regimen.dose.is_some(), stance);
                let last = nth + 1 == found.mentions.len();
                let regimen =
                    if last { self.follow_up(scene, found.sentence, drugs.get(slot + 1), regimen) } else { regimen };
                let entity = self.entity(scene, mention, sentence.words.clone(), stance, regimen);
                // A medicine beside the word "allergy" is not thereby taken: only what is said of its use tells.
                let told = |entity: &Entity| entity.status.is_some() || entity.dose.is_some();
                let of_allergy = allergies.touched.contains(&mention.words.start)
                    || self.allergy.first(scene.reading, sentence.words.clone()).is_some();
                out.extend(entity.filter(|entity| !of_allergy || told(entity)));
            }
        }
    }

    /// "You take a hundred of sertraline, right?" — "No, fifty.": the number is denied, not the medicine.
    fn corrected(&self, scene: &Scene<'_>, sentence: usize, dosed: bool, mut stance: Stance) -> Stance {
        if !(dosed && stance.answered && stance.context.negated) {
            return stance;
        }
        let numbered = |words: &Range<usize>| self.regimen.answered_dose(scene.reading, words.clone()).is_some();
        let answer = scene.exchanges.answer(sentence).map(|answer| &scene.reading.sentences[answer.sentence].words);
        if answer.is_some_and(|words| words.len() <= LONGEST_ANSWER && numbered(words)) {
            stance.context.negated = false;
        }
        stance
    }

    /// "How much lithium?" — "Four hundred": the answer says how it is taken, and so that it is.
    fn told_how(&self, scene: &Scene<'_>, found: &SentenceDrugs, mention: &Mention) -> Option<Stance> {
        let answer = scene.exchanges.answer(found.sentence)?;
        let given = &scene.reading.sentences[answer.sentence];
        if given.speaker == scene.reading.sentences[found.sentence].speaker || given.question {
            return None;
        }
        let said = self.regimen.read_words(scene.reading, given.words.clone());
        let dose = said.dose.or_else(|| {
            let short = given.words.len() <= LONGEST_ANSWER;
            short.then(|| self.regimen.answered_dose(scene.reading, given.words.clone())).flatten()
        });
        (dose.is_some() || said.frequency.is_some())
            .then(|| scene.answered(found.sentence, answer.sentence, &mention.words))
    }

    fn entity(
        &self,
        scene: &Scene<'_>,
        mention: &Mention,
        words: Range<usize>,
        stance: Stance,
        regimen: Regimen,
    ) -> Option<Entity> {
        let mut entity = scene.entity(EntityType::Medication, &mention.words, mention.concept.name.into(), &stance)?;
        let section = scene.section(mention.words.start);
        if matches!(section, Some(Section::Antibiogram | Section::Vaccines)) {
            return None;
        }
        let titled = section.and_then(status_of);
        // A title that tells the status says more than a verb among the words below it; "Medications" says less.
        let status = match titled {
            Some("taking") | None => self.status(scene, &mention.words, &words).or(titled),
            decided => decided,
        };
        entity.status = match status {
            Some("stopped" | "past_use") => Some("stopped"),
            Some("not_adherent") => Some("not_adherent"),
            Some("suggested") => Some("suggested"),
            Some(other) if !entity.context.negated => Some(if other == "taking" { "active" } else { other }),
            Some("on_hold") => Some("on_hold"),
            _ if entity.context.negated => Some("not_taken"),
            _ if stance.answered => Some("active"),
            _ => None,
        }
        .map(str::to_owned);
        if status == Some("past_use") && entity.context.temporality == Temporality::Recent {
            entity.context.temporality = Temporality::Historical;
        }
        if status == Some("suggested") && entity.context.temporality == Temporality::Recent {
            entity.context.temporality = Temporality::Hypothetical;
        }
        let place = |said: &Option<regimen::Said>| said.as_ref().map(|said| scene.reading.source(&said.words));
        entity.places = RegimenPlaces {
            dose: place(&regimen.dose),
            route: place(&regimen.route),
            frequency: place(&regimen.frequency),
        };
        let text = |said: Option<regimen::Said>| said.map(|said| said.text);
        (entity.dose, entity.route, entity.frequency) =
            (text(regimen.dose), text(regimen.route), text(regimen.frequency));
        if mention.concept.group == STEM {
            entity.confidence = entity.confidence.min(0.7);
            entity.value = scene.reading.word(mention.words.start).to_owned();
        }
        Some(entity)
    }

    /// The verb nearest before the mention within its clause; else one right after it ("sertralina suspendida").
    fn status(&self, scene: &Scene<'_>, mention: &Range<usize>, within: &Range<usize>) -> Option<&'static str> {
        // "Me recetaron Rivotril pero no lo tomo": what is done with it comes after its name.
        let refused = (mention.end..within.end.min(mention.end + VERB_REACH))
            .take_while(|word| self.drugs.find(scene.reading, *word..*word + 1).is_empty())
            .any(|word| self.not_taken.at(scene.reading, word).is_some());
        if refused {
            return Some("stopped");
        }
        let start = mention.start.saturating_sub(VERB_REACH).max(within.start);
        let mut best: Option<(usize, usize, &'static str)> = None;
        for word in start..mention.start {
            if matches!(scene.reading.word(word), ";" | "but" | "pero" | "." | "aunque") {
                best = None;
                continue;
            }
            for (name, verbs) in &self.statuses {
                let Some(hit) = verbs.at(scene.reading, word).filter(|hit| hit.words.end <= mention.start) else {
                    continue;
                };
                // The nearest verb counts; of two that end together, the longer.
                let better = best
                    .is_none_or(|(end, len, _)| hit.words.end > end || (hit.words.end == end && hit.words.len() > len));
                if better {
                    best = Some((hit.words.end, hit.words.len(), name));
                }
            }
        }
        let after = mention.end..(mention.end + 6).min(within.end);
        let behind = after.clone().find_map(|word| {
            if matches!(scene.reading.word(word), "," | ";" | "y" | "and" | "pero" | "but") {
                return Some(None);
            }
            // "Since a year ago" is still so; "a year ago" is not.
            if matches!(scene.reading.word(word.saturating_sub(1)), "desde" | "since") {
                return None;
            }
            let hit = self.statuses.iter().take(2).find(|(_, verbs)| verbs.at(scene.reading, word).is_some());
            hit.map(|(name, _)| Some(*name))
        });
        behind.flatten().or(best.map(|(_, _, name)| name))
    }

    /// Dose and frequency that the next two turns add or correct, before another medicine is named.
    fn follow_up(&self, scene: &Scene<'_>, sentence: usize, next: Option<&SentenceDrugs>, regimen: Regimen) -> Regimen {
        let mut regimen = regimen;
        let here = &scene.reading.sentences[sentence];
        let Some(turn) = here.turn else { return regimen };
        let until = next.map_or(scene.reading.sentences.len(), |drugs| drugs.sentence);
        // "And the fluoxetine?" leaves open what is asked; "how many attacks?" asks for no dose.
        let mut about_dose = here.question || regimen.dose.is_none();
        for later in scene.reading.sentences.iter().take(until.min(sentence + 6)).skip(sentence + 1) {
            if later.turn.is_none_or(|t| t > turn + 2)
                || later.speaker == Speaker::Agent
                || self.asks(scene, &later.words)
            {
                break;
            }
            let said = self.regimen.read_words(scene.reading, later.words.clone());
            // The patient corrects what was said before; a clinician who asks "100?" does not.
            let asserts = later.speaker != Speaker::Clinician || !later.question;
            let with_unit = said.dose.as_ref().is_some_and(|dose| dose.text.contains(' '));
            let answers = later.turn != Some(turn) && later.words.len() <= LONGEST_ANSWER;
            if later.question {
                about_dose = self.asks_dose(scene, &later.words) || said.dose.is_some();
            }
            if with_unit && asserts {
                regimen.dose = said.dose;
            } else if asserts && answers && about_dose {
                let bare = self.regimen.answered_dose(scene.reading, later.words.clone());
                regimen.dose = bare.or(regimen.dose);
            }
            // "We could space the sessions to once a month" is no dosage.
            if self.visit.first(scene.reading, later.words.clone()).is_none() {
                regimen.frequency = regimen.frequency.or(said.frequency);
            }
            regimen.route = regimen.route.or(said.route);
        }
        regimen
    }

    /// "How much?", "what dose?", but not "how long?".
    fn asks_dose(&self, scene: &Scene<'_>, words: &Range<usize>) -> bool {
        words.clone().any(|word| self.ask_dose.at(scene.reading, word).is_some())
    }

    /// Whether words ask about medicines in general.
    pub fn asks(&self, scene: &Scene<'_>, words: &Range<usize>) -> bool {
        words.clone().any(|word| self.ask.at(scene.reading, word).is_some())
    }
}

/// What the title above a medicine says of it.
fn status_of(section: Section) -> Option<&'static str> {
    match section {
        Section::Stopped => Some("stopped"),
        Section::Tried => Some("past_use"),
        Section::Held => Some("on_hold"),
        Section::Started => Some("started"),
        Section::Changed => Some("changed"),
        Section::Unchanged | Section::Medications => Some("taking"),
        _ => None,
    }
}

/// Abbreviations of medicines that are words in lower case ("nac." of a date of birth, "asa" of a cup).
const ABBREVIATIONS: &[&str] = &["nac", "lai", "asa", "aza", "coc", "aco", "t4", "thm", "ild", "pred", "ocp", "nrt"];

/// An abbreviation that stands in lower case, without an amount.
fn is_ordinary_word(scene: &Scene<'_>, mention: &Mention) -> bool {
    let reading = scene.reading;
    let word = reading.word(mention.words.start);
    let source = reading.source(&mention.words).of(reading.text);
    mention.words.len() == 1
        && ABBREVIATIONS.contains(&word)
        && source.chars().any(char::is_lowercase)
        && !reading.word(mention.words.end).starts_with(|c: char| c.is_ascii_digit())
}
