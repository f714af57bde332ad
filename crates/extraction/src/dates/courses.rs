//! How long a course lasts: "amoxicillin 500 mg for 7 days", "prednisone 5 mg daily for two weeks, then stop". Without its last day a
//! medicine of a week stays current for years.

use std::ops::Range;

use chrono::{Days, Months, NaiveDate};

use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;
use crate::{Entity, EntityType, Experiencer, Temporality};
use anamnesis_core::fact_date::{DatePrecision, FactDate};

/// How many words after a medicine its length may come.
const REACH: usize = 16;
/// Words after a length in which it is said to end then.
const THEN: usize = 5;
/// Days of a course that only the nature of the medicine shows.
const LONGEST: u64 = 28;
/// The group of medicines that are given for a time by their nature.
pub(crate) const COURSE: &str = "antibiotic";
static SINCE: WordList = WordList::listed(word_lists::DATES, "courses.since");

static NO_COURSE: WordList = WordList::listed(word_lists::DATES, "courses.no_course");
/// Stems of verbs before a medicine that say that it was ended.
const ENDED: &[&str] = &["suspend", "stop", "dej", "abandon", "discontin", "self", "retir", "quit", "cort"];

/// Gives courses without a stated last day the one that their length says, counted from the day of the document.
pub(super) fn set_course_ends(doc: &AnalyzedDocument<'_>, today: NaiveDate, entities: &mut [Entity]) {
    let reading = doc.reading;
    for entity in entities.iter_mut().filter(|entity| is_going_on(entity)) {
        let mention = reading.words_at(entity.span);
        let sentence = &reading.sentences[reading.sentence_of(mention.start)].words;
        let plain =
            |word: &usize| !reading.words[*word].punctuation || matches!(reading.word(*word), "/" | "-" | "." | "×");
        // The length of the same clause: a length after a comma is that of a symptom.
        let end = (mention.end..sentence.end.min(mention.end + REACH))
            .take_while(plain)
            .last()
            .map_or(mention.end, |last| last + 1);
        let by_nature = entity.group == Some(COURSE)
            && !sentence.clone().any(|word| {
                let said = reading.word(word);
                NO_COURSE.contains(said) || said.starts_with("prophyla") || said.starts_with("profila")
            });
        let Some((length, stops)) = length(reading, &(mention.end..end), sentence.end, by_nature) else { continue };
        // "For two weeks, then stop" is an order of the day: it is taken until then.
        let stopped = entity.status.as_deref() == Some("stopped");
        let ended =
            (sentence.start..mention.start).any(|word| ENDED.iter().any(|stem| reading.word(word).starts_with(stem)));
        let Some(end) = length.after(today).filter(|_| !stopped || stops && !ended) else { continue };
        entity.ends = Some(FactDate::new(end, DatePrecision::Day));
        if stopped || entity.status.is_none() {
            entity.status = Some("active".to_owned());
        }
    }
}

fn is_going_on(entity: &Entity) -> bool {
    entity.kind == EntityType::Medication
        && entity.ends.is_none()
        && !entity.context.negated
        && entity.context.temporality == Temporality::Recent
        && entity.context.experiencer == Experiencer::Patient
        && matches!(entity.status.as_deref(), None | Some("active" | "started" | "changed" | "stopped"))
}

#[derive(Debug, Clone, Copy)]
enum CourseLength {
    Days(u64),
    Months(u32),
}

impl CourseLength {
    fn after(self, today: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Days(days) => today.checked_add_days(Days::new(days)),
            Self::Months(months) => today.checked_add_months(Months::new(months)),
        }
    }
}

/// The length of a treatment whose words are followed by `within`, and whether it is stopped then.
fn length(
    reading: &TokenizedText<'_>,
    within: &Range<usize>,
    end: usize,
    by_nature: bool,
) -> Option<(CourseLength, bool)> {
    within.clone().find_map(|word| {
        let (unit, per) = unit(reading.word(word))?;
        let number = number(reading.word(word.checked_sub(1)?))?;
        let before = word.checked_sub(2).filter(|at| *at >= within.start);
        let since_stated = (word.saturating_sub(5).max(within.start)..word).any(|at| SINCE.contains(reading.word(at)));
        let bound = before.is_some_and(|at| {
            matches!(reading.word(at), "for" | "x" | "×" | "por" | "durante" | "over" | "/" | "during")
        });
        let stops = bound && (word + 1..end.min(word + 1 + THEN)).any(|at| stops(reading, at));
        let ago = matches!(reading.word(word + 1), "ago" | "atras" | "before" | "antes" | "old" | "now");
        if since_stated || ago || !(stops || bound && by_nature) {
            return None;
        }
        let length = match unit {
            CourseUnit::Day => CourseLength::Days(number * per),
            CourseUnit::Month => CourseLength::Months(u32::try_from(number).ok()?),
        };
        // A month of an antibiotic prevents.
        let short = matches!(length, CourseLength::Days(days) if days <= LONGEST);
        (stops || short).then_some((length, stops))
    })
}

enum CourseUnit {
    Day,
    Month,
}

/// A unit of time, with the days that it has.
fn unit(word: &str) -> Option<(CourseUnit, u64)> {
    match word {
        "day" | "days" | "d" | "dia" | "dias" => Some((CourseUnit::Day, 1)),
        "week" | "weeks" | "wk" | "wks" | "sem" | "semana" | "semanas" => Some((CourseUnit::Day, 7)),
        "month" | "months" | "mes" | "meses" => Some((CourseUnit::Month, 1)),
        _ => None,
    }
}

fn number(word: &str) -> Option<u64> {
    const ENGLISH: [&str; 14] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
        "fourteen",
    ];
    const SPANISH: [&str; 14] = [
        "un", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "trece",
        "catorce",
    ];
    let place = |words: &[&str]| words.iter().position(|known| *known == word).map(|at| at as u64 + 1);
    match word {
        "a" | "una" | "another" => Some(1),
        word => word.parse().ok().filter(|number| (1..=365).contains(number)).or(place(&ENGLISH)).or(place(&SPANISH)),
    }
}

/// "Then stop", "y suspender", and nothing after it: "stop if rash" and "stop smoking" say something else.
fn stops(reading: &TokenizedText<'_>, word: usize) -> bool {
    let joined = word
        .checked_sub(1)
        .is_some_and(|before| matches!(reading.word(before), "then" | "and" | "y" | "luego" | "despues"));
    let over = word + 1 >= reading.words.len() || reading.words[word + 1].punctuation;
    joined
        && over
        && matches!(
            reading.word(word),
            "stop" | "discontinue" | "suspender" | "suspende" | "parar" | "retirar" | "cease"
        )
}
