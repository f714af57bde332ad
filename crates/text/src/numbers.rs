//! Number words of Spanish and English with their values and places: "sesenta y uno" = 61, "two hundred and fifty" =
//! 250, "seis uno dos" = the digits 612, "double four" = the digits 44. Spoken identifiers and doses are read with it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::fold::fold;
use super::tokens::{Token, TokenKind, tokens};
use super::{Language, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// One quantity: "doscientos cincuenta".
    Cardinal,
    /// Single digits spoken one by one: "seis uno dos", "double four oh".
    Digits,
}

/// One number said in words.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberWord {
    pub span: Span,
    pub kind: NumberKind,
    /// Decimal digits; a cardinal may end in ".5".
    pub digits: String,
    /// The quantity; `None` where more digits were said than an f64 holds exactly.
    pub value: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Zero,
    Unit(u64),
    Teen(u64),
    Ten(u64),
    Hundred(u64),
    /// Multiplies what stands before it.
    Scale(u64),
    /// Repeats the digit that follows.
    Repeat(usize),
    Half,
    And,
}

/// Words for digits and units; the last field says in which language they count.
const ENGLISH: &[(&str, Part)] = &[
    ("zero", Part::Zero),
    ("oh", Part::Zero),
    ("nought", Part::Zero),
    ("one", Part::Unit(1)),
    ("two", Part::Unit(2)),
    ("three", Part::Unit(3)),
    ("four", Part::Unit(4)),
    ("five", Part::Unit(5)),
    ("six", Part::Unit(6)),
    ("seven", Part::Unit(7)),
    ("eight", Part::Unit(8)),
    ("nine", Part::Unit(9)),
    ("ten", Part::Teen(10)),
    ("eleven", Part::Teen(11)),
    ("twelve", Part::Teen(12)),
    ("thirteen", Part::Teen(13)),
    ("fourteen", Part::Teen(14)),
    ("fifteen", Part::Teen(15)),
    ("sixteen", Part::Teen(16)),
    ("seventeen", Part::Teen(17)),
    ("eighteen", Part::Teen(18)),
    ("nineteen", Part::Teen(19)),
    ("twenty", Part::Ten(20)),
    ("thirty", Part::Ten(30)),
    ("forty", Part::Ten(40)),
    ("fourty", Part::Ten(40)),
    ("fifty", Part::Ten(50)),
    ("sixty", Part::Ten(60)),
    ("seventy", Part::Ten(70)),
    ("eighty", Part::Ten(80)),
    ("ninety", Part::Ten(90)),
    ("hundred", Part::Scale(100)),
    ("thousand", Part::Scale(1_000)),
    ("million", Part::Scale(1_000_000)),
    ("double", Part::Repeat(2)),
    ("triple", Part::Repeat(3)),
    ("half", Part::Half),
    ("and", Part::And),
];
const SPANISH: &[(&str, Part)] = &[
    ("cero", Part::Zero),
    ("un", Part::Unit(1)),
    ("uno", Part::Unit(1)),
    ("una", Part::Unit(1)),
    ("dos", Part::Unit(2)),
    ("tres", Part::Unit(3)),
    ("cuatro", Part::Unit(4)),
    ("cinco", Part::Unit(5)),
    ("seis", Part::Unit(6)),
    ("siete", Part::Unit(7)),
    ("ocho", Part::Unit(8)),
    ("nueve", Part::Unit(9)),
    ("diez", Part::Teen(10)),
    ("once", Part::Teen(11)),
    ("doce", Part::Teen(12)),
    ("trece", Part::Teen(13)),
    ("catorce", Part::Teen(14)),
    ("quince", Part::Teen(15)),
    ("dieciseis", Part::Teen(16)),
    ("diecisiete", Part::Teen(17)),
    ("dieciocho", Part::Teen(18)),
    ("diecinueve", Part::Teen(19)),
    ("veinte", Part::Teen(20)),
    ("veintiun", Part::Teen(21)),
    ("veintiuno", Part::Teen(21)),
    ("veintiuna", Part::Teen(21)),
    ("veintidos", Part::Teen(22)),
    ("veintitres", Part::Teen(23)),
    ("veinticuatro", Part::Teen(24)),
    ("veinticinco", Part::Teen(25)),
    ("veintiseis", Part::Teen(26)),
    ("veintisiete", Part::Teen(27)),
    ("veintiocho", Part::Teen(28)),
    ("veintinueve", Part::Teen(29)),
    ("treinta", Part::Ten(30)),
    ("cuarenta", Part::Ten(40)),
    ("cincuenta", Part::Ten(50)),
    ("sesenta", Part::Ten(60)),
    ("setenta", Part::Ten(70)),
    ("ochenta", Part::Ten(80)),
    ("noventa", Part::Ten(90)),
    ("cien", Part::Hundred(100)),
    ("ciento", Part::Hundred(100)),
    ("doscientos", Part::Hundred(200)),
    ("doscientas", Part::Hundred(200)),
    ("trescientos", Part::Hundred(300)),
    ("trescientas", Part::Hundred(300)),
    ("cuatrocientos", Part::Hundred(400)),
    ("cuatrocientas", Part::Hundred(400)),
    ("quinientos", Part::Hundred(500)),
    ("quinientas", Part::Hundred(500)),
    ("seiscientos", Part::Hundred(600)),
    ("seiscientas", Part::Hundred(600)),
    ("setecientos", Part::Hundred(700)),
    ("setecientas", Part::Hundred(700)),
    ("ochocientos", Part::Hundred(800)),
    ("ochocientas", Part::Hundred(800)),
    ("novecientos", Part::Hundred(900)),
    ("novecientas", Part::Hundred(900)),
    ("mil", Part::Scale(1_000)),
    ("millon", Part::Scale(1_000_000)),
    ("millones", Part::Scale(1_000_000)),
    ("doble", Part::Repeat(2)),
    ("triple", Part::Repeat(3)),
    ("medio", Part::Half),
    ("media", Part::Half),
    ("y", Part::And),
];

