//! Form fields: the value after "Nombre:", "Domicilio:" or "DOB:" has the kind of the field, whatever it looks like.

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::lexicon;
use crate::pattern::compiled;
use crate::word_tables::{self, WordList, WordMap};
use anamnesis_text::Span;

const TABLE: &str = include_str!("../data/headers.txt");
/// Longest field name and value that are read, in bytes.
const LONGEST_NAME: usize = 28;
const LONGEST_VALUE: usize = 110;

/// The end of a value: the next field, a wide gap, a sentence.
static END: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\n|\t| {2,}|[;|]|\.(?:\s|$)| (?:n[º°]? ?col|nhc|nass|edad|sexo|cp|tel|tfno|tlf|telefono|fecha|servicio|sex|age|dob|mrn|phone)[a-z. ]{0,16}:",
    )
});

/// The next field: a few words and a colon.
static FIELD: LazyLock<Regex> = LazyLock::new(|| compiled(r"^\s*[a-z][a-z. /]{1,24}:"));

/// The compiled table.
pub(crate) struct FormHeaders {
    names: WordMap<&'static str>,
    /// By length: whether a name is so long.
    lengths: [bool; LONGEST_NAME + 1],
}

impl FormHeaders {
    pub(crate) fn builtin() -> Self {
        let (mut names, mut lengths) = (WordMap::default(), [false; LONGEST_NAME + 1]);
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, list)) = line.split_once('|') else { continue };
            let kinds = label::ALL.iter().chain(&[label::COUNTRY]);
            let Some(kind) = kinds.copied().find(|known| *known == name.trim()) else { continue };
            for field in list.split(',').map(str::trim) {
                names.insert(field, kind);
                if let Some(length) = lengths.get_mut(field.len()) {
                    *length = true;
                }
            }
        }
        Self { names, lengths }
    }

    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        let lower = &context.view.lower;
        for (colon, _) in lower.match_indices(':') {
            let Some((kind, name)) = self.field_before(lower, colon) else { continue };
            let from =
                colon + 1 + lower[colon + 1..].len() - lower[colon + 1..].trim_start_matches([' ', '\t', '*']).len();
            let mut to = (from + LONGEST_VALUE).min(lower.len());
            while !lower.is_char_boundary(to) {
                to -= 1;
            }
            let value = &lower[from..to];
            let end = end_of(value);
            value_of(context, kind, name, Span::new(from, from + end), found);
        }
    }

    /// The longest known field name that ends at a colon and begins a line, a clause or a cell.
    fn field_before<'a>(&self, lower: &'a str, colon: usize) -> Option<(&'static str, &'a str)> {
        let end = lower[..colon].trim_end_matches([' ', '*']).len();
        let mut start = end.saturating_sub(LONGEST_NAME);
        while !lower.is_char_boundary(start) {
            start += 1;
        }
        (start..end).filter(|at| self.lengths[end - at] && lower.is_char_boundary(*at)).find_map(|at| {
            let name = &lower[at..end];
            let kind = self.names.get(name)?;
            let before = lower[..at].trim_end_matches([' ', '*', '#', '•', '>']);
            let fresh = before.is_empty()
                || before.ends_with(['\n', '.', ',', ';', '|', '\t', ')', ':', '-'])
                || lower[..at].ends_with("  ");
            let form = fresh
                || matches!(
                    *kind,
                    label::SEX | label::AGE | label::LICENSE | label::POSTAL_CODE | label::DATE | label::MEDICAL_RECORD
                ) && lower[..at].ends_with(' ');
            form.then_some((*kind, name))
        })
    }
}

fn end_of(value: &str) -> usize {
    let mut from = 0;
    while let Some(hit) = END.find_at(value, from) {
        // "C. Mayor 3", "Dr. Ruiz", "Sta. Ana": a dot after a short word ends nothing.
        let word = value[..hit.start()].rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let short = hit.as_str().starts_with('.')
            && word.len() <= 3
            && word.bytes().all(|b| b.is_ascii_alphabetic())
            && !word.is_empty();
        let goes_on = value[hit.end()..].starts_with(|c: char| c.is_ascii_digit() || c == '#') && hit.as_str() == ". ";
        let field = FIELD.is_match(&value[hit.end()..]);
        if !(short || goes_on) || field || hit.as_str().contains('\n') || hit.end() >= value.len() {
            return hit.start();
        }
        from = hit.end();
    }
    value.len()
}

