//! Why a value was redacted: one sentence for each recogniser, and the text in colour for a person.

use std::fmt::Write as _;

use super::stream::RedactedLine;
use crate::cli::output::printable;
use anamnesis_text::codepoints::CodePoints;

const TAKEN: &str = "\u{1b}[1;97;41m";
const FADED: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// The evidence of a recogniser.
pub(super) fn why(recognizer: &str) -> &'static str {
    match recognizer {
        "learned" => "the trained tagger classifies it so by the words around it",
        "name" => "capitalised words that the lists of names know, or a title or cue before them",
        "name_again" => "part of a name found elsewhere in the document",
        "field" => "value after the name of a field",
        "identifier" => "shape and check digit of a national identifier, or its keyword next to it",
        "keyword_value" => "value next to a keyword that announces it",
        "phone" => "digits grouped as telephones are, or a word that announces one",
        "place" => "listed town, province or country",
        "place_behind_code" => "capitalised words after a postal code",
        "postal_code" => "shape of a postal code next to a place or its keyword",
        "street" | "street_before_code" | "spoken_street" | "post_box" => "street word with a name or number",
        "organisation" => "a word that names organisations with the name next to it",
        "date" => "day, month or year as dates are written or said",
        "age" => "years of a person",
        "word_list" => "word of a closed list",
        "email" | "spoken_email" | "at_sign" => "mail address or handle",
        "url" | "web_site" | "domain" => "web address",
        "handle" => "name after an @",
        "ipv4" | "ipv6" | "mac" => "network address",
        "coordinates" => "geographical coordinates",
        "plate" => "number plate",
        "spoken_number" => "digits said in words",
        "spelled" => "letters spelled one by one",
        "digit_run" | "letters_and_digits" => "long run of digits that nothing explains",
        "custom" => "recogniser of the organisation",
        "remote" => "found by the additional service",
        "reader" => "found by the learned reader of clinical documents",
        known if known.starts_with("identity") => "of a person that the message names",
        _ => "rule of the built-in recognisers",
    }
}

/// The source with its redacted values marked, and a line for each.
pub(super) fn coloured(source: &str, answer: &RedactedLine) -> String {
    let places = CodePoints::new(source);
    let (mut text, mut read) = (String::new(), 0);
    let byte = |point: usize| places.to_byte(point).unwrap_or(source.len());
    for span in &answer.spans {
        let (start, end) = (byte(span.start), byte(span.end));
        text.push_str(&printable(&source[read..start]));
        let _ = write!(text, "{TAKEN}{}{PLAIN}{FADED}{}{PLAIN}", printable(&source[start..end]), span.replacement);
        read = end;
    }
    text.push_str(&printable(&source[read..]));
    text.push('\n');
    for span in &answer.spans {
        let why = span.why.unwrap_or_default();
        let place = format!("{}–{}", span.start, span.end);
        let _ = writeln!(text, "  {place:>11}  {:<16} {:<18} {:.2}  {why}", span.label, span.recognizer, span.score);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::stream::RedactedSpan;
    use super::*;

    #[test]
    fn a_person_sees_what_was_taken_and_why_and_nothing_steers_the_terminal() {
        let found = RedactedSpan {
            start: 2,
            end: 5,
            label: "PERSON",
            recognizer: "name",
            score: 0.9,
            replacement: "[PERSON]".into(),
            why: Some(why("name")),
        };
        let answer = RedactedLine { id: json!(1), text: String::new(), spans: vec![found] };
        let text = coloured("ñ Ana\u{1b}[2J", &answer);
        assert!(text.contains(&format!("{TAKEN}Ana{PLAIN}")) && text.contains("lists of names"));
        assert!(!text.contains("\u{1b}[2J"));
    }
}
