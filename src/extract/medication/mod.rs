//! Medicines: which, how much, how often, and whether they are taken now.

mod dose;
mod frequency;
mod laboratory;
mod regimen;
mod status;
mod stems;
mod units;

use std::ops::Range;

pub(super) use regimen::REGIMEN;
use regimen::{Regimen, RegimenRules};
pub(super) use status::WORDS;
use status::{Around, Status, StatusRules};
use stems::is_named_by_stem;

use super::allergies::Allergies;
use super::lexicon::{Concept, Lexicon, List, Mention, SPEECH, label};
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
use super::structure::Section;
use super::{Entity, EntityType, Experiencer, RegimenPlaces, Temporality};
use crate::domain::wording::person;
use crate::text::Speaker;

/// Words of a sentence in which a bare number may answer for a dose.
const LONGEST_ANSWER: usize = 12;
/// Bytes of a line that is not wrapped.
const SHORT_LINE: usize = 64;
/// Sentences of an answer in which the fate of a medicine is told.
const ANSWERING_SENTENCES: usize = 3;
/// Sentences below a question in a text without turns in which it is answered.
const LINES_BELOW: usize = 4;
/// Words between a denial and the medicine that it denies.
const DENIAL_REACH: usize = 6;
/// The group of a medicine that no list names, known by the stem of its name.
pub(super) const STEM: &str = "stem";
pub struct MedicationRules {
    drugs: Lexicon,
    regimen: RegimenRules,
    statuses: StatusRules,
    ask: Matcher,
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
            statuses: StatusRules::builtin(book),
            ask: label(book, SPEECH, "ask_medication"),
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
        // "Insulina NPH": one medicine, named twice.
        let beside: Vec<usize> = mentions
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| pair[0].words.end == pair[1].words.start)
            .filter_map(|(at, pair)| match (pair[0].concept.name, pair[1].concept.name) {
                ("insulin", other) if other.contains("insulin") => Some(at),
                (other, "insulin") if other.contains("insulin") => Some(at + 1),
                _ => None,
            })
            .collect();
        let mut at = 0;
        mentions.retain(|_| {
            at += 1;
            !beside.contains(&(at - 1))
        });
        mentions
    }

    /// Medicines among the mentions that no allergy has taken.
    pub fn find(&self, scene: &Scene<'_>, drugs: &[SentenceDrugs], allergies: &Allergies, out: &mut Vec<Entity>) {
        for (slot, found) in drugs.iter().enumerate() {
            for (nth, mention) in found.mentions.iter().enumerate() {
                if !allergies.taken.contains(&mention.words.start) {
                    let touched = allergies.touched.contains(&mention.words.start);
                    out.extend(self.medicine(scene, drugs, (slot, nth), touched));
                }
            }
        }
    }

    /// One mention, with all that the document says of it there.
    fn medicine(
        &self,
        scene: &Scene<'_>,
        drugs: &[SentenceDrugs],
        (slot, nth): (usize, usize),
        touched: bool,
    ) -> Option<Entity> {
        let found = &drugs[slot];
        let mention = &found.mentions[nth];
        let sentence = &scene.reading.sentences[found.sentence];
        let answered = self.elliptic(scene, drugs, slot, nth);
        let stance = scene
            .stance(found.sentence, &mention.words)
            .or_else(|| answered.map(|(answer, _)| scene.answered(found.sentence, answer, &mention.words)))
            .or_else(|| self.told_how(scene, found, mention))?;
        let previous = nth.checked_sub(1).map_or(sentence.words.start, |before| found.mentions[before].words.end);
        let next = found.mentions.get(nth + 1).map_or(sentence.words.end, |after| after.words.start);
        let line = line_of(scene, &sentence.words, mention.words.start);
        let around = Around {
            before: previous.max(line.start)..mention.words.start,
            after: mention.words.end..next.min(line.end).max(mention.words.end),
            sentence: line,
        };
        let mut stance = stance;
        if is_of_relative(scene, &around, mention.words.start) {
            stance.context.experiencer = Experiencer::Family;
        }
        let regimen = self.regimen.read(scene.reading, &mention.words, around.before.clone(), around.after.clone());
        let stance = self.corrected(scene, found.sentence, regimen.dose.is_some(), stance);
        let last = nth + 1 == found.mentions.len();
        let regimen = if last { self.follow_up(scene, found.sentence, drugs.get(slot + 1), regimen) } else { regimen };
        let status = self.status(scene, found, nth, &around, answered.map(|(_, status)| status));
        let status = status.or_else(|| if last { self.next_sentence(scene, drugs, slot) } else { None });
        let entity = self.entity(scene, mention, (status, stance), regimen)?;
        // A medicine beside the word "allergy" is not thereby taken: only what is said of its use tells.
        let of_allergy = touched || self.allergy.first(scene.reading, sentence.words.clone()).is_some();
        (!of_allergy || entity.status.is_some() || entity.dose.is_some()).then_some(entity)
    }

    /// What the words around it say, with "switched to" between two medicines.
    fn status(
        &self,
        scene: &Scene<'_>,
        found: &SentenceDrugs,
        nth: usize,
        around: &Around,
        answered: Option<Status>,
    ) -> Option<Status> {
        let reading = scene.reading;
        let mention = &found.mentions[nth].words;
        if answered.is_some() {
            return answered;
        }
        if let Some(next) = found.mentions.get(nth + 1)
            && self.statuses.takes_over(reading, mention.end..next.words.start)
        {
            return Some(Status::Stopped);
        }
        let linked = nth > 0 && self.regimen.is_list(reading, around.before.clone());
        let status = self.statuses.of(scene, mention, around, linked);
        let replaces = nth > 0 && self.statuses.takes_over(reading, around.before.clone());
        match status {
            Some(Status::Stopped | Status::Changed) | None if replaces => Some(Status::Started),
            status => status,
        }
    }

    /// The next sentence of the same turn and line, where it goes on about the medicine and names no other.
    fn next_sentence(&self, scene: &Scene<'_>, drugs: &[SentenceDrugs], slot: usize) -> Option<Status> {
        let index = drugs[slot].sentence;
        let (here, next) = (&scene.reading.sentences[index], scene.reading.sentences.get(index + 1)?);
        let gap = scene.text().get(here.span.end..next.span.start)?;
        let named = drugs.get(slot + 1).is_some_and(|found| found.sentence == index + 1);
        let same = next.turn == here.turn && next.speaker == here.speaker && !gap.contains('\n');
        (same && !named && !next.question && drugs[slot].mentions.len() == 1)
            .then(|| self.statuses.goes_on(scene.reading, next.words.clone()))
            .flatten()
    }

    /// "And the lithium?" — "Haven't touched it since May": the sentence that answers, and what it says of the medicine that
    /// the question named last.
    fn elliptic(&self, scene: &Scene<'_>, drugs: &[SentenceDrugs], slot: usize, nth: usize) -> Option<(usize, Status)> {
        let found = &drugs[slot];
        let asked = &scene.reading.sentences[found.sentence];
        if nth + 1 != found.mentions.len() || !scene.exchanges.asks(found.sentence) {
            return None;
        }
        let until = drugs.get(slot + 1).map_or(usize::MAX, |next| next.sentence);
        let Some(turn) = asked.turn else { return self.answered_below(scene, found.sentence, until) };
        let mut heard = 0;
        for (index, sentence) in scene.reading.sentences.iter().enumerate().skip(found.sentence + 1) {
            if index >= until || sentence.turn.is_none_or(|t| t > turn + 2) || heard >= ANSWERING_SENTENCES {
                return None;
            }
            if sentence.speaker == asked.speaker || sentence.speaker == Speaker::Agent {
                if sentence.turn.is_some_and(|t| t > turn) && sentence.question {
                    return None;
                }
                continue;
            }
            heard += 1;
            if let Some(status) = self.statuses.answered(scene.reading, sentence.words.clone()) {
                return Some((index, status));
            }
        }
        None
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

    /// As [`Self::elliptic`], in a chat that came as one text: the lines below the question.
    fn answered_below(&self, scene: &Scene<'_>, question: usize, until: usize) -> Option<(usize, Status)> {
        let asked = &scene.reading.sentences[question];
        let below = scene.reading.sentences.iter().enumerate().skip(question + 1).take(LINES_BELOW);
        for (index, sentence) in below.take_while(|(index, _)| *index < until) {
            let gap = scene.text().get(asked.span.end..sentence.span.start)?;
            if sentence.question || gap.contains("\n\n") {
                return None;
            }
            if gap.contains('\n')
                && let Some(status) = self.statuses.answered(scene.reading, sentence.words.clone())
            {
                return Some((index, status));
            }
        }
        None
    }

    fn entity(
        &self,
        scene: &Scene<'_>,
        mention: &Mention,
        (told, stance): (Option<Status>, Stance),
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
            Some(Status::Active) | None => told.or(titled),
            decided => decided,
        };
        self.settle_denial(scene, &mention.words, status, stance.answered, &mut entity);
        let negated = entity.context.negated;
        entity.status = match status {
            Some(Status::Active | Status::Started | Status::Changed) if negated => Some("not_taken"),
            Some(status) => status.code(),
            None if negated => Some("not_taken"),
            None if stance.answered => Some("active"),
            None => None,
        }
        .map(str::to_owned);
        let recent = entity.context.temporality == Temporality::Recent;
        match status {
            Some(Status::Suggested | Status::NotMeant) if recent => entity.context.temporality = Temporality::Hypothetical,
            // A doubt about what is over or never was is none about the medicine.
            Some(Status::Stopped | Status::NotTaken | Status::Declined) => entity.context.uncertain = false,
            _ => {}
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
        entity.dose = entity.dose.map(|dose| units::with_usual_unit(&entity.value, mention.concept.group, dose));
        Some(entity)
    }

    /// "Se suspende X", "X was stopped": ended, not denied. "Never took X": denied, whatever stands between. A denial farther
    /// away than its words reach, before a medicine with a strength of its own, is not its.
    fn settle_denial(
        &self,
        scene: &Scene<'_>,
        words: &Range<usize>,
        status: Option<Status>,
        answered: bool,
        entity: &mut Entity,
    ) {
        let plainly = scene.contexts.plainly_denied(scene.reading, words);
        let sentence = &scene.reading.sentences[scene.reading.sentence_of(words.start)].words;
        let line = line_of(scene, sentence, words.start);
        let reach = if line.start > sentence.start { DENIAL_REACH.min(words.start - line.start) } else { DENIAL_REACH };
        let near = scene.contexts.denied_near(scene.reading, words, reach);
        match status {
            Some(Status::NotTaken) => entity.context.negated = true,
            Some(Status::Stopped | Status::Declined | Status::OnHold | Status::Suggested | Status::NotMeant) => {
                entity.context.negated = false;
            }
            Some(_) if !answered => entity.context.negated &= plainly && near,
            None if !answered => entity.context.negated &= near,
            _ => {}
        }
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
            if let Some(at) = self.statuses.changed_to(scene.reading, later.words.clone())
                && let Some(dose) = self.regimen.answered_dose(scene.reading, at..later.words.end.min(at + 3))
            {
                regimen.dose = Some(dose);
                continue;
            }
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

/// The words of a sentence that stand in the line of a mention. A short line is one of a list; a long one may be wrapped.
fn line_of(scene: &Scene<'_>, sentence: &Range<usize>, mention: usize) -> Range<usize> {
    let reading = scene.reading;
    let ends_line = |word: usize| {
        let (Some(here), Some(next)) = (reading.words.get(word), reading.words.get(word + 1)) else { return false };
        let gap = reading.text.get(here.source.end..next.source.start).unwrap_or("");
        let start = reading.text[..here.source.end].rfind('\n').map_or(0, |at| at + 1);
        gap.contains('\n') && here.source.end - start <= SHORT_LINE
    };
    let start = (sentence.start..mention).rev().find(|word| ends_line(*word)).map_or(sentence.start, |word| word + 1);
    let end = (mention..sentence.end).find(|word| ends_line(*word)).map_or(sentence.end, |word| word + 1);
    start..end
}

/// What the title above a medicine says of it.
fn status_of(section: Section) -> Option<Status> {
    match section {
        Section::Stopped | Section::Tried => Some(Status::Stopped),
        Section::Held => Some(Status::OnHold),
        Section::Started => Some(Status::Started),
        Section::Changed => Some(Status::Changed),
        Section::Unchanged | Section::Medications => Some(Status::Active),
        _ => None,
    }
}

/// "Mother hypertensive, takes losartan": the relative who opens the sentence takes it, unless the patient comes between.
fn is_of_relative(scene: &Scene<'_>, around: &Around, mention: usize) -> bool {
    let reading = scene.reading;
    let turn = reading.sentences[reading.sentence_of(mention)].turn;
    let mut opening = around.sentence.clone().filter(|word| !reading.words[*word].punctuation);
    let first = opening.find(|word| !matches!(reading.word(*word), "su" | "la" | "el" | "his" | "her" | "the" | "their"));
    let Some(first) = first.filter(|word| *word < mention) else { return false };
    let relative = person(reading.word(first)).is_some();
    let takes = (first..mention).any(|word| matches!(reading.word(word), "toma" | "takes" | "usa" | "uses" | "taking" | "tomaba" | "on"));
    let patient = (first..mention).any(|word| {
        matches!(
            reading.word(word),
            "paciente" | "patient" | "pt" | "pte" | "he" | "she" | "dice" | "refiere" | "says" | "reports" | "states" | "gives" | "le" | "lo"
                | "la" | "me" | "i" | "brings" | "trae" | "que"
        )
    });
    turn.is_none() && relative && takes && !patient
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
