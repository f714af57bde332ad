//! The date of a risk: within its passage, next to it on its line, or alone in the next sentence.
//!
//! A date that is taken for the risk's by mistake can make a wish of today one of the past, which calls for nobody. So a
//! date counts only where nothing near it says that it is of another event, and a day without a year only if it is over.

use std::ops::Range;

use chrono::NaiveDate;

use crate::analysis::AnalyzedDocument;
use crate::dates::{DateDirection, DateExpression, DateMention};
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;
use crate::{Risk, RiskClass};
use anamnesis_core::fact_date::FactDate;
use anamnesis_text::Span;

/// How near a date is, in bytes of its line after and before the passage.
const AFTER: usize = 60;
const BEFORE: usize = 40;
/// Words: of a sentence that says only when, before a date to what is dated or to "since", and from a comma to its date.
const ALONE: usize = 5;
const DATED: usize = 6;
const SINCE: usize = 10;
const APPOSITION: usize = 3;
/// Days within which an act is of now.
const RECENT: i64 = 60;
const YEAR: i64 = 365;

static OTHER_EVENT: WordList = WordList::listed(word_lists::RISK, "passage_dates.other_event");
static VISIT: WordList = WordList::listed(word_lists::RISK, "passage_dates.visit");
static WHEN: WordList = WordList::listed(word_lists::RISK, "passage_dates.when");
static NOW: WordList = WordList::listed(word_lists::RISK, "passage_dates.now");
static AHEAD: WordList = WordList::listed(word_lists::RISK, "passage_dates.ahead");
static PAST: WordList = WordList::listed(word_lists::RISK, "passage_dates.past");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RiskDate {
    pub(super) date: FactDate,
    pub(super) goes_on: bool,
    /// The date of an entry, whose words are of that day: "03/03/2019: wants to die".
    pub(super) of_entry: bool,
}

/// The date that is nearest to a risk's passage and not after the day of the document.
pub(super) fn date(doc: &AnalyzedDocument<'_>, risk: &Risk) -> Option<RiskDate> {
    let today = doc.input.today?;
    let dated = doc.input.dates.iter().filter_map(|mention| {
        let nearness = nearness(doc, risk.span, mention)?;
        let since = since(doc, mention);
        let date = mention.said.resolve(today, DateDirection::Back).filter(|date| date.day <= today)?;
        let (age, complete) = ((today - date.day).num_days(), matches!(mention.said, DateExpression::Fixed(_)));
        // "Took an overdose on discharge, 9 November": an act that is dated by an event is of that day.
        let act = !is_thought(risk) && !risk.denied && (complete || age <= RECENT);
        let of_the_risk = match since {
            Some(word) => lasts_since(doc, risk, word),
            None => {
                let of_another = !act && is_of_another_event(doc, risk.span, mention.span, complete && age > YEAR);
                !of_another && !looks_ahead(doc, risk, mention, today)
            }
        };
        if !of_the_risk {
            return None;
        }
        let of_entry = complete && (nearness.0 == 3 || nearness.0 == 2 && begins_a_statement(doc, mention.span));
        Some((nearness, RiskDate { date, goes_on: since.is_some(), of_entry }))
    });
    dated.min_by_key(|(nearness, _)| *nearness).map(|(_, date)| date)
}

/// Where a date is (0: within the passage) and how many bytes away; `None` where it dates something else.
fn nearness(doc: &AnalyzedDocument<'_>, passage: Span, mention: &DateMention) -> Option<(usize, usize)> {
    let span = mention.span;
    if passage.overlaps(&span) {
        return Some((0, 0));
    }
    let ends = ['\n', '.', ';', '?', '!'];
    let between = |from: usize, to: usize| doc.text().get(from..to).unwrap_or("\n");
    if span.start >= passage.end {
        let gap = between(passage.end, span.start);
        if gap.len() <= AFTER && !gap.contains(ends) {
            return Some((1, gap.len()));
        }
    } else {
        // "On 15/1 denies intent", "On Sunday, she …", "16-10: denies …": a statement after a later comma is another one.
        let gap = between(span.end, passage.start);
        let rest = if begins_a_statement(doc, span) {
            gap.trim_start_matches([']', ',', ':', ' '])
        } else {
            gap.trim_start_matches([']', ','])
        };
        if gap.len() <= BEFORE && !gap.contains(ends) && !rest.contains([',', '(', ':']) {
            return Some((2, gap.len()));
        }
    }
    is_alone_in_sentence(doc, passage, mention).then_some((3, 0))
}

fn begins_a_statement(doc: &AnalyzedDocument<'_>, span: Span) -> bool {
    let before = doc.text()[..span.start].trim_end_matches([' ', '[', '-', '*', '•']);
    before.is_empty() || before.ends_with(['\n', '.', ';', ':', '?', '!'])
}

/// The words of a date's sentence before it, the nearest first, back to a stop that is no comma right before the date.
fn words_before(doc: &AnalyzedDocument<'_>, span: Span) -> impl Iterator<Item = usize> {
    let reading = doc.reading;
    let date = reading.words_at(span);
    let first = reading.sentences[reading.sentence_of(date.start)].words.start;
    let near = date.start.saturating_sub(APPOSITION);
    // "Since his wife's death, on 6 May, he …", "since Year 8 (2022)".
    let is_stop =
        move |word: usize| reading.words[word].punctuation && (word < near || !matches!(reading.word(word), "," | "("));
    let words: Vec<usize> =
        (first..date.start).rev().take(SINCE + APPOSITION).take_while(|word| !is_stop(*word)).collect();
    words.into_iter().filter(move |word| !reading.words[*word].punctuation)
}

