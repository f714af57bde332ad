//! Medicines: which, how much, how often, and whether they are taken now.

mod advice;
mod amounts;
mod answers;
mod change;
mod dose;
mod everyday;
mod fates;
mod fractions;
mod frequency;
mod laboratory;
mod later;
mod later_words;
mod misuse;
mod others;
mod person;
mod planned;
mod realized;
mod regimen;
mod skipped;
mod status;
mod stems;
mod tags;
mod tested;
mod units;
mod until;

use std::ops::Range;

use fates::Fate;
pub(crate) use realized::{exchanges, is_of_next};
pub(super) use regimen::REGIMEN;
use regimen::{Regimen, RegimenRules};
pub(super) use status::WORDS;
use status::{Around, Status, StatusRules};
use stems::{is_named_by_stem, is_ordinary_word};
pub(super) use tested::{challenge_at, stands_between};

use super::allergies::{Allergies, is_pen};
use super::dates::COURSE;
use super::lexicon::{Concept, Lexicon, List, Mention, SPEECH, label};
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::reading::Reading;
use super::scene::{Scene, Stance};
use super::structure::Section;
use super::{Entity, EntityType, RegimenPlaces, Temporality};

/// Bytes of a line that is not wrapped.
const SHORT_LINE: usize = 64;
/// Words between a denial and the medicine that it denies.
const DENIAL_REACH: usize = 6;
/// How surely a bare denial, the bare name of a class or of an allergen is read: below `min_extraction_confidence`, so that it is a hypothesis.
pub(super) const SELDOM: f64 = 0.5;
/// The group of a medicine that no list names, known by the stem of its name.
pub(super) const STEM: &str = "stem";
/// A medicine that is named, and of which nothing else is said.
pub(super) fn is_bare(entity: &Entity) -> bool {
    entity.kind == EntityType::Medication
        && entity.status.is_none()
        && entity.dose.is_none()
        && entity.route.is_none()
        && entity.frequency.is_none()
}

pub(crate) struct MedicationRules {
    drugs: Lexicon,
    regimen: RegimenRules,
    statuses: StatusRules,
    ask: Matcher,
    visit: Matcher,
    ask_dose: Matcher,
    allergy: Matcher,
}

/// Drug mentions of one sentence.
pub(crate) struct SentenceDrugs {
    pub(crate) sentence: usize,
    pub(crate) mentions: Vec<Mention>,
}

