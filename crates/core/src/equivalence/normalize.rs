//! A text as words, numbers and dates: number words read, glued units set apart, contractions undone.

use super::dates;
use crate::quantity::{is_unit, number};
use crate::wording::{FoldedWord, plain_words};
use anamnesis_text::{Language, NumberWord, TokenKind, detect, number_words};

/// One unit of meaning.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TextItem {
    Word {
        folded: String,
        /// In lower case with its accents: "tomó" is past, "tomo" is not.
        raw: String,
        /// Capitalised inside the text: a person's or something's name.
        named: bool,
    },
    Number(f64),
    /// Digits whose value is not certain or not one number: "120/80", "1-0-1".
    Raw(String),
    /// ISO 8601, to the precision that is known.
    Date(String),
    Sign(char),
}

impl TextItem {
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word { folded, .. } => Some(folded),
            _ => None,
        }
    }

    pub(crate) fn is(&self, any_of: &[&str]) -> bool {
        self.word().is_some_and(|word| any_of.contains(&word))
    }

    /// The whole number of this item, where it is one.
    pub(crate) fn whole(&self) -> Option<u32> {
        match self {
            Self::Number(value) if value.fract() == 0.0 && (0.0..=100_000.0).contains(value) => Some(*value as u32),
            _ => None,
        }
    }
}

pub(super) fn items(text: &str) -> Vec<TextItem> {
    let language = detect(text);
    let numbers = number_words(text, language);
    let words = plain_words(text);
    let mut out = Vec::with_capacity(words.len());
    let mut read_until = 0;
    for (at, word) in words.iter().enumerate() {
        if word.span.start < read_until {
            continue;
        }
        if let Some(item) = sign_that_counts(word, text) {
            out.push(item);
            continue;
        }
        if let Some((digits, unit)) = leading_point(&words, at, text) {
            out.extend(format!("0.{digits}").parse().ok().map(TextItem::Number));
            out.extend((!unit.is_empty()).then(|| plain(unit)));
            read_until = words[at + 1].span.end;
            continue;
        }
        if is_designation(out.last(), word) {
            out.push(TextItem::Raw(word.folded.clone()));
            continue;
        }
        // "half a tablet"
        if word.is(&["a", "an"]) && out.last() == Some(&TextItem::Number(0.5)) {
            continue;
        }
        let spoken = numbers.iter().find(|number| number.span.start == word.span.start);
        match spoken.filter(|number| counts(number, text, words.get(at + 1), language)) {
            Some(NumberWord { value: Some(value), span, .. }) => {
                out.push(TextItem::Number(*value));
                read_until = span.end;
            }
            _ => push(&mut out, word, text, language),
        }
    }
    out
}

/// Signs that change the statement: "A+" and "A-", "> 39" and "< 39", "-5", a question.
fn sign_that_counts(word: &FoldedWord, text: &str) -> Option<TextItem> {
    let sign = word.folded.chars().next().filter(|_| word.is_sign())?;
    let glued_before = text[..word.span.start].ends_with(|c: char| c.is_alphanumeric());
    let glued_after = text[word.span.end..].starts_with(|c: char| c.is_alphanumeric());
    let digit_after = text[word.span.end..].starts_with(|c: char| c.is_ascii_digit());
    let counts = match sign {
        '<' | '>' | '≤' | '≥' | '±' | '~' | '≈' | '≠' | '↑' | '↓' | '?' => true,
        '+' => glued_before && !glued_after,
        '-' => (glued_before && !glued_after) || (digit_after && !glued_before),
        _ => false,
    };
    counts.then(|| TextItem::Raw(sign.to_string()))
}

/// ".5 mg" is half a milligram and never five.
fn leading_point<'a>(words: &'a [FoldedWord], at: usize, text: &str) -> Option<(&'a str, &'a str)> {
    let (point, digits) = (&words[at], words.get(at + 1)?);
    let alone = !text[..point.span.start].ends_with(|c: char| c.is_alphanumeric());
    let glued = point.span.end == digits.span.start;
    let number = digits.folded.bytes().take_while(u8::is_ascii_digit).count();
    (point.is(&[".", ","]) && alone && glued && number > 0).then(|| digits.folded.split_at(number))
}

/// Names of series whose members have a letter: vitamin A is not vitamin E.
const SERIES: &[&str] = &[
    "vitamin",
    "vitamina",
    "hepatitis",
    "type",
    "tipo",
    "group",
    "grupo",
    "grade",
    "grado",
    "class",
    "clase",
    "stage",
    "estadio",
    "phase",
    "fase",
    "influenza",
    "factor",
];

