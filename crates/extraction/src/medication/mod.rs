//! Medicines: which, how much, how often, and whether they are taken now.

mod advice;
mod allergy_testing;
mod ambiguous_brands;
mod amounts;
mod answers;
mod dose;
mod dose_changes;
mod experiencer;
mod factuality;
mod fractions;
mod frequency;
mod laboratory;
mod later_status;
mod later_status_words;
mod misuse;
mod name_stems;
mod not_treatment;
mod participles;
mod planned;
mod regimen;
mod skipped_doses;
mod status;
mod tags;
mod units;
mod until_clauses;

use std::ops::Range;

pub(super) use allergy_testing::{challenge_at, may_stand_between};
pub(crate) use factuality::{is_exchange_verb, is_of_next};
use name_stems::{is_named_by_stem, is_ordinary_word};
use participles::ParticipleStatus;
pub(super) use regimen::REGIMEN;
use regimen::{Regimen, RegimenRules};
pub(super) use status::WORDS;
use status::{DrugStatus, StatusRules, StatusWindow};

use super::allergies::{AllergyFindings, is_pen};
use super::analysis::{AnalyzedDocument, AssertionStatus};
use super::dates::COURSE;
use super::lexicon::{Concept, ConceptMention, Lexicon, LexiconList, SPEECH, label};
use super::matcher::PhraseMatcher;
use super::phrase_trie::TrieBuilder;
use super::structure::Section;
use super::tokenized::TokenizedText;
use super::{Entity, EntityType, RegimenPlaces, Temporality};

/// Bytes of a line that is not wrapped.
const SHORT_LINE: usize = 64;
/// Words between a denial and the medicine that it denies.
const DENIAL_REACH: usize = 6;
/// Confidence of a bare denial, class or allergen: below `min_extraction_confidence`, so that it is a hypothesis.
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
    ask: PhraseMatcher,
    visit: PhraseMatcher,
    ask_dose: PhraseMatcher,
    allergy: PhraseMatcher,
}

/// Drug mentions of one sentence.
pub(crate) struct SentenceDrugs {
    pub(crate) sentence: usize,
    pub(crate) mentions: Vec<ConceptMention>,
}