fn value_of(context: &DocumentContext<'_>, kind: &'static str, name: &str, span: Span, found: &mut Vec<PiiFinding>) {
    let text = span.slice(&context.view.lower);
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    match kind {
        label::PERSON => person(context, span, is_name_field(name), found),
        label::LOCATION | label::COUNTRY => place(context, kind, span, found),
        label::DATE => {
            let length =
                text.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'/' | b'-' | b'.' | b' ')).count();
            let value = text[..length].trim_end_matches([' ', '.', '-']);
            if value.bytes().filter(u8::is_ascii_digit).count() >= 4 {
                push(found, Span::new(span.start, span.start + value.len()), kind);
            }
        }
        label::AGE | label::SEX => {
            let length = text.find([',', '(', '/']).unwrap_or(text.len()).min(text.find(" sex").unwrap_or(text.len()));
            let value = text[..length].trim();
            let known = if kind == label::AGE { has_digit } else { value.len() <= 10 };
            if known && !value.is_empty() {
                let years = value.split(|c: char| !c.is_ascii_digit()).find_map(|n| n.parse::<u16>().ok()).unwrap_or(0);
                let shown = if kind == label::AGE { context.policy.age_label(years) } else { kind };
                push(found, Span::new(span.start, span.start + value.len()), shown);
            }
        }
        label::ADDRESS
            if (name != "calle" || has_digit)
                && text.len() > 3
                && (has_digit
                    || context.tokens.get(context.token_at(span.start)).is_some_and(|t| t.is_capitalized())) =>
        {
            push(found, span, kind);
        }
        label::ORGANIZATION => {
            let large = context.tokens.get(context.token_at(span.start)).is_some_and(|t| t.is_capitalized());
            let length = text.find([',', '(']).unwrap_or(text.len());
            if large && length < 80 {
                push(found, Span::new(span.start, span.start + length), kind);
            }
        }
        label::PROFESSION => push(found, span, kind),
        _ if has_digit => number(kind, text, span, found),
        _ => {}
    }
}

/// A number with what clings to it: "nhc-123789", "28 28 20943", "E-28935".
fn number(kind: &'static str, text: &str, span: Span, found: &mut Vec<PiiFinding>) {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        compiled(r"^(?:[a-z]{1,4}[-/.]?){0,2}[0-9][0-9a-z]*(?:[-/. +]{1,2}[0-9][0-9a-z]*){0,5}(?:-[a-z])?")
    });
    let lead = if text.starts_with("nhc") {
        text.len() - text.trim_start_matches(|c: char| !c.is_ascii_digit()).len()
    } else {
        0
    };
    if let Some(hit) = NUMBER.find(&text[lead..]) {
        push(found, Span::new(span.start + lead, span.start + lead + hit.end()), kind);
    }
}

/// Fields that hold a name and nothing else: what is capitalised there is a part of it.
fn is_name_field(name: &str) -> bool {
    name.starts_with("nombre")
        || name.contains("apellido")
        || name.ends_with("name")
        || matches!(name, "medico" | "medica")
}

/// Words of a name from the start of a value: letters, particles, hyphens, dots of initials.
fn person(context: &DocumentContext<'_>, span: Span, name_only: bool, found: &mut Vec<PiiFinding>) {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "headers.person");
    let mut first = None;
    let mut last = None;
    let mut words = 0;
    for at in context.token_at(span.start)..context.tokens.len() {
        let token = &context.tokens[at];
        if token.span.end > span.end || words > 7 {
            break;
        }
        let lower = context.lower(token);
        let title = words == 0 && WORDS.contains(lower);
        if title || matches!(lower, "." | "," | "-" | "'" | "º" | "ª") {
            let comma_end = lower == ","
                && words >= 2
                && !context.tokens.get(at + 1).is_some_and(|next| lexicon::word(context.lower(next)).is_name());
            if comma_end {
                break;
            }
            continue;
        }
        let particle = words > 0
            && matches!(lower, "de" | "del" | "la" | "las" | "los" | "y" | "i" | "e" | "van" | "von" | "da" | "dos");
        let word = lexicon::word(lower);
        let plain_common =
            word.common && !word.is_name() && !(name_only && token.is_capitalized()) || super::cues::is_field(lower);
        let known = name_only
            || words > 0
            || word.is_name()
            || context.tokens.get(at + 1).is_some_and(|next| next.is_capitalized());
        let name = token.is_word()
            && known
            && !plain_common
            && (token.is_capitalized()
                || word.is_name()
                || words == 0 && name_only && lower.len() > 1 && span.len() < 30);
        if particle {
            continue;
        }
        if !name {
            break;
        }
        words += 1;
        first.get_or_insert(token.span.start);
        last = Some(token.span.end);
    }
    if let (Some(start), Some(end)) = (first, last) {
        found.push(PiiFinding::new(Span::new(start, end), label::PERSON, "field", 0.95, DetectionLayer::Entity));
    }
}

/// Places of a field, cut at commas, slashes and brackets; a number among them is a postal code.
fn place(context: &DocumentContext<'_>, kind: &'static str, span: Span, found: &mut Vec<PiiFinding>) {
    let text = span.slice(&context.view.lower);
    let mut start = 0;
    for part in text.split_inclusive([',', '/', '(', ')']) {
        let value = part.trim_matches([',', '/', '(', ')', ' ', '.', '-']);
        let lead = part.find(value).unwrap_or(0);
        let place = Span::new(span.start + start + lead, span.start + start + lead + value.len());
        start += part.len();
        let words = value.split(' ').count();
        if value.is_empty() || value.len() > 50 || words > 6 {
            continue;
        }
        let digits = value.bytes().any(|byte| byte.is_ascii_digit());
        if digits {
            if value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') && value.len() >= 4 {
                push(found, place, label::POSTAL_CODE);
            }
            continue;
        }
        let large = context.tokens.get(context.token_at(place.start)).is_some_and(|token| token.is_capitalized());
        if large || super::places::is_place(value) {
            push(found, place, if super::places::is_country(value) { label::COUNTRY } else { kind });
        }
    }
}

fn push(found: &mut Vec<PiiFinding>, span: Span, label: &'static str) {
    if !span.is_empty() {
        found.push(PiiFinding::new(span, label, "field", 0.95, DetectionLayer::Entity));
    }
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