fn since(doc: &AnalyzedDocument<'_>, mention: &DateMention) -> Option<usize> {
    let reading = doc.reading;
    let own = reading.words_at(mention.span);
    let said = own.rev().chain(words_before(doc, mention.span).take(SINCE));
    let until = |word: &usize| !matches!(reading.word(*word), "hasta" | "until" | "till" | "til" | "before" | "antes");
    said.take_while(until).find(|word| matches!(reading.word(*word), "since" | "desde"))
}

/// Whether a risk goes on since then. "In treatment since 2018 and wants to die" does not say so.
fn lasts_since(doc: &AnalyzedDocument<'_>, risk: &Risk, since: usize) -> bool {
    let reading = doc.reading;
    let passage = reading.words_at(risk.span);
    let sentence = &reading.sentences[reading.sentence_of(since)].words;
    since >= passage.start || (sentence.start..since).all(|word| reading.words[word].punctuation)
}

/// "Wants to die, next visit 14 December", "hid it until today": the words before a date name what is dated.
fn is_of_another_event(doc: &AnalyzedDocument<'_>, passage: Span, span: Span, long_ago: bool) -> bool {
    let reading = doc.reading;
    let words = reading.words_at(span);
    let own = reading.words_at(passage);
    let until = |word: usize| matches!(reading.word(word), "hasta" | "until" | "till" | "til");
    let visit = |word: usize| long_ago && VISIT.contains(reading.word(word));
    let named = |word: usize| OTHER_EVENT.contains(reading.word(word)) && !visit(word) || until(word);
    let mut after = (words.end..own.start.max(words.end)).take(DATED);
    words_before(doc, span).take(DATED).any(named) || after.any(named) || words.clone().any(until)
}

/// Whether a date without its year is one to come. A day of the week is near both ways: only a verb decides.
fn looks_ahead(doc: &AnalyzedDocument<'_>, risk: &Risk, mention: &DateMention, today: NaiveDate) -> bool {
    use DateExpression::{DayOfMonth, Month, MonthDay, Weekday};
    let reading = doc.reading;
    let (passage, date) = (reading.words_at(risk.span), reading.words_at(mention.span));
    let all = passage.start.min(date.start)..passage.end.max(date.end);
    match mention.said {
        MonthDay { .. } | Month(_) => {
            let day =
                |direction| mention.said.resolve(today, direction).map(|date| (date.day - today).num_days().abs());
            let nearer = day(DateDirection::Ahead) < day(DateDirection::Back);
            nearer && is_thought(risk) && (has_any(reading, &all, &NOW) || !has_any(reading, &all, &PAST))
        }
        Weekday(_) | DayOfMonth(_) => is_present_thought(reading, risk, &all),
        _ => false,
    }
}

/// Whether words say what is wished, planned or threatened now: "wants to die", not "wanted to die".
pub(super) fn is_present_thought(reading: &TokenizedText<'_>, risk: &Risk, words: &Range<usize>) -> bool {
    let ahead = || has_any(reading, words, &AHEAD) && !has_any(reading, words, &PAST);
    is_thought(risk) && (has_any(reading, words, &NOW) || ahead())
}

fn is_thought(risk: &Risk) -> bool {
    use RiskClass::{ActiveIdeation, HarmToOthers, PassiveIdeation, PlanOrMeans};
    !risk.denied && matches!(risk.class, ActiveIdeation | HarmToOthers | PassiveIdeation | PlanOrMeans)
}

fn has_any(reading: &TokenizedText<'_>, words: &Range<usize>, list: &WordList) -> bool {
    words.clone().any(|word| list.contains(reading.word(word)))
}

/// "El jueves pasado. Me subí a la azotea.": a sentence next to the passage, of the same speaker, that says only when.
fn is_alone_in_sentence(doc: &AnalyzedDocument<'_>, passage: Span, mention: &DateMention) -> bool {
    let reading = doc.reading;
    let words = reading.words_at(passage);
    let (first, last) = (reading.sentence_of(words.start), reading.sentence_of(words.end.saturating_sub(1)));
    let date = reading.words_at(mention.span);
    let here = reading.sentence_of(date.start);
    if here + 1 != first && here != last + 1 {
        return false;
    }
    let (own, nearby) = (&reading.sentences[first.min(last)], &reading.sentences[here]);
    let line = passage.start.min(mention.span.start)..passage.end.max(mention.span.end);
    let same_line = own.turn.is_some() && own.turn == nearby.turn
        || own.turn.is_none() && doc.text().get(line).is_some_and(|text| !text.contains('\n'));
    let mut others =
        nearby.words.clone().filter(|word| !reading.words[*word].punctuation && !date.contains(word)).take(ALONE + 1);
    same_line && own.speaker == nearby.speaker && others.all(|word| WHEN.contains(reading.word(word)))
}
