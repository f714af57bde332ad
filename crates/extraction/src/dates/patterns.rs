//! The places of dates in a text: every form, tried in order, at places that are no part of something else.

use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use super::DateMention;
use super::forms::FORMS;
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_text::{Language, Span};

static BIRTH: WordList = WordList::listed(word_lists::DATES, "patterns.birth");
/// Words after a number that make it an amount.
static AMOUNTS: WordList = WordList::listed(word_lists::DATES, "patterns.amounts");
/// Words before two figures with a stroke that make them a score, a pressure or a sight.
static SCORES: WordList = WordList::listed(word_lists::DATES, "patterns.scores");
/// Words before three letters of a day of the week that make them a verb or a thing: "he sat".
const NO_DAY: &[&str] =
    &["he", "she", "i", "we", "they", "it", "just", "and", "who", "that", "the", "in", "was", "newly", "of", "of the"];

/// All dates of a text, in their order and without overlaps. `today` is the day of the document.
pub fn find(text: &str, language: Language, today: NaiveDate) -> Vec<DateMention> {
    let month_first = language == Language::English && !is_day_first(text);
    let mut out: Vec<DateMention> = Vec::new();
    for form in FORMS.iter() {
        for hit in form.pattern.captures_iter(text) {
            let Some(whole) = hit.get(0) else { continue };
            let span = Span::new(whole.start(), whole.end());
            if out.iter().any(|known| known.span.overlaps(&span)) || !is_standalone(text, span) {
                continue;
            }
            let lower = whole.as_str().to_lowercase();
            let folded = form.pattern.captures(&lower);
            if let Some(said) = folded.and_then(|hit| (form.read)(&hit, today, month_first)) {
                out.push(DateMention { span, said });
            }
        }
    }
    out.sort_by_key(|mention| mention.span);
    out
}

/// Whether an English document writes the day before the month: its own dates decide, else words of British, Irish and
/// Australian care.
fn is_day_first(text: &str) -> bool {
    static FULL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?-u:\b)([0-3]?[0-9])[/.-]([0-3]?[0-9])[/.-](?:19|20)?[0-9]{2}(?-u:\b)").ok());
    // Of a score or a part of a week, the first figure is the smaller one; 20/12 is a sight.
    static SHORT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:^|[\s(\[])(1[3-9]|2[1-9]|3[01])/(0?[1-9]|1[0-2])(?:$|[\s,;:.)\]?!])").ok());
    static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = r"NHS|A&E|GP|CMHT|CAMHS|HSE|[Mm]um|[Pp]aracetamol|[Ss]albutamol|mmol|[Mm]edicare no|U\+E|U&Es?|FBC|TTO|[Pp]ostcode|[Hh]aem[a-z]+|[Oo]edema|[Pp]aed[a-z]+|[Gg]ynae|on adm|[Mm]am|CRHTT?|HTT|CPN|AMHP|[Ww]ard round|[Ss]amaritans";
        Regex::new(&format!(r"(?-u:\b)(?:{words})(?-u:\b)")).ok()
    });
    let (mut day, mut month) = (0, 0);
    for hit in FULL.iter().flat_map(|full| full.captures_iter(text)) {
        let figures = |group: usize| hit.get(group).and_then(|part| part.as_str().parse::<u32>().ok());
        match (figures(1), figures(2)) {
            (Some(first), Some(second)) if first > 12 && second <= 12 => day += 1,
            (Some(first), Some(second)) if second > 12 && first <= 12 => month += 1,
            _ => {}
        }
    }
    let short = || SHORT.as_ref().is_some_and(|short| short.is_match(text));
    let marked = || MARKS.as_ref().is_some_and(|marks| marks.is_match(text));
    day > month || (day == month && (short() || marked()))
}

/// No part of a longer number or word, no amount, no hour and no date of birth.
fn is_standalone(text: &str, span: Span) -> bool {
    let (before, after) = (&text[..span.start], &text[span.end..]);
    let joined = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '%' | '$' | '€');
    let ahead = |c: char| c.is_alphanumeric() || matches!(c, '/' | '$' | '€');
    let mut rest = after.chars();
    let next = rest.next();
    let decimal = matches!(next, Some('.' | ',' | ':')) && rest.next().is_some_and(|c| c.is_ascii_digit());
    let digits = text[span.start..span.end].ends_with(|c: char| c.is_ascii_digit());
    if before.chars().next_back().is_some_and(ahead) || (digits && (decimal || next.is_some_and(joined))) {
        return false;
    }
    if !digits && next.is_some_and(char::is_alphanumeric) {
        return false;
    }
    let word: String = after.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    if digits && AMOUNTS.contains(word.to_lowercase().as_str()) {
        return false;
    }
    let said = text[span.start..span.end].to_lowercase();
    let tail = |words: &[&str]| words.iter().any(|word| end_of(before, 14).ends_with(word));
    if said == "mañana"
        && tail(&["la ", "esta ", "las ", "de ", "cada ", "media ", "una ", "en ", "a ", "por ", "turno "])
    {
        return false;
    }
    if tail(&["every ", "each ", "cada ", "todos los ", "los ", "most "]) {
        return false;
    }
    let from = before.char_indices().rev().nth(24).map_or(0, |(at, _)| at);
    let lead = before[from..].to_lowercase();
    let last = lead.split_whitespace().next_back().unwrap_or("").trim_end_matches(':');
    let from = before.char_indices().rev().nth(44).map_or(0, |(at, _)| at);
    let clause = before[from..].to_lowercase();
    let clause = clause.rsplit(['\n', ';']).next().unwrap_or_default();
    let scored = |word: &str| SCORES.contains(word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/'));
    if said.contains('/') && said.len() <= 5 && clause.split_whitespace().rev().take(5).any(scored) {
        return false;
    }
    if matches!(said.as_str(), "sat" | "sun" | "wed") && NO_DAY.contains(&last) {
        return false;
    }
    let hour = lead.ends_with("at ") || lead.ends_with("a las ");
    !hour && !BIRTH.iter().any(|word| lead.contains(word))
}

/// The last characters of a text in lower case.
fn end_of(text: &str, count: usize) -> String {
    let from = text.char_indices().rev().nth(count).map_or(0, |(at, _)| at);
    text[from..].to_lowercase()
}