impl MedicationRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            drugs: Lexicon::load(trie, LexiconList::Drugs),
            regimen: RegimenRules::builtin(trie),
            statuses: StatusRules::builtin(trie),
            ask: label(trie, SPEECH, "ask_medication"),
            visit: label(trie, SPEECH, "visit"),
            ask_dose: label(trie, SPEECH, "ask_dose"),
            allergy: label(trie, SPEECH, "ask_allergy"),
        }
    }

    /// All drug names, sentence by sentence: allergies look at them first.
    pub(crate) fn mentions(&self, doc: &AnalyzedDocument<'_>) -> Vec<SentenceDrugs> {
        doc.sentences()
            .map(|(index, sentence)| SentenceDrugs { sentence: index, mentions: self.named(doc, &sentence.words) })
            .filter(|found| !found.mentions.is_empty())
            .collect()
    }

    /// Names of the list, and words built like the name of a medicine.
    fn named(&self, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> Vec<ConceptMention> {
        let mut mentions = self.drugs.find(doc.reading, words.clone());
        let listed = mentions.len();
        for word in words.clone() {
            if !is_named_by_stem(doc.reading.word(word))
                || mentions[..listed].iter().any(|mention| mention.words.contains(&word))
            {
                continue;
            }
            let concept = Concept { group: STEM, name: STEM, code: None };
            mentions.push(ConceptMention { words: word..word + 1, concept });
        }
        mentions.retain(|mention| !is_ordinary_word(doc, mention));
        let all: Vec<Range<usize>> = mentions.iter().map(|mention| mention.words.clone()).collect();
        mentions.retain(|mention| !ambiguous_brands::is_no_medicine(doc, words, mention, &all));
        mentions.retain(|mention| !laboratory::is_measured(doc.reading, words, mention));
        mentions.sort_by_key(|mention| mention.words.start);
        combine(doc.reading, &mut mentions);
        // "Insulina NPH": one medicine, named twice.
        let nearby: Vec<usize> = mentions
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
            !nearby.contains(&(at - 1))
        });
        mentions
    }

    /// Medicines among the mentions that no allergy has taken.
    pub(crate) fn find(
        &self,
        doc: &AnalyzedDocument<'_>,
        drugs: &[SentenceDrugs],
        allergies: &AllergyFindings,
        out: &mut Vec<Entity>,
    ) {
        for (slot, found) in drugs.iter().enumerate() {
            let end = doc.reading.sentences[found.sentence].words.end;
            let fates = participles::fates(doc.reading, &self.regimen, &found.mentions, end);
            for (nth, mention) in found.mentions.iter().enumerate() {
                if !allergies.taken.contains(&mention.words.start) {
                    let touched = allergies.touched.contains(&mention.words.start);
                    out.extend(self.medicine(doc, drugs, (slot, nth), (touched, &fates)));
                }
            }
        }
    }

    /// One mention, with all statements of the document about it there.
    fn medicine(
        &self,
        doc: &AnalyzedDocument<'_>,
        drugs: &[SentenceDrugs],
        (slot, nth): (usize, usize),
        (touched, fates): (bool, &[ParticipleStatus]),
    ) -> Option<Entity> {
        let found = &drugs[slot];
        let mention = &found.mentions[nth];
        let sentence = &doc.reading.sentences[found.sentence];
        let named: Vec<Range<usize>> = found.mentions.iter().map(|mention| mention.words.clone()).collect();
        if allergy_testing::is_tested(doc.reading, &sentence.words, &mention.words, &named)
            || allergy_testing::is_tolerated(doc, &sentence.words, &mention.words, &named)
        {
            return None;
        }
        let answered = self.elliptic(doc, drugs, slot, nth);
        let assertion = doc
            .assertion(found.sentence, &mention.words)
            .or_else(|| answered.map(|(answer, _)| doc.answered(found.sentence, answer, &mention.words)))
            .or_else(|| self.answered_regimen(doc, found, mention))?;
        let previous = nth.checked_sub(1).map_or(sentence.words.start, |before| found.mentions[before].words.end);
        let next = found.mentions.get(nth + 1).map_or(sentence.words.end, |after| after.words.start);
        let line = line_of(doc, &sentence.words, mention.words.start);
        // "La madre toma litio, la paciente nunca lo ha tomado": a statement about the patient concerns no relative.
        let theirs = doc.scopes.of_same_person(doc.reading, &mention.words);
        let around = StatusWindow {
            before: previous.max(line.start).max(theirs.start).min(mention.words.start)..mention.words.start,
            after: mention.words.end..next.min(line.end).min(theirs.end).max(mention.words.end),
            sentence: line,
        };
        let mut assertion = assertion;
        experiencer::resolve_experiencer(doc, &around, &mention.words, &mut assertion);
        let regimen = self.regimen.read(doc.reading, &mention.words, around.before.clone(), around.after.clone());
        let regimen = self.brought_to(doc, &around, regimen);
        let mut assertion = self.corrected(doc, found.sentence, regimen.dose.is_some(), assertion);
        let last = nth + 1 == found.mentions.len();
        let regimen = if last { self.follow_up(doc, found.sentence, drugs.get(slot + 1), regimen) } else { regimen };
        let status = self.status(doc, (found, fates), nth, &around, answered.map(|(_, status)| status));
        let status = status.or_else(|| if last { self.next_sentence(doc, drugs, slot) } else { None });
        let status = planned::with_planned_time(doc, &around, &mention.words, status);
        let later = answered.is_none().then(|| self.decided_later(doc, drugs, (slot, nth), status)).flatten();
        let status =
            not_treatment::status_if_not_own(doc.reading, &around.sentence, &mention.words).or(later).or(status);
        // "Se cambia bisoprolol 5 por 2,5": the dose was changed, not the medicine.
        let status = match status {
            Some(DrugStatus::Stopped | DrugStatus::Active) | None if regimen.changed => Some(DrugStatus::Changed),
            Some(DrugStatus::Active) | None if dose_changes::is_moved(doc.reading, &around.after) => {
                Some(DrugStatus::Changed)
            }
            status => status,
        };
        // "Enalapril, metformina, AAS (suspendido)": of the last one alone.
        let of_another = fates[nth] == ParticipleStatus::OfAnother
            && !doc.scopes.plainly_denied(doc.reading, &mention.words)
            && !assertion.answered;
        let kept = advice::is_taken_alongside(doc.reading, around.sentence.start, mention.words.start);
        assertion.context.negated &= !of_another && !kept;
        let status = status.filter(|status| !(kept && matches!(status, DrugStatus::NotTaken | DrugStatus::Suggested)));
        let entity = self.entity(doc, mention, (status, assertion), regimen)?;
        let entity = misuse::keep_if_medicine(doc, mention, status, entity)?;
        // A medicine next to the word "allergy" is not thereby taken: only a statement about its use decides.
        let of_allergy = touched || self.allergy.first(doc.reading, sentence.words.clone()).is_some();
        let carried = is_pen(doc, &mention.words);
        (!of_allergy || carried || entity.status.is_some() || entity.dose.is_some()).then_some(entity)
    }

    /// The status by the words around it, with "switched to" between two medicines.
    fn status(
        &self,
        doc: &AnalyzedDocument<'_>,
        (found, fates): (&SentenceDrugs, &[ParticipleStatus]),
        nth: usize,
        around: &StatusWindow,
        answered: Option<DrugStatus>,
    ) -> Option<DrugStatus> {
        let reading = doc.reading;
        let mention = &found.mentions[nth].words;
        if answered.is_some() {
            return answered;
        }
        if let Some(next) = found.mentions.get(nth + 1)
            && self.statuses.takes_over(reading, mention.end..next.words.start)
        {
            return Some(DrugStatus::Stopped);
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
        if let Some(skipped) = skipped_doses::once(reading, mention, &around.sentence) {
            return Some(skipped);
        }
        if self.statuses.was_before(reading, mention, from) {
            return Some(DrugStatus::Stopped);
        }
        if advice::is_against(reading, from, mention.start) {
            return Some(DrugStatus::NotTaken);
        }
        if let ParticipleStatus::Said(status, _) = fates[nth] {
            return Some(status);
        }
        // In a list of medicines each comma begins another: "Meds: omeprazole, stopped ibuprofen, paracetamol".
        let listed = doc.section(mention.start) == Some(Section::Medications)
            && around.before.clone().any(|word| reading.word(word) == ",");
        let linked = nth > 0 && !listed && self.regimen.is_list(reading, around.before.clone());
        // A participle of the medicine before belongs to that one.
        let around = match nth.checked_sub(1).map(|before| fates[before]) {
            Some(ParticipleStatus::Said(_, end)) if end > around.before.start => {
                &StatusWindow { before: end.min(mention.start)..mention.start, ..around.clone() }
            }
            _ => around,
        };
        let status = self.statuses.detect(doc, mention, around, linked);
        let replaces = nth > 0 && self.statuses.takes_over(reading, around.before.clone());
        match status {
            Some(DrugStatus::Stopped | DrugStatus::Changed) | None if replaces => Some(DrugStatus::Started),
            Some(DrugStatus::Stopped) => advice::ordered_for(reading, &around.sentence, mention).or(status),
            status => advice::with_adherence(reading, &around.sentence, mention, status),
        }
    }

    fn entity(
        &self,
        doc: &AnalyzedDocument<'_>,
        mention: &ConceptMention,
        (stated, assertion): (Option<DrugStatus>, AssertionStatus),
        regimen: Regimen,
    ) -> Option<Entity> {
        let mut entity = doc.entity(EntityType::Medication, &mention.words, mention.concept.name.into(), &assertion)?;
        let section = doc.section(mention.words.start);
        if matches!(section, Some(Section::Antibiogram | Section::Vaccines)) {
            return None;
        }
        let titled = section.and_then(status_of);
        // A title that says the status says more than a verb among the words below it; "Medications" says less.
        let status = match titled {
            Some(DrugStatus::Active) | None => stated.or(titled),
            decided => decided,
        };
        self.settle_denial(doc, &mention.words, status, assertion.answered, &mut entity);
        let negated = entity.context.negated;
        entity.status = match status {
            Some(DrugStatus::Active | DrugStatus::Started | DrugStatus::Changed) if negated => Some("not_taken"),
            Some(status) => status.code(),
            None if negated => Some("not_taken"),
            None if assertion.answered => Some("active"),
            None => None,
        }
        .map(str::to_owned);
        // "NO metoclopramide": 6 of 35 bare denials were right in whole documents; "never bought" is certain.
        if negated && !assertion.answered && !matches!(status, Some(DrugStatus::NotTaken | DrugStatus::Declined)) {
            entity.confidence = entity.confidence.min(SELDOM);
        }
        let recent = entity.context.temporality == Temporality::Recent;
        match status {
            Some(DrugStatus::Suggested | DrugStatus::NotMeant) if recent => {
                entity.context.temporality = Temporality::Hypothetical
            }
            // A doubt about a past or absent treatment is no doubt about the medicine.
            Some(DrugStatus::Stopped | DrugStatus::NotTaken | DrugStatus::Declined) => entity.context.uncertain = false,
            _ => {}
        }
        let place = |said: &Option<regimen::RegimenPart>| said.as_ref().map(|said| doc.reading.source(&said.words));
        entity.places = RegimenPlaces {
            dose: place(&regimen.dose),
            route: place(&regimen.route),
            frequency: place(&regimen.frequency),
        };
        let text = |said: Option<regimen::RegimenPart>| said.map(|said| said.text);
        (entity.dose, entity.route, entity.frequency) =
            (text(regimen.dose), text(regimen.route), text(regimen.frequency));
        entity.group = (mention.concept.group == COURSE).then_some(COURSE);
        if mention.concept.group == STEM {
            entity.confidence = entity.confidence.min(0.7);
            entity.value = doc.reading.word(mention.words.start).to_owned();
        }
        entity.dose = entity.dose.map(|dose| units::with_usual_unit(&entity.value, mention.concept.group, dose));
        // "Steroids", "an antibiotic": of seventeen bare names of a class in whole documents none was a medicine to remember.
        let ended = matches!(status, Some(DrugStatus::Stopped | DrugStatus::Suggested)) && entity.dose.is_none();
        let class = mention.concept.group == "class" && (is_bare(&entity) || ended);
        if (class || advice::is_prohibition(doc.reading, mention.words.start)) && !assertion.answered {
            entity.confidence = entity.confidence.min(SELDOM);
        }
        Some(entity)
    }

    /// "Se suspende X", "X was stopped": ended, not denied. "Never took X": denied, whatever comes between. A denial
    /// farther away than its words reach does not concern a medicine that has its own strength.
    fn settle_denial(
        &self,
        doc: &AnalyzedDocument<'_>,
        words: &Range<usize>,
        status: Option<DrugStatus>,
        answered: bool,
        entity: &mut Entity,
    ) {
        let plainly = doc.scopes.plainly_denied(doc.reading, words);
        let sentence = &doc.reading.sentences[doc.reading.sentence_of(words.start)].words;
        let line = line_of(doc, sentence, words.start);
        let reach = if line.start > sentence.start { DENIAL_REACH.min(words.start - line.start) } else { DENIAL_REACH };
        let near = doc.scopes.denied_near(doc.reading, words, reach);
        match status {
            Some(DrugStatus::NotTaken) => entity.context.negated = true,
            Some(DrugStatus::Continued | DrugStatus::NotAdherent) => entity.context.negated = false,
            Some(
                DrugStatus::Stopped
                | DrugStatus::Declined
                | DrugStatus::OnHold
                | DrugStatus::Suggested
                | DrugStatus::NotMeant,
            ) => {
                entity.context.negated = false;
            }
            Some(_) if !answered => entity.context.negated &= plainly && near,
            // "Con tres puff se le pasó": the complaint that went away is no medicine.
            None if !answered && is_taken_for(doc, sentence.start, words) => entity.context.negated = false,
            None if !answered => entity.context.negated &= near,
            _ => {}
        }
    }

    /// Whether words ask about medicines in general.
    pub(crate) fn asks(&self, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
        words.clone().any(|word| self.ask.at(doc.reading, word).is_some())
    }
}