/// The numbers said in words, in order and without overlap. Unknown language: the words of both count.
pub fn number_words(text: &str, language: Language) -> Vec<NumberWord> {
    let parts = parts(text, language);
    let mut out: Vec<NumberWord> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        match read(text, &parts[at..]) {
            Some((used, number)) => {
                match out.last_mut() {
                    Some(last) if may_join(text, last, &number) => join(last, &number),
                    _ => out.push(number),
                }
                at += used;
            }
            None => at += 1,
        }
    }
    out
}

/// Whether a folded word can begin a number said in words, in either language.
pub fn begins_number(folded: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let begins = |(_, part): &&(&str, Part)| !matches!(part, Part::And);
        SPANISH.iter().chain(ENGLISH).filter(begins).map(|(word, _)| *word).collect()
    });
    folded.len() <= 16 && WORDS.contains(folded)
}

/// The value of one number word or a few of them that are all of the text: `"dos y media"` → 2.5.
pub fn value_of(text: &str, language: Language) -> Option<f64> {
    match number_words(text.trim(), language).as_slice() {
        [one] if one.span.len() == text.trim().len() => one.value,
        _ => None,
    }
}

/// What a word is in Spanish and in English.
type Known = HashMap<&'static str, (Option<Part>, Option<Part>), foldhash::fast::FixedState>;

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let mut known = Known::default();
    // The first of equal words counts, as in the lists.
    for (word, part) in SPANISH {
        known.entry(word).or_default().0.get_or_insert(*part);
    }
    for (word, part) in ENGLISH {
        known.entry(word).or_default().1.get_or_insert(*part);
    }
    known
});

/// By first letter: the second letters of the words of both lists, a bit each. Most words of a text begin as none does.
static BEGINNINGS: LazyLock<[u32; 32]> = LazyLock::new(|| {
    let mut begin = [0; 32];
    for word in KNOWN.keys() {
        let (first, second) = beginning(word);
        begin[first] |= 1 << second;
    }
    begin
});

/// Five bits of each of the first two letters; 0 where there is none.
fn beginning(word: &str) -> (usize, u32) {
    let letter = |at: usize| word.as_bytes().get(at).map_or(0, |byte| byte & 31);
    (letter(0).into(), letter(1).into())
}

/// What a word is, in any case and with any accents.
fn known(raw: &str) -> Option<&'static (Option<Part>, Option<Part>)> {
    if raw.len() > 16 {
        return None;
    }
    if !raw.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return KNOWN.get(fold(raw).as_str());
    }
    let (first, second) = beginning(raw);
    if BEGINNINGS[first] & 1 << second == 0 { None } else { KNOWN.get(raw) }
}

/// The number words of a text. Words never reach over white space, so that each stretch between it is read alone, and
/// nearly all of them are a word of small letters with perhaps a sign behind it.
fn parts(text: &str, language: Language) -> Vec<(Span, Part)> {
    let of = |(spanish, english): &(Option<Part>, Option<Part>)| match language {
        Language::English => *english,
        Language::Spanish => *spanish,
        Language::Unknown => spanish.or(*english),
    };
    let mut parts = Vec::new();
    let mut look = |span: Span| parts.extend(known(span.of(text)).and_then(of).map(|part| (span, part)));
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        at += bytes[at..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let letters = bytes[start..at].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let sign = |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'@');
        if letters > 0 && bytes[start + letters..at].iter().all(sign) {
            look(Span::new(start, start + letters));
            continue;
        }
        let stretch = &text[start..at];
        for word in tokens(stretch).into_iter().filter(|token| token.kind == TokenKind::Word) {
            for piece in split_hyphen(stretch, word) {
                look(Span::new(start + piece.start, start + piece.end));
            }
        }
    }
    parts
}

