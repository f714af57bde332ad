//! Appointments and referrals: a specialty, service or occasion together with words that make it one, or a day.

use std::ops::Range;

use super::super::analysis::AnalyzedDocument;
use super::super::lexicon::{ConceptMention, Lexicon, LexiconList, label};
use super::super::matcher::PhraseMatcher;
use super::super::measurements::clause;
use super::super::phrase_trie::TrieBuilder;
use super::super::structure::Section;
use super::super::{Entity, EntityType};
use super::timed_visits;
use crate::dates::DateMention;
use anamnesis_core::finding::{Experiencer, Temporality};
use anamnesis_text::Span;

pub(in super::super) const FILE: &str = include_str!("../lexicon/appointments.tsv");
pub(in super::super) const WORDS: &str = include_str!("../lexicon/appointment_words.tsv");
/// The subject of an appointment that names none.
pub(super) const VISIT: &str = "follow-up visit";
/// Words between words of an appointment and its subject.
const MEETING_REACH: usize = 6;
/// Bytes of a quote around an appointment.
const QUOTE: usize = 160;

/// Finds appointments; see the module.
pub(crate) struct AppointmentRules {
    subjects: Lexicon,
    meets: PhraseMatcher,
    days: PhraseMatcher,
    refers: PhraseMatcher,
    follows: PhraseMatcher,
    over: PhraseMatcher,
    none: PhraseMatcher,
}

/// Why a specialty is an appointment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AppointmentEvidence {
    /// Someone is sent there, or is to see them.
    Referral,
    /// Words of an appointment are next to it.
    Meeting,
    /// Nothing but a day may make it one.
    Day,
}

