//! Appointments and referrals: a specialty, service or occasion together with words that make it one, or a day.

use std::ops::Range;

use super::super::lexicon::{Lexicon, List, Mention, label};
use super::super::matcher::Matcher;
use super::super::measurements::clause;
use super::super::phrasebook::Builder;
use super::super::scene::Scene;
use super::super::structure::Section;
use super::super::{Entity, EntityType};
use super::clock;
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
    meets: Matcher,
    days: Matcher,
    refers: Matcher,
    follows: Matcher,
    over: Matcher,
    none: Matcher,
}

/// Why a specialty is an appointment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// Somebody is sent there, or is to see them.
    Referral,
    /// Words of an appointment stand beside it.
    Meeting,
    /// Nothing but a day may make it one.
    Day,
}

impl AppointmentRules {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        let subjects = Lexicon::load(book, List::Appointments);
        let mut words = |name| label(book, WORDS, name);
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

    /// Appointments; those that need a day to be one are marked by their confidence until days are known ([`super::settle`]).
    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in scene.sentences() {
            let words = sentence.words.clone();
            let here = scene.input.dates.iter().filter(|date| sentence.span.contains(&date.span)).copied();
            let mentions: Vec<DateMention> = here.collect();
            let dates: Vec<Range<usize>> = mentions.iter().map(|date| scene.reading.words_at(date.span)).collect();
            let none = self.none.find(scene.reading, words.clone());
            let clear =
                |place: &Range<usize>| !none.iter().any(|n| n.words.start < place.end && place.start < n.words.end);
            let places = |list: &Matcher| -> Vec<Range<usize>> {
                list.find(scene.reading, words.clone()).into_iter().map(|hit| hit.words).filter(clear).collect()
            };
            let meets = places(&self.meets);
            let taken = self.with_subject(scene, index, &meets, &dates, out);
            let mut bare: Vec<Range<usize>> = meets.into_iter().filter(|meet| !taken.contains(meet)).collect();
            bare.extend(places(&self.days));
            self.without_subject(scene, index, &bare, &dates, out);
            let new = clock::visits(scene, &words, sentence.speaker, &mentions);
            for date in new {
                if !is_met(scene, out, sentence.span, &date) {
                    out.extend(entity(scene, index, &date, VISIT, Reason::Day));
                }
            }
        }
    }

    /// Specialties and services that words of an appointment, of a referral or a day make one. Which words did is returned.
    fn with_subject(
        &self,
        scene: &Scene<'_>,
        index: usize,
        meets: &[Range<usize>],
        dates: &[Range<usize>],
        out: &mut Vec<Entity>,
    ) -> Vec<Range<usize>> {
        let words = &scene.reading.sentences[index].words;
        let mut taken: Vec<Range<usize>> = Vec::new();
        let mut before: Option<Range<usize>> = None;
        for mention in self.subjects.find(scene.reading, words.clone()) {
            let dated = dates.iter().any(|date| apart(date, &mention.words) <= MEETING_REACH);
            let open = dated && !self.is_over(scene, &mention) && !is_owned(scene, &mention.words);
            let reason = match mention.concept.group {
                "dated" => None,
                _ => self.reason(scene, &mention, words, meets, before.as_ref()),
            };
            let Some(reason) = reason.or(open.then_some(Reason::Day)) else { continue };
            let Some(entity) = entity(scene, index, &mention.words, mention.concept.name, reason) else { continue };
            let comma = |m: &Range<usize>| between(m, &mention.words).any(|word| scene.reading.word(word) == ",");
            let near = |m: &&Range<usize>| is_beside(scene, m, &mention.words) && !comma(m);
            if reason == Reason::Meeting {
                taken.extend(meets.iter().filter(near).cloned());
            }
            before = Some(mention.words.clone());
            out.push(entity);
        }
        taken
    }

    /// Words of an appointment beside a day, with nothing that says with whom.
    fn without_subject(
        &self,
        scene: &Scene<'_>,
        index: usize,
        bare: &[Range<usize>],
        dates: &[Range<usize>],
        out: &mut Vec<Entity>,
    ) {
        let sentence = &scene.reading.sentences[index];
        let to_do: Vec<Range<usize>> = out
            .iter()
            .filter(|e| e.kind == EntityType::Procedure && sentence.span.contains(&e.span))
            .map(|e| scene.reading.words_at(e.span))
            .collect();
        let met: Vec<Range<usize>> = out
            .iter()
            .filter(|e| e.kind == EntityType::Appointment && sentence.span.contains(&e.span))
            .map(|e| scene.reading.words_at(e.span))
            .collect();
        // "The scan is set for the 3rd": the day is the scan's; "clinic psychiatry" is the specialty's.
        let stands_alone = |m: &Range<usize>| {
            !to_do.iter().any(|place| place.end <= m.start && m.start - place.end <= 2)
                && !met.iter().any(|place| apart(place, m) == 0)
        };
        for meeting in bare.iter().filter(|m| stands_alone(m)) {
            let clause =
                |date: &Range<usize>| between(date, meeting).all(|word| !ends_clause(scene.reading.word(word)));
            if dates.iter().any(|date| apart(date, meeting) <= MEETING_REACH + 2 && clause(date)) {
                out.extend(entity(scene, index, meeting, VISIT, Reason::Day));
            }
        }
    }

    fn is_over(&self, scene: &Scene<'_>, mention: &Mention) -> bool {
        self.ends_near(scene, &self.over, mention.words.start, 1)
    }

    /// Whether a phrase of a list ends right before a word, up to some words away.
    fn ends_near(&self, scene: &Scene<'_>, list: &Matcher, word: usize, gap: usize) -> bool {
        let sentence = &scene.reading.sentences[scene.reading.sentence_of(word)];
        let from = word.saturating_sub(6 + gap).max(sentence.words.start);
        (from..word).any(|start| {
            list.at(scene.reading, start).is_some_and(|hit| {
                hit.words.end <= word
                    && word - hit.words.end <= gap
                    && (hit.words.end..word).all(|between| !scene.reading.words[between].punctuation)
            })
        })
    }

    fn reason(
        &self,
        scene: &Scene<'_>,
        mention: &Mention,
        within: &Range<usize>,
        meets: &[Range<usize>],
        before: Option<&Range<usize>>,
    ) -> Option<Reason> {
        let reading = scene.reading;
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
            return Some(Reason::Referral);
        }
        let meeting = meets.iter().any(|meet| is_beside(scene, meet, place));
        if meeting && !self.is_over(scene, mention) {
            return Some(Reason::Meeting);
        }
        if self.is_over(scene, mention) {
            return None;
        }
        if self.ends_near(scene, &self.refers, place.start, 3) {
            return Some(Reason::Referral);
        }
        // "Psych (Dr Vellore) to see": the name in brackets parts nothing.
        let behind = bracket_end(scene, place.end, within.end);
        let follows = (behind..within.end.min(behind + 2)).any(|word| {
            self.follows.at(reading, word).is_some() && (behind..word).all(|w| !reading.words[w].punctuation)
        });
        let listed = place.start == within.start
            || matches!(reading.word(place.start - 1), "-" | "," | ";" | ":" | "•" | "*" | ")" | ">" | "→");
        let planned = scene.section(place.start) == Some(Section::Plan);
        (follows && (listed || planned) || planned && listed).then_some(Reason::Referral)
    }
}

