//! Phones: international numbers, the groupings in which the countries of contract.md write theirs, and any number
//! next to a word that announces a phone.

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::keyword_index::KeywordLookup;
use crate::deadline;
use anamnesis_text::Span;

pub(crate) const KEYWORDS: &[&str] = &[
    "telefono",
    "telefonos",
    "telefonico",
    "tel",
    "tel.",
    "tlf",
    "tlf.",
    "tfno",
    "tfno.",
    "tfn",
    "movil",
    "celular",
    "telf",
    "telf.",
    "fax",
    "whatsapp",
    "wasap",
    "wsp",
    "contacto",
    "llamar",
    "llamame",
    "llameme",
    "llamarme",
    "numero de contacto",
    "phone",
    "mobile",
    "cell phone",
    "call",
    "call me",
    "telephone",
    "pager",
    "reach me",
    "landline",
    "marque",
    "my number",
    "mi numero",
    "my cell",
];
/// Groupings of digits that are written for phones and nothing else, without the country code.
const GROUPINGS: &[&[usize]] = &[
    &[3, 3, 3],
    &[3, 2, 2, 2],
    &[3, 3, 2, 2],
    &[2, 3, 2, 2],
    &[3, 6],
    &[3, 3, 4],
    &[2, 4, 4],
    &[1, 4, 4],
    &[5, 6],
    &[3, 4, 4],
    &[4, 3, 3],
    &[4, 3, 4],
    &[5, 3, 3],
    &[1, 3, 3, 4],
    &[2, 3, 3, 3],
    &[2, 2, 2, 2, 2],
    &[3, 7],
    &[4, 7],
    &[4, 6],
    &[2, 8],
    &[2, 7],
    &[5, 4, 2],
];

/// Crisis lines with the length of a phone, and poison control: help that must stay readable (Spain, United Kingdom, United
/// States, Mexico, Argentina).
const CRISIS_LINES: &[&str] = &[
    "717003717",
    "116111",
    "116123",
    "08000684141",
    "8002738255",
    "18002738255",
    "741741",
    "8009112000",
    "018009112000",
    "5552598121",
    "08003451435",
    "8002221222",
    "18002221222",
    "8664887386",
    "18664887386",
];

/// Whether digits are a line that people in need must be able to read.
pub(crate) fn is_crisis_line(digits: &str) -> bool {
    CRISIS_LINES.contains(&digits)
}

/// Finds phones. Emergency and crisis lines have three digits and are never long enough.
pub(crate) fn find(context: &DocumentContext<'_>, announced: &KeywordLookup<'_>, found: &mut Vec<PiiFinding>) {
    let bytes = context.view.lower.as_bytes();
    let mut run =
        PhoneRun { span: Span::new(0, 0), plus: false, groups: Vec::new(), digits: String::new(), signs: Vec::new() };
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'(')) {
        deadline::check();
        at += next;
        if !starts_number(bytes, at) {
            at += 1;
            continue;
        }
        read(bytes, at, &mut run);
        if let Some(score) = phone_score(context, announced, &run) {
            found.push(PiiFinding::new(run.span, label::PHONE, "phone", score, DetectionLayer::Identifier));
        }
        at = run.span.end.max(at + 1);
    }
}

struct PhoneRun {
    span: Span,
    plus: bool,
    /// Digits in each group.
    groups: Vec<usize>,
    digits: String,
    /// Separators other than spaces, as they come.
    signs: Vec<u8>,
}

fn starts_number(bytes: &[u8], at: usize) -> bool {
    let free =
        at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || matches!(bytes[at - 1], b'+' | b'.' | b',' | b'_'));
    let next_digit = |from: usize| bytes.get(from).is_some_and(u8::is_ascii_digit);
    free && match bytes[at] {
        b'0'..=b'9' => true,
        b'+' => next_digit(at + 1) || (bytes.get(at + 1) == Some(&b' ') && next_digit(at + 2)),
        b'(' => next_digit(at + 1) || bytes.get(at + 1) == Some(&b'+'),
        _ => false,
    }
}

/// Reads digits and single separators, at most 17 digits, into a run that is used again.
fn read(bytes: &[u8], start: usize, run: &mut PhoneRun) {
    (run.span, run.plus) = (Span::new(start, start), false);
    run.groups.clear();
    run.digits.clear();
    run.signs.clear();
    let (mut at, mut gap, mut open) = (start, 0, 0);
    while at < bytes.len() && run.digits.len() < 18 {
        match bytes[at] {
            digit @ b'0'..=b'9' => {
                if gap > 0 || run.groups.is_empty() {
                    run.groups.push(0);
                }
                if let Some(last) = run.groups.last_mut() {
                    *last += 1;
                }
                run.digits.push(digit as char);
                (gap, open) = (0, run.signs.len());
                run.span.end = at + 1;
            }
            b'+' if run.digits.is_empty() => run.plus = true,
            b' ' if gap < 3 => gap += 1,
            sign @ (b'.' | b'-' | b'/' | b'(' | b')') if gap < 3 => {
                run.signs.push(sign);
                gap += 1;
            }
            _ => break,
        }
        at += 1;
    }
    run.signs.truncate(open);
}

