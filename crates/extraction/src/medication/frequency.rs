//! How often: fixed phrases of the list, and patterns with a number ("cada 8 horas", "c/8h", "q6h", "1-0-1",
//! "3 veces al día", "/24h").

use std::ops::Range;

use super::dose::number_at;
use super::regimen::RegimenPart;
use crate::tokenized::TokenizedText;

pub(crate) struct FrequencyRules;

impl FrequencyRules {
    /// The first frequency within a range; "as needed" after another is added to it.
    pub(crate) fn find(
        &self,
        reading: &TokenizedText<'_>,
        labels: &[(Range<usize>, &'static str)],
        within: Range<usize>,
    ) -> Option<RegimenPart> {
        let mut first: Option<RegimenPart> = None;
        let mut word = within.start;
        while word < within.end {
            let Some(said) = frequency_at(reading, labels, word, within.end) else {
                word += 1;
                continue;
            };
            word = said.words.end;
            match &mut first {
                None => first = Some(said),
                Some(known) if said.text == "as needed" && known.text != "as needed" => {
                    known.text.push_str(" as needed");
                    return first;
                }
                Some(_) => {}
            }
        }
        first
    }
}

fn frequency_at(
    reading: &TokenizedText<'_>,
    labels: &[(Range<usize>, &'static str)],
    word: usize,
    limit: usize,
) -> Option<RegimenPart> {
    let text = reading.word(word);
    let one = |text: String| RegimenPart { text, words: word..word + 1 };
    if is_scheme(text) {
        return Some(one(text.to_owned()));
    }
    if let Some(hours) = shorthand(text) {
        if let Some(unit) = unit(reading.word(word + 1)).filter(|unit| *unit != "hours") {
            return Some(RegimenPart { text: every(hours, unit), words: word..word + 2 });
        }
        let unit = matches!(reading.word(word + 1), "h" | "hs" | "hr" | "hrs" | "horas" | "hours");
        let end = if unit { word + 2 } else { word + 1 };
        return Some(RegimenPart { text: every(hours, "hours"), words: word..end });
    }
    if let Some(per) = per_time(text) {
        return Some(one(per.to_owned()));
    }
    if text == "/" {
        let hours = hours_of(reading.word(word + 1));
        let day = matches!(reading.word(word + 1), "dia" | "day" | "d" | "24h");
        let end = if matches!(reading.word(word + 2), "h" | "horas" | "hours") { word + 3 } else { word + 2 };
        return match (hours, day) {
            (Some(hours), _) => Some(RegimenPart { text: every(hours, "hours"), words: word..end }),
            (None, true) => Some(RegimenPart { text: "1/day".into(), words: word..word + 2 }),
            _ => None,
        };
    }
    // "3x day", "2x/day", "x3 daily".
    let count = text
        .strip_suffix('x')
        .or_else(|| text.strip_prefix('x'))
        .and_then(|n| n.parse::<u32>().ok())
        .filter(|n| *n <= 6);
    if let Some(times) = count {
        let next =
            (word + 1..limit.min(word + 4)).find(|at| !matches!(reading.word(*at), "a" | "per" | "/" | "al" | "por"));
        let per = next.and_then(|at| match reading.word(at) {
            "day" | "daily" | "dia" => Some((at, "day")),
            "week" | "weekly" | "semana" => Some((at, "week")),
            _ => None,
        });
        if let Some((at, per)) = per {
            return Some(RegimenPart { text: format!("{times}/{per}"), words: word..at + 1 });
        }
    }
    if let Some(said) = every_so_often(reading, word, limit).or_else(|| times(reading, word, limit)) {
        return Some(said);
    }
    let (at, name) = labels.iter().find(|(at, name)| at.start == word && name.starts_with("freq:"))?;
    Some(RegimenPart { text: name["freq:".len()..].to_owned(), words: at.clone() })
}

/// "cada 8 horas", "cada doce horas", "every 3 weeks", "q 6 h".
fn every_so_often(reading: &TokenizedText<'_>, word: usize, limit: usize) -> Option<RegimenPart> {
    if !matches!(reading.word(word), "cada" | "every" | "q" | "each") {
        return None;
    }
    let (next, number) = number_at(reading, word + 1, limit)?;
    let unit = unit(reading.word(next))?;
    let number: u32 = number.parse().ok()?;
    Some(RegimenPart { text: every(number, unit), words: word..next + 1 })
}

/// "3 veces al día", "two times a week", "cinco veces al dia".
fn times(reading: &TokenizedText<'_>, word: usize, limit: usize) -> Option<RegimenPart> {
    let (next, number) = number_at(reading, word, limit)?;
    if !matches!(reading.word(next), "veces" | "vez" | "times" | "time" | "tomas") {
        return None;
    }
    let after = match (reading.word(next + 1), reading.word(next + 2)) {
        ("a" | "por" | "per", "la") => next + 3,
        ("al" | "a" | "per" | "por" | "the" | "cada", _) => next + 2,
        _ => next + 1,
    };
    let per = match reading.word(after) {
        "dia" | "day" | "daily" | "diarias" => "day",
        "semana" | "week" | "weekly" | "semanales" => "week",
        "mes" | "month" => "month",
        _ => return None,
    };
    Some(RegimenPart { text: format!("{number}/{per}"), words: word..after + 1 })
}

fn unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "h" | "hs" | "hr" | "hrs" | "hora" | "horas" | "hour" | "hours" => "hours",
        "dia" | "dias" | "day" | "days" => "days",
        "semana" | "semanas" | "week" | "weeks" => "weeks",
        "mes" | "meses" | "month" | "months" => "months",
        _ => return None,
    })
}

/// Hours that divide the day are said as times a day.
fn every(number: u32, unit: &str) -> String {
    match (number, unit) {
        (n, "hours") if n > 0 && n <= 24 && 24 % n == 0 => format!("{}/day", 24 / n),
        (1, "days") => "1/day".into(),
        (1, "weeks") => "1/week".into(),
        (1, "months") => "1/month".into(),
        (n, "hours") if n > 24 && n % 24 == 0 => format!("every {} days", n / 24),
        (7, "days") => "1/week".into(),
        (14 | 15, "days") => "every 2 weeks".into(),
        (28 | 30, "days") => "1/month".into(),
        (n, unit) => format!("every {n} {unit}"),
    }
}

/// "c/8h", "q6h", "q24h", "c/12".
fn shorthand(word: &str) -> Option<u32> {
    let rest = word.strip_prefix("c/").or_else(|| word.strip_prefix('q'))?;
    hours_of(rest)
}

fn hours_of(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches("hrs").trim_end_matches("hs").trim_end_matches('h');
    digits.parse().ok().filter(|hours| (1..=96).contains(hours))
}

/// "mg/24h", "50mg/dia": how often, written after the slash.
fn per_time(word: &str) -> Option<&'static str> {
    let (before, per) = word.rsplit_once('/')?;
    if !before.ends_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    Some(match per {
        "24h" | "24" | "dia" | "day" | "d" => "1/day",
        "12h" | "12" if before.ends_with(char::is_alphabetic) => "2/day",
        "8h" => "3/day",
        "6h" => "4/day",
        "semana" | "week" | "sem" => "1/week",
        _ => return None,
    })
}

/// "1-0-1", "0-0-1/2": doses of the day's meals.
pub(crate) fn is_scheme(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let small = |part: &&str| matches!(*part, "0" | "1" | "2" | "3" | "4" | "1/2" | "0.5" | "0,5" | "1/4" | "½");
    let units = |part: &&str| part.parse::<u32>().is_ok_and(|n| n <= 120);
    // "20-0-14": units of insulin at the day's meals; a date has no nought in it.
    let insulin = parts.iter().all(units) && parts.contains(&"0");
    (3..=4).contains(&parts.len()) && (parts.iter().all(small) || insulin)
}