/// The words of a sentence on the line of a mention. A short line is one of a list; a long one may be wrapped.
fn line_of(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>, mention: usize) -> Range<usize> {
    let reading = doc.reading;
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

/// "Con dos puff de", "with ibuprofen": the remedy that helped, with no denial before it.
fn is_taken_for(doc: &AnalyzedDocument<'_>, from: usize, words: &Range<usize>) -> bool {
    let reading = doc.reading;
    let with = (from.max(words.start.saturating_sub(5))..words.start)
        .rev()
        .take_while(|word| !reading.words[*word].punctuation)
        .any(|word| matches!(reading.word(word), "con" | "with"));
    with && !(from..words.start).any(|word| super::assertion::denies(reading.word(word)))
}

/// The status by the title above a medicine.
fn status_of(section: Section) -> Option<DrugStatus> {
    match section {
        Section::Stopped | Section::Tried => Some(DrugStatus::Stopped),
        Section::Held => Some(DrugStatus::OnHold),
        Section::Started => Some(DrugStatus::Started),
        Section::Changed => Some(DrugStatus::Changed),
        Section::Unchanged | Section::Medications => Some(DrugStatus::Active),
        _ => None,
    }
}

/// "Sacubitrilo/valsartán": a combination of which the list names the first part for the whole.
fn combine(reading: &TokenizedText<'_>, mentions: &mut Vec<ConceptMention>) {
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
mod later_status_tests;
#[cfg(test)]
mod status_tests;
#[cfg(test)]
mod tests;
