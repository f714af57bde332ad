//! Mail, web, network and geographical addresses, handles, and number plates written large: patterns with ASCII
//! boundaries over the folded text.

use std::net::Ipv6Addr;

use regex::Regex;

use super::super::context::Context;
use super::super::finding::{Finding, Layer};
use super::super::label;
use crate::text::Span;

struct Pattern {
    label: &'static str,
    recognizer: &'static str,
    regex: Regex,
    /// A byte without which the pattern cannot match: the text is not searched then.
    needs: u8,
    accept: fn(&str) -> bool,
}

/// The compiled patterns.
pub struct Network(Vec<Pattern>);

const TLD: &str = "com|net|org|edu|gov|mil|int|info|biz|io|app|dev|co|es|mx|ar|cl|pe|ec|uy|ve|bo|py|cr|gt|sv|do|br|pt|us|uk|eu|fr|de|it|nl|ie|cat|gal|eus|tv|me|ai|site|online|health|clinic|salud";

impl Network {
    pub fn builtin() -> Self {
        let patterns = [
            (label::EMAIL, "email", b'@', r"(?i)[a-z0-9._%+'-]{1,80} ?@ ?[a-z0-9-]{1,80}(?:\.[a-z0-9-]{1,80}){1,6}".to_owned(), any as fn(&str) -> bool),
            (label::URL, "url", b':', r#"(?i)\b(?:https?|ftp|file)://[^\s<>"\])]{2,400}"#.to_owned(), any),
            (label::URL, "web_site", b'.', r#"(?i)(?-u:\b)www\.[a-z0-9-]{1,80}(?:\.[a-z0-9-]{2,80}){1,6}(?:/[^\s<>"\])]{0,400})?"#.to_owned(), any),
            (label::URL, "domain", b'.', format!(r#"(?-u:\b)[a-z0-9](?:[a-z0-9-]{{1,60}}\.){{1,4}}(?:{TLD})(?-u:\b)(?:/[^\s<>"\])]{{0,400}})?"#), any),
            (label::HANDLE, "handle", b'@', r"(?-u:\B)@[A-Za-z0-9_][A-Za-z0-9_.]{1,40}".to_owned(), any),
            (label::IP_ADDRESS, "ipv4", b'.', r"(?-u:\b)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?-u:\b)(?:/\d{1,2})?".replace(r"\d", "[0-9]"), any),
            (label::IP_ADDRESS, "ipv6", b':', r"(?i)(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|:)(?:/[0-9]{1,3})?".to_owned(), is_ipv6),
            (label::DEVICE_ID, "mac", b'-', r"(?i)(?-u:\b)(?:[0-9a-f]{2}-){5}[0-9a-f]{2}(?-u:\b)".to_owned(), any),
            (label::DEVICE_ID, "mac", b':', r"(?i)(?-u:\b)(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?-u:\b)".to_owned(), any),
            (label::DEVICE_ID, "mac", b'.', r"(?i)(?-u:\b)(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?-u:\b)".to_owned(), has_letter_and_digit),
            (label::GEO, "coordinates", b'.', r"[-+]?[0-9]{1,2}\.[0-9]{4,10}°? ?[NSns]?,? ?[-+]?[0-9]{1,3}\.[0-9]{4,10}°? ?[EWOewo]?(?-u:\b)".to_owned(), is_coordinate),
            (label::GEO, "coordinates", b'\'', r#"[0-9]{1,3} ?[°º] ?[0-9]{1,2} ?['′] ?(?:[0-9]{1,2}(?:[.,][0-9]{1,6})? ?(?:["″]|'')? ?)?[NSEWO](?-u:\b)"#.to_owned(), any),
            (label::VEHICLE_ID, "plate", b'-', r"(?-u:\b)(?:[A-Z]{1,2}-[0-9]{4}-[A-Z]{1,2}|[0-9]{4}-[B-DF-HJ-NPR-TV-Z]{3}|[A-Z]{3}-[0-9]{3}-[A-Z]|[A-Z]{2}[0-9]{2}-[A-Z]{3})(?-u:\b)".to_owned(), is_plate),
            (label::VEHICLE_ID, "plate", b' ', r"(?-u:\b)(?:[0-9]{4} ?[B-DF-HJ-NPR-TV-Z]{3}|[A-Z]{2}[0-9]{2} ?[A-HJ-PR-Z]{3})(?-u:\b)".to_owned(), is_plate),
        ];
        Self(
            patterns
                .into_iter()
                .map(|(label, recognizer, needs, pattern, accept)| {
                    let regex = Regex::new(&pattern).expect("a constant pattern, compiled in every test");
                    Pattern { label, recognizer, regex, needs, accept }
                })
                .collect(),
        )
    }

    pub fn find(&self, context: &Context<'_>, found: &mut Vec<Finding>) {
        let plain = &context.view.plain;
        let mut present = [false; 256];
        plain.bytes().for_each(|byte| present[byte as usize] = true);
        for pattern in self.0.iter().filter(|pattern| present[pattern.needs as usize]) {
            for hit in pattern.regex.find_iter(plain).filter(|hit| (pattern.accept)(hit.as_str())) {
                let text = hit.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', '-']);
                let span = Span::new(hit.start(), hit.start() + text.len());
                found.push(Finding::new(span, pattern.label, pattern.recognizer, 0.95, Layer::Identifier));
            }
        }
    }
}

fn any(_: &str) -> bool {
    true
}

/// A British plate has a number for its half-year (02–30, 51–80) and no I or Q; other shapes have no such rule.
fn is_plate(text: &str) -> bool {
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let british =
        letters.len() == 7 && letters.as_bytes()[1].is_ascii_uppercase() && letters.as_bytes()[4].is_ascii_uppercase();
    let age = letters.get(2..4).and_then(|age| age.parse().ok()).unwrap_or(0);
    !british || matches!(age, 2..=30 | 51..=79) && !letters.contains(['I', 'Q'])
}

fn is_ipv6(text: &str) -> bool {
    let address = text.split('/').next().unwrap_or_default();
    address.len() > 3 && address.parse::<Ipv6Addr>().is_ok()
}

fn has_letter_and_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Latitude and longitude in range, with at least seven decimals between them: two laboratory values have fewer.
fn is_coordinate(text: &str) -> bool {
    let decimals = text.bytes().filter(u8::is_ascii_digit).count();
    let signed = text.contains(['-', '+', '°', 'N', 'S']);
    text.contains(',') && (decimals >= 11 || (signed && decimals >= 9)) || text.contains('°') && decimals >= 8
}
