//! Mail, web, network and geographical addresses, handles, and number plates in capitals: patterns with ASCII
//! boundaries over the folded text.

use std::net::Ipv6Addr;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use anamnesis_text::Span;

struct NetworkPattern {
    label: &'static str,
    recognizer: &'static str,
    regex: Regex,
    /// A check of the bytes around the trigger byte. It is true wherever the pattern matches, so the pattern is tried
    /// nowhere else.
    sees: fn(&[u8], usize) -> bool,
    /// Words before and after the one with that byte which a match may reach into.
    reach: (usize, usize),
    accept: fn(&str) -> bool,
}

/// The compiled patterns.
pub(crate) struct NetworkPatterns {
    patterns: Vec<NetworkPattern>,
    /// By byte: the patterns with this trigger, one bit each.
    lookers: [u32; 256],
}

const TLD: &str = "com|net|org|edu|gov|mil|int|info|biz|io|app|dev|co|es|mx|ar|cl|pe|ec|uy|ve|bo|py|cr|gt|sv|do|br|pt|us|uk|eu|fr|de|it|nl|ie|cat|gal|eus|tv|me|ai|site|online|health|clinic|salud";

/// Label, recogniser, trigger bytes, check around them, reach in words, pattern, last check.
type PatternRow =
    (&'static str, &'static str, &'static [u8], fn(&[u8], usize) -> bool, (usize, usize), String, fn(&str) -> bool);

fn written() -> Vec<PatternRow> {
    use super::prefilter as see;
    let digit = |pattern: &str| pattern.replace(r"\d", "[0-9]");
    vec![
        (label::EMAIL, "email", b"@", see::anything, (1, 1), r"(?i)[a-z0-9._%+'-]{1,80} ?@ ?[a-z0-9-]{1,80}(?:\.[a-z0-9-]{1,80}){1,6}".into(), any),
        (label::URL, "url", b":", see::two_slashes, (0, 0), r#"(?i)(?-u:\b)(?:https?|ftp|file)://[^\s<>"\])]{2,400}"#.into(), any),
        (label::URL, "web_site", b".", see::www, (0, 0), r#"(?i)(?-u:\b)www\.[a-z0-9-]{1,80}(?:\.[a-z0-9-]{2,80}){1,6}(?:/[^\s<>"\])]{0,400})?"#.into(), any),
        (label::URL, "domain", b".", see::joined_small, (0, 0), format!(r#"(?-u:\b)[a-z0-9](?:[a-z0-9-]{{1,60}}\.){{1,4}}(?:{TLD})(?-u:\b)(?:/[^\s<>"\])]{{0,400}})?"#), any),
        (label::HANDLE, "handle", b"@", see::opens_word, (0, 0), r"(?-u:\B)@[A-Za-z0-9_][A-Za-z0-9_.]{1,40}".into(), is_no_hour),
        (label::IP_ADDRESS, "ipv4", b".", see::octet, (0, 0), digit(r"(?-u:\b)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?-u:\b)(?:/\d{1,2})?"), any),
        (label::IP_ADDRESS, "ipv6", b":", see::hex_and_colon, (0, 0), r"(?i)(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|:)(?:/[0-9]{1,3})?".into(), is_ipv6),
        (label::DEVICE_ID, "mac", b"-:", see::hex_pair, (0, 0), r"(?i)(?-u:\b)(?:(?:[0-9a-f]{2}-){5}|(?:[0-9a-f]{2}:){5})[0-9a-f]{2}(?-u:\b)".into(), any),
        (label::DEVICE_ID, "mac", b".", see::hex_four, (0, 0), r"(?i)(?-u:\b)(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?-u:\b)".into(), has_letter_and_digit),
        (label::GEO, "coordinates", b".", see::four_decimals, (1, 5), r"[-+]?[0-9]{1,2}\.[0-9]{4,10}°? ?[NSns]?,? ?[-+]?[0-9]{1,3}\.[0-9]{4,10}°? ?[EWOewo]?(?-u:\b)".into(), is_coordinate),
        (label::GEO, "coordinates", &[0xC2], see::degree, (2, 6), r#"[0-9]{1,3} ?[°º] ?[0-9]{1,2} ?['′] ?(?:[0-9]{1,2}(?:[.,][0-9]{1,6})? ?(?:["″]|'')? ?)?[NSEWO](?-u:\b)"#.into(), any),
        (label::VEHICLE_ID, "plate", b"-", see::letter_and_digit, (0, 0), r"(?-u:\b)(?:[A-Z]{1,2}-[0-9]{4}-[A-Z]{1,2}|[0-9]{4}-[B-DF-HJ-NPR-TV-Z]{3}|[A-Z]{3}-[0-9]{3}-[A-Z]|[A-Z]{2}[0-9]{2}-[A-Z]{3})(?-u:\b)".into(), is_plate),
        (label::VEHICLE_ID, "plate", b"0123456789", see::three_large, (0, 1), r"(?-u:\b)(?:[0-9]{4} ?[B-DF-HJ-NPR-TV-Z]{3}|[A-Z]{2}[0-9]{2} ?[A-HJ-PR-Z]{3})(?-u:\b)".into(), is_plate),
    ]
}

impl NetworkPatterns {
    pub(crate) fn builtin() -> Self {
        let mut lookers = [0u32; 256];
        let mut patterns = Vec::new();
        for (index, (label, recognizer, at, sees, reach, pattern, accept)) in written().into_iter().enumerate() {
            at.iter().for_each(|byte| lookers[usize::from(*byte)] |= 1 << index);
            let regex = Regex::new(&pattern).expect("a constant pattern, compiled in every test");
            patterns.push(NetworkPattern { label, recognizer, regex, sees, reach, accept });
        }
        Self { patterns, lookers }
    }

    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        let plain = &context.view.plain;
        let bytes = plain.as_bytes();
        let mut windows: Vec<SearchWindows> = self.patterns.iter().map(|_| SearchWindows::default()).collect();
        for (at, byte) in bytes.iter().enumerate() {
            let mut lookers = self.lookers[usize::from(*byte)];
            while lookers != 0 {
                let index = lookers.trailing_zeros() as usize;
                lookers &= lookers - 1;
                let pattern = &self.patterns[index];
                if windows[index].chunk_end <= at && (pattern.sees)(bytes, at) {
                    windows[index].open(bytes, at, pattern.reach);
                }
            }
        }
        for (pattern, windows) in self.patterns.iter().zip(windows) {
            for window in windows.list {
                for hit in pattern.regex.find_iter(window.slice(plain)).filter(|hit| (pattern.accept)(hit.as_str())) {
                    let text = hit.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', '-']);
                    let start = window.start + hit.start();
                    let span = Span::new(start, start + text.len());
                    found.push(PiiFinding::new(
                        span,
                        pattern.label,
                        pattern.recognizer,
                        0.95,
                        DetectionLayer::Identifier,
                    ));
                }
            }
        }
    }
}

/// Where one pattern is tried: sorted windows between white space, without overlap. A pattern runs once in each window,
/// so that the whole stays linear.
#[derive(Default)]
struct SearchWindows {
    list: Vec<Span>,
    /// Where the word of the last sight ends.
    chunk_end: usize,
}

impl SearchWindows {
    fn open(&mut self, bytes: &[u8], at: usize, (before, after): (usize, usize)) {
        let mut start = word_start(bytes, at);
        for _ in 0..before {
            start = word_start(bytes, start.saturating_sub(1));
        }
        self.chunk_end = word_end(bytes, at);
        let mut end = self.chunk_end;
        for _ in 0..after {
            end = word_end(bytes, end + 1);
        }
        match self.list.last_mut() {
            Some(last) if start < last.end => last.end = last.end.max(end),
            _ => self.list.push(Span::new(start, end)),
        }
    }
}

fn word_start(bytes: &[u8], mut at: usize) -> usize {
    while at > 0 && !bytes[at - 1].is_ascii_whitespace() {
        at -= 1;
    }
    at
}

fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && !bytes[at].is_ascii_whitespace() {
        at += 1;
    }
    at.min(bytes.len())
}

fn any(_: &str) -> bool {
    true
}

/// "@0215" and "@14:10" say when.
fn is_no_hour(text: &str) -> bool {
    let name = text.trim_start_matches('@').trim_end_matches('.');
    name.len() > 4 || name.bytes().any(|byte| !byte.is_ascii_digit())
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
