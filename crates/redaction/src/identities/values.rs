//! Phones, mail addresses, numbers and birth dates of known people, in any format.

use std::collections::HashMap;

use chrono::{Datelike, NaiveDate};

use super::super::document::DocumentContext;
use super::super::entities::words;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::known_identity::KnownIdentity;
use anamnesis_core::side_value::{Precision, SideValue};
use anamnesis_text::Span;

/// Last digits that identify a phone without its country and area codes.
const PHONE_TAIL: usize = 7;
/// Letters and digits that are enough to recognise a part of an identifier.
const ID_PART: usize = 6;
/// Digits of the shortest way to write a date: 1-5-80.
const SHORTEST_DATE: usize = 4;

/// Finds values of known people.
pub(crate) fn find(context: &DocumentContext<'_>, identities: &[KnownIdentity], found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    let digits = if identities.iter().any(has_digits) { DigitRuns::find_digits(lower) } else { DigitRuns::default() };
    let all =
        if identities.iter().any(|one| !one.ids.is_empty()) { DigitRuns::find(lower) } else { DigitRuns::default() };
    for identity in identities {
        for phone in &identity.phones {
            phones(phone, &digits, found);
        }
        for id in &identity.ids {
            ids(id, &all, found);
        }
        for email in &identity.emails {
            emails(context, email, found);
        }
        if let Some(date) = identity.birth_date {
            birth_dates(date, &digits, found);
        }
    }
}

/// Whether a person has values with digits.
fn has_digits(identity: &KnownIdentity) -> bool {
    !identity.phones.is_empty() || identity.birth_date.is_some()
}

/// A run of letters and digits without its single separators, each with its position.
struct DigitRun<'a> {
    text: &'a str,
    places: &'a [u32],
    digits: usize,
}

impl DigitRun<'_> {
    fn place(&self, at: usize) -> usize {
        self.places[at] as usize
    }

    fn span(&self, start: usize, length: usize) -> Span {
        Span::new(self.place(start), self.place(start + length - 1) + 1)
    }
}

/// Most signs between two letters or digits of a run.
const MOST_GAP: usize = 3;

/// Signs that a value may be written with.
fn parts(byte: u8) -> bool {
    matches!(byte, b' ' | b'.' | b'-' | b'/' | b'(' | b')' | b'+' | b'_' | b',' | b':')
}

/// The runs of a text, one after the other.
#[derive(Default)]
struct DigitRuns {
    text: String,
    places: Vec<u32>,
    /// Where each ends, and how many digits it has.
    ends: Vec<(usize, usize)>,
}

impl DigitRuns {
    /// Runs of ASCII letters and digits with a digit in them, read across spaces, dots, hyphens, slashes and brackets.
    fn find(lower: &str) -> Self {
        let bytes = lower.as_bytes();
        if !bytes.iter().any(u8::is_ascii_digit) {
            return Self::default();
        }
        let (text, places) = (String::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
        let mut runs = Self { text, places, ends: Vec::new() };
        let (mut gap, mut digits) = (0, 0);
        for (place, &byte) in (0u32..).zip(bytes) {
            if byte.is_ascii_alphanumeric() {
                runs.push(byte, place);
                digits += usize::from(byte.is_ascii_digit());
                gap = 0;
            } else {
                gap += 1;
                if !parts(byte) || gap > MOST_GAP {
                    runs.end(std::mem::take(&mut digits));
                }
            }
        }
        runs.end(digits);
        runs
    }

    /// As [`DigitRuns::find`], of digits alone: a letter ends a run.
    fn find_digits(lower: &str) -> Self {
        let bytes = lower.as_bytes();
        let mut runs = Self::default();
        let mut at = 0;
        while let Some(next) = bytes[at..].iter().position(u8::is_ascii_digit) {
            at += next;
            let (mut gap, mut digits) = (0, 0);
            while let Some(&byte) = bytes.get(at) {
                if byte.is_ascii_digit() {
                    runs.push(byte, at as u32);
                    digits += 1;
                    gap = 0;
                } else {
                    gap += 1;
                    if !parts(byte) || gap > MOST_GAP {
                        break;
                    }
                }
                at += 1;
            }
            runs.end(digits);
        }
        runs
    }

    fn push(&mut self, byte: u8, place: u32) {
        self.text.push(char::from(byte));
        self.places.push(place);
    }

    fn end(&mut self, digits: usize) {
        let begun = self.ends.last().map_or(0, |last| last.0);
        if digits > 0 {
            self.ends.push((self.text.len(), digits));
        } else {
            self.text.truncate(begun);
            self.places.truncate(begun);
        }
    }

    fn iter(&self) -> impl Iterator<Item = DigitRun<'_>> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|end| end.0));
        begins.zip(&self.ends).map(|(begin, &(end, digits))| DigitRun {
            text: &self.text[begin..end],
            places: &self.places[begin..end],
            digits,
        })
    }
}