/// "twenty-three" is one token and two number words.
fn split_hyphen(text: &str, token: Token) -> Vec<Span> {
    let mut out = Vec::new();
    let mut start = token.span.start;
    for piece in token.span.of(text).split('-') {
        if !piece.is_empty() {
            out.push(Span::new(start, start + piece.len()));
        }
        start += piece.len() + 1;
    }
    out
}

/// Whether two parts belong to one number: only white space or a hyphen between them.
fn adjoining(text: &str, left: Span, right: Span) -> bool {
    let between = &text[left.end..right.start];
    between.len() <= 3 && between.chars().all(|c| c.is_whitespace() || c == '-')
}

fn read(text: &str, parts: &[(Span, Part)]) -> Option<(usize, NumberWord)> {
    match parts.first()?.1 {
        Part::And => None,
        Part::Repeat(times) => {
            let (span, digit) = match parts.get(1)? {
                (span, Part::Unit(n)) => (span, *n),
                (span, Part::Zero) => (span, 0),
                _ => return None,
            };
            if !adjoining(text, parts[0].0, *span) {
                return None;
            }
            let digits = digit.to_string().repeat(times);
            let span = Span::new(parts[0].0.start, span.end);
            Some((2, NumberWord { span, kind: NumberKind::Digits, value: digits.parse().ok(), digits }))
        }
        Part::Half => Some((1, cardinal(parts[0].0, 0, true))),
        _ => Some(read_cardinal(text, parts)),
    }
}

fn cardinal(span: Span, whole: u64, half: bool) -> NumberWord {
    let digits = if half { format!("{whole}.5") } else { whole.to_string() };
    let kind = if whole < 10 && !half { NumberKind::Digits } else { NumberKind::Cardinal };
    NumberWord { span, kind, value: digits.parse().ok(), digits }
}

/// Reads the longest well-formed cardinal: descending places, scales multiply, "and"/"y" joins.
fn read_cardinal(text: &str, parts: &[(Span, Part)]) -> (usize, NumberWord) {
    let (mut total, mut group) = (0u64, 0u64);
    // The smallest place that is still free in this group: after "sesenta" only units may follow.
    let mut room = 1_000u64;
    let (mut used, mut half) = (0, false);
    for (index, (span, part)) in parts.iter().enumerate() {
        if index > 0 && !adjoining(text, parts[index - 1].0, *span) {
            break;
        }
        match *part {
            Part::Zero if index == 0 => {
                used = 1;
                break;
            }
            Part::Unit(n) if room > 1 => (group, room, used) = (group + n, 1, index + 1),
            Part::Teen(n) if room > 10 => (group, room, used) = (group + n, 1, index + 1),
            Part::Ten(n) if room > 10 => (group, room, used) = (group + n, 10, index + 1),
            Part::Hundred(n) if room > 100 => (group, room, used) = (group + n, 100, index + 1),
            Part::Scale(100) if (1..=99).contains(&group) || index == 0 => {
                (group, room, used) = (group.max(1) * 100, 100, index + 1);
            }
            Part::Scale(n) if n > 100 && group < 1_000 => {
                (total, group) = (total.saturating_add(group.max(1).saturating_mul(n)), 0);
                (room, used) = (1_000, index + 1);
            }
            Part::And if index > 0 => continue,
            Part::Half if index > 1 && parts[index - 1].1 == Part::And => {
                (half, used) = (true, index + 1);
                break;
            }
            _ => break,
        }
    }
    let used = used.max(1);
    (used, cardinal(Span::new(parts[0].0.start, parts[used - 1].0.end), total.saturating_add(group), half))
}

/// Digits said one after the other are one sequence.
fn may_join(text: &str, last: &NumberWord, next: &NumberWord) -> bool {
    last.kind == NumberKind::Digits && next.kind == NumberKind::Digits && adjoining(text, last.span, next.span)
}

fn join(last: &mut NumberWord, next: &NumberWord) {
    last.span.end = next.span.end;
    last.digits.push_str(&next.digits);
    // 15 digits are the most that an f64 holds exactly.
    last.value = (last.digits.len() <= 15).then(|| last.digits.parse().ok()).flatten();
}

#[cfg(test)]
#[path = "numbers_tests.rs"]
mod tests;