impl AppointmentRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let subjects = Lexicon::load(trie, LexiconList::Appointments);
        let mut words = |name| label(trie, WORDS, name);
        Self {
            subjects,
            meets: words("meets"),
            days: words("days"),
            refers: words("refers"),
            follows: words("follows"),
            over: words("over"),
            none: words("none"),
        }
    }

    /// Appointments; those that need a day to be one are marked by their confidence until days are known ([`super::resolution`]).
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in doc.sentences() {
            let words = sentence.words.clone();
            let here = doc.input.dates.iter().filter(|date| sentence.span.contains(&date.span)).copied();
            let mentions: Vec<DateMention> = here.collect();
            let dates: Vec<Range<usize>> = mentions.iter().map(|date| doc.reading.words_at(date.span)).collect();
            let none = self.none.find(doc.reading, words.clone());
            let clear =
                |place: &Range<usize>| !none.iter().any(|n| n.words.start < place.end && place.start < n.words.end);
            let places = |list: &PhraseMatcher| -> Vec<Range<usize>> {
                list.find(doc.reading, words.clone()).into_iter().map(|hit| hit.words).filter(clear).collect()
            };
            let meets = places(&self.meets);
            let taken = self.with_subject(doc, index, &meets, &dates, out);
            let mut bare: Vec<Range<usize>> = meets.into_iter().filter(|meet| !taken.contains(meet)).collect();
            bare.extend(places(&self.days));
            self.without_subject(doc, index, &bare, &dates, out);
            let new = timed_visits::visits(doc, &words, sentence.speaker, &mentions);
            for date in new {
                if !is_met(doc, out, sentence.span, &date) {
                    out.extend(entity(doc, index, &date, VISIT, AppointmentEvidence::Day));
                }
            }
        }
    }

    /// Specialties and services that words of an appointment, of a referral or a day make one. Which words did is returned.
    fn with_subject(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        meets: &[Range<usize>],
        dates: &[Range<usize>],
        out: &mut Vec<Entity>,
    ) -> Vec<Range<usize>> {
        let words = &doc.reading.sentences[index].words;
        let mut taken: Vec<Range<usize>> = Vec::new();
        let mut before: Option<Range<usize>> = None;
        for mention in self.subjects.find(doc.reading, words.clone()) {
            let dated = dates.iter().any(|date| apart(date, &mention.words) <= MEETING_REACH);
            let open = dated && !self.is_over(doc, &mention) && !is_owned(doc, &mention.words);
            let reason = match mention.concept.group {
                "dated" => None,
                _ => self.reason(doc, &mention, words, meets, before.as_ref()),
            };
            let Some(reason) = reason.or(open.then_some(AppointmentEvidence::Day)) else { continue };
            let Some(entity) = entity(doc, index, &mention.words, mention.concept.name, reason) else { continue };
            let comma = |m: &Range<usize>| between(m, &mention.words).any(|word| doc.reading.word(word) == ",");
            let near = |m: &&Range<usize>| is_next_to(doc, m, &mention.words) && !comma(m);
            if reason == AppointmentEvidence::Meeting {
                taken.extend(meets.iter().filter(near).cloned());
            }
            before = Some(mention.words.clone());
            out.push(entity);
        }
        taken
    }

    /// Words of an appointment next to a day, with nothing that says with whom.
    fn without_subject(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        bare: &[Range<usize>],
        dates: &[Range<usize>],
        out: &mut Vec<Entity>,
    ) {
        let sentence = &doc.reading.sentences[index];
        let to_do: Vec<Range<usize>> = out
            .iter()
            .filter(|e| e.kind == EntityType::Procedure && sentence.span.contains(&e.span))
            .map(|e| doc.reading.words_at(e.span))
            .collect();
        let met: Vec<Range<usize>> = out
            .iter()
            .filter(|e| e.kind == EntityType::Appointment && sentence.span.contains(&e.span))
            .map(|e| doc.reading.words_at(e.span))
            .collect();
        // "The scan is set for the 3rd": the day is the scan's; "clinic psychiatry" is the specialty's.
        let is_standalone = |m: &Range<usize>| {
            !to_do.iter().any(|place| place.end <= m.start && m.start - place.end <= 2)
                && !met.iter().any(|place| apart(place, m) == 0)
        };
        for meeting in bare.iter().filter(|m| is_standalone(m)) {
            let clause = |date: &Range<usize>| between(date, meeting).all(|word| !ends_clause(doc.reading.word(word)));
            if dates.iter().any(|date| apart(date, meeting) <= MEETING_REACH + 2 && clause(date)) {
                out.extend(entity(doc, index, meeting, VISIT, AppointmentEvidence::Day));
            }
        }
    }

    fn is_over(&self, doc: &AnalyzedDocument<'_>, mention: &ConceptMention) -> bool {
        self.ends_near(doc, &self.over, mention.words.start, 1)
    }

    /// Whether a phrase of a list ends right before a word, up to some words away.
    fn ends_near(&self, doc: &AnalyzedDocument<'_>, list: &PhraseMatcher, word: usize, gap: usize) -> bool {
        let sentence = &doc.reading.sentences[doc.reading.sentence_of(word)];
        let from = word.saturating_sub(6 + gap).max(sentence.words.start);
        (from..word).any(|start| {
            list.at(doc.reading, start).is_some_and(|hit| {
                hit.words.end <= word
                    && word - hit.words.end <= gap
                    && (hit.words.end..word).all(|between| !doc.reading.words[between].punctuation)
            })
        })
    }

    fn reason(
        &self,
        doc: &AnalyzedDocument<'_>,
        mention: &ConceptMention,
        within: &Range<usize>,
        meets: &[Range<usize>],
        before: Option<&Range<usize>>,
    ) -> Option<AppointmentEvidence> {
        let reading = doc.reading;
        let place = &mention.words;
        let joined = |from: usize| {
            (from..place.start).all(|word| {
                matches!(
                    reading.word(word),
                    "," | "and" | "y" | "e" | "&" | "/" | "+" | "con" | "with" | "a" | "to" | "then"
                )
            })
        };
        if before.is_some_and(|before| before.end <= place.start && place.start - before.end <= 2 && joined(before.end))
        {
            return Some(AppointmentEvidence::Referral);
        }
        let meeting = meets.iter().any(|meet| is_next_to(doc, meet, place));
        if meeting && !self.is_over(doc, mention) {
            return Some(AppointmentEvidence::Meeting);
        }
        if self.is_over(doc, mention) {
            return None;
        }
        if self.ends_near(doc, &self.refers, place.start, 3) {
            return Some(AppointmentEvidence::Referral);
        }
        // "Psych (Dr Vellore) to see": the name in brackets separates nothing.
        let after = bracket_end(doc, place.end, within.end);
        let follows = (after..within.end.min(after + 2)).any(|word| {
            self.follows.at(reading, word).is_some() && (after..word).all(|w| !reading.words[w].punctuation)
        });
        let listed = place.start == within.start
            || matches!(reading.word(place.start - 1), "-" | "," | ";" | ":" | "•" | "*" | ")" | ">" | "→");
        let planned = doc.section(place.start) == Some(Section::Plan);
        (follows && (listed || planned) || planned && listed).then_some(AppointmentEvidence::Referral)
    }
}

