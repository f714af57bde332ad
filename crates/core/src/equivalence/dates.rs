//! Dates in words and in digits, to the precision they have.

use super::normalize::TextItem;
use anamnesis_text::Language;

const MONTHS: &[&[&str]] = &[
    &["january", "jan", "enero", "ene"],
    &["february", "feb", "febrero"],
    &["march", "mar", "marzo"],
    &["april", "apr", "abril", "abr"],
    &["may", "mayo"],
    &["june", "jun", "junio"],
    &["july", "jul", "julio"],
    &["august", "aug", "agosto", "ago"],
    &["september", "sep", "sept", "septiembre", "setiembre"],
    &["october", "oct", "octubre"],
    &["november", "nov", "noviembre"],
    &["december", "dec", "diciembre", "dic"],
];

fn month(item: Option<&TextItem>) -> Option<u32> {
    let word = item?.word()?;
    (1u32..).zip(MONTHS).find(|(_, names)| names.contains(&word)).map(|(number, _)| number)
}

/// Only 1 to 31: any other number next to a month is no day.
fn day(item: Option<&TextItem>) -> Option<u32> {
    item?.whole().filter(|day| (1..=31).contains(day))
}

/// Four digits: "98" next to a month may be a count.
fn year(item: Option<&TextItem>) -> Option<u32> {
    item?.whole().filter(|year| (1900..=2200).contains(year))
}

/// The date that the items begin with, and how many they are. A month counts only next to a number ("may", "march").
pub(crate) fn read(items: &[TextItem]) -> Option<(usize, String)> {
    if let [TextItem::Date(date), ..] = items {
        return Some((1, date.clone()));
    }
    let mut at = 0;
    let mut first = day(items.first());
    if first.is_some() {
        at = 1 + usize::from(items.get(1).is_some_and(|item| item.is(&["de", "of"])));
    }
    let month = month(items.get(at))?;
    at += 1;
    let bare_day = first.is_none().then(|| day(items.get(at))).flatten();
    if bare_day.is_some() {
        first = bare_day;
        at += 1;
    }
    let gap = usize::from(
        items.get(at).is_some_and(|i| i.is(&["de", "del", "of"]) || matches!(i, TextItem::Sign(',' | '.'))),
    );
    match (year(items.get(at + gap)), first) {
        (Some(year), Some(day)) => Some((at + gap + 1, format!("{year:04}-{month:02}-{day:02}"))),
        (Some(year), None) => Some((at + gap + 1, format!("{year:04}-{month:02}"))),
        (None, Some(day)) => Some((at, format!("--{month:02}-{day:02}"))),
        (None, None) => None,
    }
}

/// A date in digits: 2026-03-02, 02/03/2026. Where day and month could change places and the language does not decide,
/// the digits equal only the same digits.
pub(super) fn written(text: &str, language: Language) -> Option<String> {
    let parts: Vec<u32> = text.split(['-', '/']).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let &[a, b, c] = parts.as_slice() else { return None };
    let iso = |year: u32, month: u32, day: u32| {
        ((1900..=2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day))
            .then(|| format!("{year:04}-{month:02}-{day:02}"))
    };
    // Only a year is that large: 2026-03-02.
    if a > 31 {
        return iso(a, b, c);
    }
    let year = if c < 100 && text.len() >= 8 { 2000 + c } else { c };
    match language {
        Language::Spanish => iso(year, b, a),
        _ if a > 12 || a == b => iso(year, b, a),
        _ if b > 12 => iso(year, a, b),
        // 02/03/2026 in an English text has two readings, so that it equals only the same digits.
        _ => iso(year, a, b).map(|_| text.to_owned()),
    }
}