fn phones(phone: &str, runs: &DigitRuns, found: &mut Vec<PiiFinding>) {
    let digits: String = phone.chars().filter_map(|c| c.to_digit(10)).filter_map(|d| char::from_digit(d, 10)).collect();
    if digits.len() < PHONE_TAIL {
        return;
    }
    let tail = &digits[digits.len() - PHONE_TAIL.max(digits.len().min(9))..];
    for run in runs.iter().filter(|run| run.digits >= PHONE_TAIL) {
        for (start, _) in run.text.match_indices(tail) {
            let (from, to) = widen(&run, start, tail.len(), 5);
            push(found, run.span(from, to - from), label::PHONE, "identity_phone", Some(tail.to_owned()));
        }
        // A number given without its area code.
        let short = &tail[tail.len() - PHONE_TAIL..];
        for (start, _) in run.text.match_indices(short) {
            push(found, run.span(start, short.len()), label::PHONE, "identity_phone", Some(tail.to_owned()));
        }
    }
}

/// Digits before the number that belong to it (country and area codes), at most `most`, and its "+".
fn widen(run: &DigitRun<'_>, start: usize, length: usize, most: usize) -> (usize, usize) {
    let bytes = run.text.as_bytes();
    let mut from = start;
    while from > 0 && start - from < most && bytes[from - 1].is_ascii_digit() && near(run, from) {
        from -= 1;
    }
    (from, start + length)
}

fn near(run: &DigitRun<'_>, at: usize) -> bool {
    run.place(at) - run.place(at - 1) <= 3
}

fn ids(id: &str, runs: &DigitRuns, found: &mut Vec<PiiFinding>) {
    let value: String = words::fold(id).chars().filter(char::is_ascii_alphanumeric).collect();
    if value.len() < 4 {
        return;
    }
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    for run in runs.iter() {
        for part in [&value, &digits] {
            if part != &value && part.len() < ID_PART {
                continue;
            }
            for (start, _) in run.text.match_indices(part.as_str()) {
                push(found, run.span(start, part.len()), label::NUMBER, "identity_id", Some(value.clone()));
            }
        }
    }
}

fn emails(context: &DocumentContext<'_>, email: &str, found: &mut Vec<PiiFinding>) {
    let folded = words::fold(email.trim());
    let lower = &context.view.lower;
    let user = folded.split('@').next().unwrap_or_default();
    for part in [folded.as_str(), user] {
        if part.len() < 5 {
            continue;
        }
        for (start, _) in lower.match_indices(part) {
            let span = Span::new(start, start + part.len());
            if words::is_whole_word(lower, span) {
                push(found, span, label::EMAIL, "identity_email", Some(folded.clone()));
            }
        }
    }
}

fn birth_dates(date: NaiveDate, runs: &DigitRuns, found: &mut Vec<PiiFinding>) {
    let (year, month, day) = (date.year(), date.month(), date.day());
    let short = year.rem_euclid(100);
    let mut forms: HashMap<String, bool> = HashMap::new();
    for (a, b) in [(day, month), (month, day)] {
        forms.insert(format!("{a:02}{b:02}{year:04}"), true);
        forms.insert(format!("{a}{b}{year:04}"), false);
        forms.insert(format!("{a:02}{b}{year:04}"), false);
        forms.insert(format!("{a}{b:02}{year:04}"), false);
        forms.insert(format!("{year:04}{a:02}{b:02}"), true);
        forms.insert(format!("{a:02}{b:02}{short:02}"), false);
        forms.insert(format!("{a}{b}{short:02}"), false);
    }
    let value = SideValue::Date { date, precision: Precision::Day };
    for run in runs.iter().filter(|run| run.digits >= SHORTEST_DATE) {
        for (form, anywhere) in &forms {
            for (start, _) in run.text.match_indices(form.as_str()) {
                let bytes = run.text.as_bytes();
                let open =
                    start == 0 || !bytes[start - 1].is_ascii_digit() || run.place(start) - run.place(start - 1) > 1;
                let last = start + form.len();
                let shut =
                    last == bytes.len() || !bytes[last].is_ascii_digit() || run.place(last) - run.place(last - 1) > 1;
                if *anywhere || (open && shut) {
                    push(found, run.span(start, form.len()), label::DATE, "identity_birth_date", None);
                    if let Some(finding) = found.last_mut() {
                        finding.value = Some(value);
                    }
                }
            }
        }
    }
}

fn push(
    found: &mut Vec<PiiFinding>,
    span: Span,
    label: &'static str,
    recognizer: &'static str,
    subject: Option<String>,
) {
    let mut finding = PiiFinding::new(span, label, recognizer, 1.0, DetectionLayer::Identity);
    finding.subject = subject;
    found.push(finding);
}
