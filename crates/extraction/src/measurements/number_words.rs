//! Values in words, written as digits: "eight point two" is 8.2, "one thirty over eighty" 130 over 80, "trece ocho" 13/8.

use anamnesis_text::{Language, NumberWord, number_words};

/// Where each stretch of the written text came from.
pub(super) struct SourceMap {
    /// Place in the written text, place in the source, in order.
    steps: Vec<(usize, usize)>,
}

impl SourceMap {
    /// The place in the source of a place in the written text; of the end of a number its own end.
    pub(crate) fn source(&self, at: usize) -> usize {
        let before = self.steps.iter().rev().find(|(written, _)| *written <= at);
        before.map_or(0, |(written, source)| source + (at - written))
    }
}

/// A text with its number words as digits; `None` where it has none.
pub(super) fn written(text: &str, language: Language, name: &str) -> Option<(String, SourceMap)> {
    let numbers = number_words(text, language);
    let numbers: Vec<NumberWord> =
        numbers.into_iter().filter(|number| number.value.is_some() && !is_article(text, number)).collect();
    if numbers.is_empty() {
        return None;
    }
    let (mut out, mut steps, mut from) = (String::with_capacity(text.len()), vec![(0, 0)], 0);
    let mut at = 0;
    while at < numbers.len() {
        let last = run(text, &numbers, at);
        let group = &numbers[at..=last];
        out.push_str(&text[from..group[0].span.start]);
        steps.push((out.len(), group[0].span.start));
        out.push_str(&digits(text, group, language, name));
        from = group[group.len() - 1].span.end;
        steps.push((out.len(), from));
        at = last + 1;
    }
    out.push_str(&text[from..]);
    Some((out, SourceMap { steps }))
}

/// "un", "una", "one" before a word are no value.
fn is_article(text: &str, number: &NumberWord) -> bool {
    let word = number.span.slice(text).to_lowercase();
    let joined = || {
        let rest = text[number.span.end..].trim_start();
        let next: String = rest.chars().take_while(|c| c.is_alphabetic()).collect::<String>().to_lowercase();
        !matches!(next.as_str(), "point" | "punto" | "coma" | "con" | "over" | "de" | "out")
            && number_words(rest, Language::Unknown).first().is_none_or(|n| n.span.start > 0)
    };
    let before = text[..number.span.start].trim_end().rsplit(' ').next().unwrap_or("").to_lowercase();
    let decimal = matches!(before.as_str(), "point" | "punto" | "coma" | "con" | "y" | "over");
    !decimal && matches!(word.as_str(), "un" | "una" | "uno" | "one" | "half" | "medio" | "media") && joined()
}

/// The last number that belongs to the one at a place.
fn run(text: &str, numbers: &[NumberWord], at: usize) -> usize {
    let mut last = at;
    while let Some(next) = numbers.get(last + 1) {
        let between = text[numbers[last].span.end..next.span.start].trim().to_lowercase();
        if between.is_empty() || is_point(&between) {
            last += 1;
        } else {
            break;
        }
    }
    last
}

fn is_point(word: &str) -> bool {
    matches!(word, "point" | "punto" | "coma" | "con" | "over" | "sobre" | "-")
}

/// The digits of numbers that follow each other.
fn digits(text: &str, group: &[NumberWord], language: Language, name: &str) -> String {
    let pressure = name == "blood pressure";
    let mut parts: Vec<(String, Option<char>)> = Vec::new();
    for (n, number) in group.iter().enumerate() {
        let joint =
            n.checked_sub(1).map(|before| text[group[before].span.end..number.span.start].trim().to_lowercase());
        match joint.as_deref() {
            Some("point" | "punto" | "coma") => push(&mut parts, &number.digits, '.'),
            Some("con") if !pressure => push(&mut parts, &number.digits, '.'),
            Some("con" | "over" | "sobre") => push(&mut parts, &number.digits, '/'),
            Some(_) if is_hundreds(parts.last().map(|(d, _)| d.as_str()), number, language) => {
                if let Some((digits, _)) = parts.last_mut() {
                    digits.push_str(&number.digits);
                }
            }
            Some(_) if pressure => push(&mut parts, &number.digits, '/'),
            _ => push(&mut parts, &number.digits, ' '),
        }
    }
    let mut out = String::new();
    for (digits, sign) in parts {
        out.extend(sign.filter(|_| !out.is_empty()));
        out.push_str(&digits);
    }
    out
}

fn push(parts: &mut Vec<(String, Option<char>)>, digits: &str, sign: char) {
    parts.push((digits.to_owned(), Some(sign)));
}

/// "four twelve", "one thirty": hundreds as English says them.
fn is_hundreds(before: Option<&str>, number: &NumberWord, language: Language) -> bool {
    let single = before.is_some_and(|digits| digits.len() == 1 && digits != "0");
    language != Language::Spanish && single && number.digits.len() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_text(text: &str, language: Language, name: &str) -> String {
        written(text, language, name).map_or_else(String::new, |(text, _)| text)
    }

    #[test]
    fn values_in_words_are_written_as_digits() {
        assert_eq!(written_text("was eight point two last week", Language::English, "HbA1c"), "was 8.2 last week");
        assert_eq!(written_text("one thirty over eighty", Language::English, "blood pressure"), "130/80");
        assert_eq!(written_text("qtc four twelve", Language::English, "QTc"), "qtc 412");
        assert_eq!(written_text("en ciento cuarenta", Language::Spanish, "glucose"), "en 140");
        assert_eq!(written_text("en trece ocho", Language::Spanish, "blood pressure"), "en 13/8");
        assert_eq!(written_text("está en nueve coma uno", Language::Spanish, "HbA1c"), "está en 9.1");
        assert_eq!(written_text("siete coma dos", Language::Spanish, "HbA1c"), "7.2");
        assert_eq!(written_text("sacó quince de treinta", Language::Spanish, "MoCA"), "sacó 15 de 30");
    }

    #[test]
    fn a_place_of_the_written_text_leads_back_to_its_words() {
        let text = "was eight point two, then";
        let (written, map) = written(text, Language::English, "HbA1c").unwrap();
        assert_eq!(written, "was 8.2, then");
        assert_eq!(&text[map.source(4)..map.source(7)], "eight point two");
    }
}