fn is_designation(before: Option<&TextItem>, word: &FoldedWord) -> bool {
    let letter = word.kind == TokenKind::Word && word.folded.chars().count() == 1;
    letter && (before.is_some_and(|item| item.is(SERIES)) || (word.named && !word.is(&["i"])))
}

/// Articles are numbers only before what can be counted; "once" is eleven in Spanish alone.
fn counts(number: &NumberWord, text: &str, next: Option<&FoldedWord>, language: Language) -> bool {
    let counted = next.is_some_and(|next| is_unit(&next.folded) || next.is(&["vez", "veces", "time", "times"]));
    match number.span.slice(text).to_lowercase().as_str() {
        "un" | "una" | "uno" | "one" => counted,
        "once" => language == Language::Spanish && counted,
        "oh" => false,
        _ => true,
    }
}

fn push(out: &mut Vec<TextItem>, word: &FoldedWord, text: &str, language: Language) {
    match word.kind {
        TokenKind::Punctuation => out.extend(word.folded.chars().next().map(TextItem::Sign)),
        TokenKind::Number => out.push(value(&word.folded, language)),
        TokenKind::Mixed => mixed(out, word, text, language),
        TokenKind::Word | TokenKind::Email => {
            for part in denial_apart(&word.folded) {
                let raw =
                    if part.len() == word.folded.len() { word.span.slice(text).to_lowercase() } else { part.into() };
                out.push(TextItem::Word { folded: part.to_owned(), raw, named: word.named });
            }
        }
    }
}

fn plain(folded: &str) -> TextItem {
    TextItem::Word { folded: folded.to_owned(), raw: folded.to_owned(), named: false }
}

/// "non-smoker" denies smoking.
fn denial_apart(folded: &str) -> Vec<&str> {
    match folded.split_once('-') {
        Some((no @ ("non" | "no"), rest)) => vec![no, rest],
        _ => vec![folded],
    }
}

/// A written number. The separator of thousands depends on the language; where two readings remain, the digits equal
/// only the same digits.
fn value(digits: &str, language: Language) -> TextItem {
    let signs = digits.matches([',', '.']).count();
    let tail = digits.rsplit([',', '.']).next().unwrap_or("");
    let doubtful = signs == 1 && tail.len() == 3 && !digits.starts_with(['0', '.', ',']) && tail != "000";
    let sign = digits.chars().find(|c| matches!(c, ',' | '.'));
    let grouping = match (language, sign) {
        _ if !doubtful && signs == 1 && tail == "000" => sign.unwrap_or('\0'),
        (Language::Spanish, Some(',')) | (Language::Unknown, _) if doubtful => return TextItem::Raw(digits.to_owned()),
        (Language::Spanish, _) => '.',
        (Language::English, _) => ',',
        (Language::Unknown, _) => '\0',
    };
    number(digits, grouping).map_or_else(|| TextItem::Raw(digits.to_owned()), TextItem::Number)
}

/// Digits and letters together: "50mg", "120/80", "2026-03-02", "c/8h", "50mg/day", "3rd".
fn mixed(out: &mut Vec<TextItem>, word: &FoldedWord, text: &str, language: Language) {
    let folded = word.folded.as_str();
    if let Some(date) = dates::written(folded, language) {
        return out.push(TextItem::Date(date));
    }
    if let Some(hours) = folded.strip_prefix("c/").or_else(|| folded.strip_prefix('q'))
        && hours.starts_with(|c: char| c.is_ascii_digit())
    {
        out.push(plain("every"));
        return glued(out, hours, language);
    }
    match folded.rsplit_once('/') {
        Some((amount, period)) if is_unit(period) && !period.starts_with(|c: char| c.is_ascii_digit()) => {
            glued(out, amount, language);
            out.extend([plain("per"), plain(period)]);
        }
        Some(("1", "2")) => out.push(TextItem::Number(0.5)),
        Some(("1", "4")) => out.push(TextItem::Number(0.25)),
        Some(("3", "4")) => out.push(TextItem::Number(0.75)),
        _ if folded.starts_with(|c: char| c.is_ascii_digit()) => glued(out, folded, language),
        _ => {
            let raw = word.span.slice(text).to_lowercase();
            out.push(TextItem::Word { folded: folded.to_owned(), raw, named: word.named });
        }
    }
}

/// A number and the letters glued to it.
fn glued(out: &mut Vec<TextItem>, text: &str, language: Language) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(text.len());
    let (digits, letters) = text.split_at(end);
    if letters.chars().any(|c| !c.is_alphabetic() && c != '%') {
        return out.push(TextItem::Raw(text.to_owned()));
    }
    if !digits.is_empty() {
        out.push(value(digits, language));
    }
    if !letters.is_empty() && !matches!(letters, "st" | "nd" | "rd" | "th") {
        out.push(plain(letters));
    }
}