fn phone_score(context: &DocumentContext<'_>, announced: &KeywordLookup<'_>, run: &PhoneRun) -> Option<f64> {
    let count = run.digits.len();
    if is_crisis_line(&run.digits)
        || !(6..=15).contains(&count)
        || ends_inside(context, run.span.end)
        || is_date_or_decimal(run)
    {
        return None;
    }
    // A country code follows "00", and no country code begins with 0.
    let dialled = run.digits.starts_with("00") && !run.digits.starts_with("000") && count >= 11 && run.groups[0] != 3;
    // A bare value that begins with zeros may be anything, unless Spain's numbers follow.
    let dialled = dialled
        && (context.prose
            || run.groups.len() > 1
            || run.digits.starts_with("0034") && count == 13 && run.digits[4..].starts_with(['6', '7', '8', '9']));
    let international = run.plus && count >= 8 || dialled;
    if international {
        return Some(0.95);
    }
    if announced.is_before(run.span, KEYWORDS) {
        return Some(0.9);
    }
    let repeated = run.digits.bytes().all(|digit| digit == run.digits.as_bytes()[0]);
    if repeated {
        return None;
    }
    let slashed = run.signs.contains(&b'/');
    let grouped = (9..=13).contains(&count) && !slashed && GROUPINGS.contains(&run.groups.as_slice())
        || run.groups == [3, 2, 3] && is_rung(context, run.span);
    let bracketed = run.signs.first() == Some(&b'(')
        && count >= 8
        && run.groups[0] <= 4
        && context.view.plain[run.span.start..].starts_with(['(', '+']);
    // "555-1234" and "4321-9876".
    let short = matches!(run.groups.as_slice(), [3, 4] | [4, 4]) && run.signs == [b'-'] && !is_years(&run.digits);
    // Spanish numbers begin with 6 to 9, mobile ones of other countries have ten digits or eleven with a zero.
    let bare = run.groups.len() == 1
        && (count == 9 && run.digits.starts_with(['6', '7', '8', '9']) || count == 11 && run.digits.starts_with("07"));
    (grouped || bracketed || short || bare).then_some(0.7)
}

/// "El de mi hermana, 705 55 013. Al mío no llame": a person rings or is rung in the words around.
fn is_rung(context: &DocumentContext<'_>, span: Span) -> bool {
    const AROUND: usize = 80;
    const RINGS: &[&str] =
        &["telefono", "celular", "movil", "llam", "whatsapp", "wsp", "phone", "mobile", "call ", "text me", "ring "];
    let text = &context.view.lower;
    let (mut start, mut end) = (span.start.saturating_sub(AROUND), (span.end + AROUND / 2).min(text.len()));
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    RINGS.iter().any(|word| text[start..end].contains(word))
}

fn ends_inside(context: &DocumentContext<'_>, end: usize) -> bool {
    let bytes = context.view.lower.as_bytes();
    let extension = context.view.lower[end..].starts_with('x');
    bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) && !extension
}

/// "12/03/2019", "1.234.567", "2001-2004".
fn is_date_or_decimal(run: &PhoneRun) -> bool {
    let dates = matches!(run.groups.as_slice(), [1 | 2, 1 | 2, 4] | [4, 1 | 2, 1 | 2] | [1 | 2, 2, 2]);
    let thousands = run.groups.len() >= 2
        && run.groups[0] <= 3
        && run.groups[1..].iter().all(|group| *group == 3)
        && run.signs.len() == run.groups.len() - 1
        && run.signs.iter().all(|sign| *sign == b'.')
        && !(run.groups[0] == 3 && run.groups.len() == 3 && run.digits.starts_with(['6', '7', '9']));
    // "150.000-400.000": two amounts.
    let range = run.signs.contains(&b'-') && run.signs.contains(&b'.') && run.groups[1..].contains(&3);
    (range && !run.plus)
        || (dates && !run.plus && run.digits.len() <= 8)
        || (thousands && !run.plus)
        || is_years(&run.digits) && run.groups == [4, 4]
}

fn is_years(digits: &str) -> bool {
    digits.len() == 8
        && [&digits[..4], &digits[4..]].iter().all(|year| year.starts_with("19") || year.starts_with("20"))
}