/// The word behind a bracket that opens at a word.
fn bracket_end(scene: &Scene<'_>, from: usize, limit: usize) -> usize {
    if from >= limit || scene.reading.word(from) != "(" {
        return from;
    }
    let close = (from..limit.min(from + 8)).find(|word| scene.reading.word(*word) == ")");
    close.map_or(from, |word| word + 1)
}

/// Whether an appointment of the same sentence stands so near to a day that the day is its.
fn is_met(scene: &Scene<'_>, out: &[Entity], sentence: Span, date: &Range<usize>) -> bool {
    let of = out.iter().filter(|e| e.kind == EntityType::Appointment && sentence.contains(&e.span));
    of.map(|e| scene.reading.words_at(e.span)).any(|words| apart(&words, date) <= MEETING_REACH)
}

/// "My psychiatrist", "la psicóloga": a person of the patient's care, who is spoken of for other reasons too.
fn is_owned(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    let word = |back: usize| words.start.checked_sub(back).map_or("", |word| scene.reading.word(word));
    let before = word(1);
    if matches!(word(2), "have" | "got" | "see" | "seeing" | "tengo" | "tiene" | "tenemos" | "toca" | "at") {
        return false;
    }
    matches!(
        before,
        "mi" | "su" | "la" | "el" | "my" | "his" | "her" | "the" | "nuestra" | "tu" | "un" | "una" | "your"
    )
}

/// Whether words of an appointment stand in the same clause as a place.
fn is_beside(scene: &Scene<'_>, meet: &Range<usize>, place: &Range<usize>) -> bool {
    apart(meet, place) <= MEETING_REACH && between(meet, place).all(|word| !ends_clause(scene.reading.word(word)))
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

fn entity(scene: &Scene<'_>, index: usize, words: &Range<usize>, name: &str, reason: Reason) -> Option<Entity> {
    let mut stance = scene.stance(index, words)?;
    if stance.context.negated || stance.context.experiencer != Experiencer::Patient {
        return None;
    }
    stance.context.temporality = Temporality::Recent;
    stance.context.uncertain = false;
    let place = scene.reading.sentences[index].span;
    if !stance.answered && place.len() > QUOTE {
        let found = scene.reading.source(words);
        let end = scene.text().floor_char_boundary((found.end + QUOTE / 2).min(place.end));
        let around = clause(scene.text(), place, found);
        let close = scene.text()[found.end..end].find([';', '\n', '|']).map_or(end, |at| found.end + at);
        stance.evidence = Span::new(around.start, close.max(found.end));
    }
    stance.confidence = match reason {
        Reason::Meeting => 0.85,
        Reason::Referral => 0.75,
        Reason::Day => 0.7,
    };
    let mut entity = scene.entity(EntityType::Appointment, words, name.to_owned(), &stance)?;
    entity.group = Some(match reason {
        Reason::Day => "day",
        Reason::Meeting => "meeting",
        Reason::Referral => "referral",
    });
    Some(entity)
}