impl MedicationRules {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
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
    pub(crate) fn mentions(&self, scene: &Scene<'_>) -> Vec<SentenceDrugs> {
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
        let all: Vec<Range<usize>> = mentions.iter().map(|mention| mention.words.clone()).collect();
        mentions.retain(|mention| !everyday::is_no_medicine(scene, words, mention, &all));
        mentions.retain(|mention| !laboratory::is_measured(scene.reading, words, mention));
        mentions.sort_by_key(|mention| mention.words.start);
        combine(scene.reading, &mut mentions);
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
    pub(crate) fn find(
        &self,
        scene: &Scene<'_>,
        drugs: &[SentenceDrugs],
        allergies: &Allergies,
        out: &mut Vec<Entity>,
    ) {
        for (slot, found) in drugs.iter().enumerate() {
            let end = scene.reading.sentences[found.sentence].words.end;
            let fates = fates::fates(scene.reading, &self.regimen, &found.mentions, end);
            for (nth, mention) in found.mentions.iter().enumerate() {
                if !allergies.taken.contains(&mention.words.start) {
                    let touched = allergies.touched.contains(&mention.words.start);
                    out.extend(self.medicine(scene, drugs, (slot, nth), (touched, &fates)));
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
        (touched, fates): (bool, &[Fate]),
    ) -> Option<Entity> {
        let found = &drugs[slot];
        let mention = &found.mentions[nth];
        let sentence = &scene.reading.sentences[found.sentence];
        let named: Vec<Range<usize>> = found.mentions.iter().map(|mention| mention.words.clone()).collect();
        if tested::is_tested(scene.reading, &sentence.words, &mention.words, &named)
            || tested::is_tolerated(scene, &sentence.words, &mention.words, &named)
        {
            return None;
        }
        let answered = self.elliptic(scene, drugs, slot, nth);
        let stance = scene
            .stance(found.sentence, &mention.words)
            .or_else(|| answered.map(|(answer, _)| scene.answered(found.sentence, answer, &mention.words)))
            .or_else(|| self.told_how(scene, found, mention))?;
        let previous = nth.checked_sub(1).map_or(sentence.words.start, |before| found.mentions[before].words.end);
        let next = found.mentions.get(nth + 1).map_or(sentence.words.end, |after| after.words.start);
        let line = line_of(scene, &sentence.words, mention.words.start);
        // "La madre toma litio, la paciente nunca lo ha tomado": what is said of the patient is said of no relative.
        let theirs = scene.contexts.of_same_person(scene.reading, &mention.words);
        let around = Around {
            before: previous.max(line.start).max(theirs.start).min(mention.words.start)..mention.words.start,
            after: mention.words.end..next.min(line.end).min(theirs.end).max(mention.words.end),
            sentence: line,
        };
        let mut stance = stance;
        person::settle(scene, &around, &mention.words, &mut stance);
        let regimen = self.regimen.read(scene.reading, &mention.words, around.before.clone(), around.after.clone());
        let regimen = self.brought_to(scene, &around, regimen);
        let mut stance = self.corrected(scene, found.sentence, regimen.dose.is_some(), stance);
        let last = nth + 1 == found.mentions.len();
        let regimen = if last { self.follow_up(scene, found.sentence, drugs.get(slot + 1), regimen) } else { regimen };
        let status = self.status(scene, (found, fates), nth, &around, answered.map(|(_, status)| status));
        let status = status.or_else(|| if last { self.next_sentence(scene, drugs, slot) } else { None });
        let status = planned::settled(scene, &around, &mention.words, status);
        let later = answered.is_none().then(|| self.decided_later(scene, drugs, (slot, nth), status)).flatten();
        let status = others::theirs(scene.reading, &around.sentence, &mention.words).or(later).or(status);
        // "Se cambia bisoprolol 5 por 2,5": the dose was changed, not the medicine.
        let status = match status {
            Some(Status::Stopped | Status::Active) | None if regimen.changed => Some(Status::Changed),
            Some(Status::Active) | None if change::is_moved(scene.reading, &around.after) => Some(Status::Changed),
            status => status,
        };
        // "Enalapril, metformina, AAS (suspendido)": of the last one alone.
        let of_another = fates[nth] == Fate::OfAnother
            && !scene.contexts.plainly_denied(scene.reading, &mention.words)
            && !stance.answered;
        let kept = advice::is_taken_beside(scene.reading, around.sentence.start, mention.words.start);
        stance.context.negated &= !of_another && !kept;
        let status = status.filter(|status| !(kept && matches!(status, Status::NotTaken | Status::Suggested)));
        let entity = self.entity(scene, mention, (status, stance), regimen)?;
        let entity = misuse::settled(scene, mention, status, entity)?;
        // A medicine beside the word "allergy" is not thereby taken: only what is said of its use tells.
        let of_allergy = touched || self.allergy.first(scene.reading, sentence.words.clone()).is_some();
        let carried = is_pen(scene, &mention.words);
        (!of_allergy || carried || entity.status.is_some() || entity.dose.is_some()).then_some(entity)
    }

    /// What the words around it say, with "switched to" between two medicines.
    fn status(
        &self,
        scene: &Scene<'_>,
        (found, fates): (&SentenceDrugs, &[Fate]),
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
        let from = around.sentence.start;
        let next = found.mentions.get(nth + 1).map(|next| &next.words);
        if let Some(status) = next.and_then(|next| self.statuses.exchanged(reading, mention, next, from)) {
            return Some(status.0);
        }
        let before = nth.checked_sub(1).map(|before| &found.mentions[before].words);
        if let Some(status) = before.and_then(|before| self.statuses.exchanged(reading, before, mention, from)) {
            return Some(status.1);
        }
        if let Some(skipped) = skipped::once(reading, mention, &around.sentence) {
            return Some(skipped);
        }
        if self.statuses.was_before(reading, mention, from) {
            return Some(Status::Stopped);
        }
        if advice::is_against(reading, from, mention.start) {
            return Some(Status::NotTaken);
        }
        if let Fate::Said(status, _) = fates[nth] {
            return Some(status);
        }
        // In a list of medicines each comma begins another: "Meds: omeprazole, stopped ibuprofen, paracetamol".
        let listed = scene.section(mention.start) == Some(Section::Medications)
            && around.before.clone().any(|word| reading.word(word) == ",");
        let linked = nth > 0 && !listed && self.regimen.is_list(reading, around.before.clone());
        // What a participle says of the medicine before is said of that one.
        let around = match nth.checked_sub(1).map(|before| fates[before]) {
            Some(Fate::Said(_, end)) if end > around.before.start => {
                &Around { before: end.min(mention.start)..mention.start, ..around.clone() }
            }
            _ => around,
        };
        let status = self.statuses.of(scene, mention, around, linked);
        let replaces = nth > 0 && self.statuses.takes_over(reading, around.before.clone());
        match status {
            Some(Status::Stopped | Status::Changed) | None if replaces => Some(Status::Started),
            Some(Status::Stopped) => advice::ordered_for(reading, &around.sentence, mention).or(status),
            status => advice::settled(reading, &around.sentence, mention, status),
        }
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
        // "NO metoclopramide": 6 of 35 bare denials were right in whole documents; what was never bought is told plainly.
        if negated && !stance.answered && !matches!(status, Some(Status::NotTaken | Status::Declined)) {
            entity.confidence = entity.confidence.min(SELDOM);
        }
        let recent = entity.context.temporality == Temporality::Recent;
        match status {
            Some(Status::Suggested | Status::NotMeant) if recent => {
                entity.context.temporality = Temporality::Hypothetical
            }
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
        entity.group = (mention.concept.group == COURSE).then_some(COURSE);
        if mention.concept.group == STEM {
            entity.confidence = entity.confidence.min(0.7);
            entity.value = scene.reading.word(mention.words.start).to_owned();
        }
        entity.dose = entity.dose.map(|dose| units::with_usual_unit(&entity.value, mention.concept.group, dose));
        // "Steroids", "an antibiotic": of seventeen bare names of a class in whole documents none was a medicine to remember.
        let ended = matches!(status, Some(Status::Stopped | Status::Suggested)) && entity.dose.is_none();
        let class = mention.concept.group == "class" && (is_bare(&entity) || ended);
        if (class || advice::is_prohibition(scene.reading, mention.words.start)) && !stance.answered {
            entity.confidence = entity.confidence.min(SELDOM);
        }
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
            Some(Status::Continued | Status::NotAdherent) => entity.context.negated = false,
            Some(Status::Stopped | Status::Declined | Status::OnHold | Status::Suggested | Status::NotMeant) => {
                entity.context.negated = false;
            }
            Some(_) if !answered => entity.context.negated &= plainly && near,
            // "Con tres puff se le pasó": what went away is no medicine.
            None if !answered && is_taken_for(scene, sentence.start, words) => entity.context.negated = false,
            None if !answered => entity.context.negated &= near,
            _ => {}
        }
    }

    /// Whether words ask about medicines in general.
    pub(crate) fn asks(&self, scene: &Scene<'_>, words: &Range<usize>) -> bool {
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

/// "Con dos puff de", "with ibuprofen": what helped, with no denial before it.
fn is_taken_for(scene: &Scene<'_>, from: usize, words: &Range<usize>) -> bool {
    let reading = scene.reading;
    let with = (from.max(words.start.saturating_sub(5))..words.start)
        .rev()
        .take_while(|word| !reading.words[*word].punctuation)
        .any(|word| matches!(reading.word(word), "con" | "with"));
    with && !(from..words.start).any(|word| super::context::denies(reading.word(word)))
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

/// "Sacubitrilo/valsartán": a combination of which the list names the first part for the whole.
fn combine(reading: &Reading<'_>, mentions: &mut Vec<Mention>) {
    let mut at = 0;
    while at + 1 < mentions.len() {
        let (first, second) = (&mentions[at], &mentions[at + 1]);
        let joined =
            second.words.start == first.words.end + 1 && matches!(reading.word(first.words.end), "/" | "+" | "-");
        let part = first.concept.name.split('/').any(|part| part == second.concept.name);
        if joined && part && first.concept.name.contains('/') {
            mentions[at].words.end = second.words.end;
            mentions.remove(at + 1);
        } else {
            at += 1;
        }
    }
}

#[cfg(test)]
mod fate_tests;
#[cfg(test)]
mod later_tests;
#[cfg(test)]
mod tests;