/// The word after a bracket that opens at a word.
fn bracket_end(doc: &AnalyzedDocument<'_>, from: usize, limit: usize) -> usize {
    if from >= limit || doc.reading.word(from) != "(" {
        return from;
    }
    let close = (from..limit.min(from + 8)).find(|word| doc.reading.word(*word) == ")");
    close.map_or(from, |word| word + 1)
}

/// Whether an appointment of the same sentence is so near to a day that the day belongs to it.
fn is_met(doc: &AnalyzedDocument<'_>, out: &[Entity], sentence: Span, date: &Range<usize>) -> bool {
    let of = out.iter().filter(|e| e.kind == EntityType::Appointment && sentence.contains(&e.span));
    of.map(|e| doc.reading.words_at(e.span)).any(|words| apart(&words, date) <= MEETING_REACH)
}

/// "My psychiatrist", "la psicóloga": a person of the patient's care, who is mentioned for other reasons too.
fn is_owned(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let word = |back: usize| words.start.checked_sub(back).map_or("", |word| doc.reading.word(word));
    let before = word(1);
    if matches!(word(2), "have" | "got" | "see" | "seeing" | "tengo" | "tiene" | "tenemos" | "toca" | "at") {
        return false;
    }
    matches!(
        before,
        "mi" | "su" | "la" | "el" | "my" | "his" | "her" | "the" | "nuestra" | "tu" | "un" | "una" | "your"
    )
}

/// Whether words of an appointment are in the same clause as a place.
fn is_next_to(doc: &AnalyzedDocument<'_>, meet: &Range<usize>, place: &Range<usize>) -> bool {
    apart(meet, place) <= MEETING_REACH && between(meet, place).all(|word| !ends_clause(doc.reading.word(word)))
}

/// Words between two places.
fn apart(a: &Range<usize>, b: &Range<usize>) -> usize {
    if a.end <= b.start { b.start - a.end } else { a.start.saturating_sub(b.end) }
}

fn between(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    if a.end <= b.start { a.end..b.start } else { b.end..a.start.max(b.end) }
}

fn ends_clause(word: &str) -> bool {
    matches!(word, "." | ";" | "?" | "!" | "but" | "pero" | "|")
}

fn entity(
    doc: &AnalyzedDocument<'_>,
    index: usize,
    words: &Range<usize>,
    name: &str,
    reason: AppointmentEvidence,
) -> Option<Entity> {
    let mut assertion = doc.assertion(index, words)?;
    if assertion.context.negated || assertion.context.experiencer != Experiencer::Patient {
        return None;
    }
    assertion.context.temporality = Temporality::Recent;
    assertion.context.uncertain = false;
    let place = doc.reading.sentences[index].span;
    if !assertion.answered && place.len() > QUOTE {
        let found = doc.reading.source(words);
        let end = doc.text().floor_char_boundary((found.end + QUOTE / 2).min(place.end));
        let around = clause(doc.text(), place, found);
        let close = doc.text()[found.end..end].find([';', '\n', '|']).map_or(end, |at| found.end + at);
        assertion.evidence = Span::new(around.start, close.max(found.end));
    }
    assertion.confidence = match reason {
        AppointmentEvidence::Meeting => 0.85,
        AppointmentEvidence::Referral => 0.75,
        AppointmentEvidence::Day => 0.7,
    };
    let mut entity = doc.entity(EntityType::Appointment, words, name.to_owned(), &assertion)?;
    entity.group = Some(match reason {
        AppointmentEvidence::Day => "day",
        AppointmentEvidence::Meeting => "meeting",
        AppointmentEvidence::Referral => "referral",
    });
    Some(entity)
}
