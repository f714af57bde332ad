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
enum NumberPart {
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
const ENGLISH: &[(&str, NumberPart)] = &[
    ("zero", NumberPart::Zero),
    ("oh", NumberPart::Zero),
    ("nought", NumberPart::Zero),
    ("one", NumberPart::Unit(1)),
    ("two", NumberPart::Unit(2)),
    ("three", NumberPart::Unit(3)),
    ("four", NumberPart::Unit(4)),
    ("five", NumberPart::Unit(5)),
    ("six", NumberPart::Unit(6)),
    ("seven", NumberPart::Unit(7)),
    ("eight", NumberPart::Unit(8)),
    ("nine", NumberPart::Unit(9)),
    ("ten", NumberPart::Teen(10)),
    ("eleven", NumberPart::Teen(11)),
    ("twelve", NumberPart::Teen(12)),
    ("thirteen", NumberPart::Teen(13)),
    ("fourteen", NumberPart::Teen(14)),
    ("fifteen", NumberPart::Teen(15)),
    ("sixteen", NumberPart::Teen(16)),
    ("seventeen", NumberPart::Teen(17)),
    ("eighteen", NumberPart::Teen(18)),
    ("nineteen", NumberPart::Teen(19)),
    ("twenty", NumberPart::Ten(20)),
    ("thirty", NumberPart::Ten(30)),
    ("forty", NumberPart::Ten(40)),
    ("fourty", NumberPart::Ten(40)),
    ("fifty", NumberPart::Ten(50)),
    ("sixty", NumberPart::Ten(60)),
    ("seventy", NumberPart::Ten(70)),
    ("eighty", NumberPart::Ten(80)),
    ("ninety", NumberPart::Ten(90)),
    ("hundred", NumberPart::Scale(100)),
    ("thousand", NumberPart::Scale(1_000)),
    ("million", NumberPart::Scale(1_000_000)),
    ("double", NumberPart::Repeat(2)),
    ("triple", NumberPart::Repeat(3)),
    ("half", NumberPart::Half),
    ("and", NumberPart::And),
];
const SPANISH: &[(&str, NumberPart)] = &[
    ("cero", NumberPart::Zero),
    ("un", NumberPart::Unit(1)),
    ("uno", NumberPart::Unit(1)),
    ("una", NumberPart::Unit(1)),
    ("dos", NumberPart::Unit(2)),
    ("tres", NumberPart::Unit(3)),
    ("cuatro", NumberPart::Unit(4)),
    ("cinco", NumberPart::Unit(5)),
    ("seis", NumberPart::Unit(6)),
    ("siete", NumberPart::Unit(7)),
    ("ocho", NumberPart::Unit(8)),
    ("nueve", NumberPart::Unit(9)),
    ("diez", NumberPart::Teen(10)),
    ("once", NumberPart::Teen(11)),
    ("doce", NumberPart::Teen(12)),
    ("trece", NumberPart::Teen(13)),
    ("catorce", NumberPart::Teen(14)),
    ("quince", NumberPart::Teen(15)),
    ("dieciseis", NumberPart::Teen(16)),
    ("diecisiete", NumberPart::Teen(17)),
    ("dieciocho", NumberPart::Teen(18)),
    ("diecinueve", NumberPart::Teen(19)),
    ("veinte", NumberPart::Teen(20)),
    ("veintiun", NumberPart::Teen(21)),
    ("veintiuno", NumberPart::Teen(21)),
    ("veintiuna", NumberPart::Teen(21)),
    ("veintidos", NumberPart::Teen(22)),
    ("veintitres", NumberPart::Teen(23)),
    ("veinticuatro", NumberPart::Teen(24)),
    ("veinticinco", NumberPart::Teen(25)),
    ("veintiseis", NumberPart::Teen(26)),
    ("veintisiete", NumberPart::Teen(27)),
    ("veintiocho", NumberPart::Teen(28)),
    ("veintinueve", NumberPart::Teen(29)),
    ("treinta", NumberPart::Ten(30)),
    ("cuarenta", NumberPart::Ten(40)),
    ("cincuenta", NumberPart::Ten(50)),
    ("sesenta", NumberPart::Ten(60)),
    ("setenta", NumberPart::Ten(70)),
    ("ochenta", NumberPart::Ten(80)),
    ("noventa", NumberPart::Ten(90)),
    ("cien", NumberPart::Hundred(100)),
    ("ciento", NumberPart::Hundred(100)),
    ("doscientos", NumberPart::Hundred(200)),
    ("doscientas", NumberPart::Hundred(200)),
    ("trescientos", NumberPart::Hundred(300)),
    ("trescientas", NumberPart::Hundred(300)),
    ("cuatrocientos", NumberPart::Hundred(400)),
    ("cuatrocientas", NumberPart::Hundred(400)),
    ("quinientos", NumberPart::Hundred(500)),
    ("quinientas", NumberPart::Hundred(500)),
    ("seiscientos", NumberPart::Hundred(600)),
    ("seiscientas", NumberPart::Hundred(600)),
    ("setecientos", NumberPart::Hundred(700)),
    ("setecientas", NumberPart::Hundred(700)),
    ("ochocientos", NumberPart::Hundred(800)),
    ("ochocientas", NumberPart::Hundred(800)),
    ("novecientos", NumberPart::Hundred(900)),
    ("novecientas", NumberPart::Hundred(900)),
    ("mil", NumberPart::Scale(1_000)),
    ("millon", NumberPart::Scale(1_000_000)),
    ("millones", NumberPart::Scale(1_000_000)),
    ("doble", NumberPart::Repeat(2)),
    ("triple", NumberPart::Repeat(3)),
    ("medio", NumberPart::Half),
    ("media", NumberPart::Half),
    ("y", NumberPart::And),
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
        let begins = |(_, part): &&(&str, NumberPart)| !matches!(part, NumberPart::And);
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
type KnownParts = HashMap<&'static str, (Option<NumberPart>, Option<NumberPart>), foldhash::fast::FixedState>;

static KNOWN: LazyLock<KnownParts> = LazyLock::new(|| {
    let mut known = KnownParts::default();
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
fn known(raw: &str) -> Option<&'static (Option<NumberPart>, Option<NumberPart>)> {
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
fn parts(text: &str, language: Language) -> Vec<(Span, NumberPart)> {
    let of = |(spanish, english): &(Option<NumberPart>, Option<NumberPart>)| match language {
        Language::English => *english,
        Language::Spanish => *spanish,
        Language::Unknown => spanish.or(*english),
    };
    let mut parts = Vec::new();
    let mut look = |span: Span| parts.extend(known(span.slice(text)).and_then(of).map(|part| (span, part)));
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
    for piece in token.span.slice(text).split('-') {
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

fn read(text: &str, parts: &[(Span, NumberPart)]) -> Option<(usize, NumberWord)> {
    match parts.first()?.1 {
        NumberPart::And => None,
        NumberPart::Repeat(times) => {
            let (span, digit) = match parts.get(1)? {
                (span, NumberPart::Unit(n)) => (span, *n),
                (span, NumberPart::Zero) => (span, 0),
                _ => return None,
            };
            if !adjoining(text, parts[0].0, *span) {
                return None;
            }
            let digits = digit.to_string().repeat(times);
            let span = Span::new(parts[0].0.start, span.end);
            Some((2, NumberWord { span, kind: NumberKind::Digits, value: digits.parse().ok(), digits }))
        }
        NumberPart::Half => Some((1, cardinal(parts[0].0, 0, true))),
        _ => Some(read_cardinal(text, parts)),
    }
}

fn cardinal(span: Span, whole: u64, half: bool) -> NumberWord {
    let digits = if half { format!("{whole}.5") } else { whole.to_string() };
    let kind = if whole < 10 && !half { NumberKind::Digits } else { NumberKind::Cardinal };
    NumberWord { span, kind, value: digits.parse().ok(), digits }
}

/// Reads the longest well-formed cardinal: descending places, scales multiply, "and"/"y" joins.
fn read_cardinal(text: &str, parts: &[(Span, NumberPart)]) -> (usize, NumberWord) {
    let (mut total, mut group) = (0u64, 0u64);
    // The smallest place that is still free in this group: after "sesenta" only units may follow.
    let mut room = 1_000u64;
    let (mut used, mut half) = (0, false);
    for (index, (span, part)) in parts.iter().enumerate() {
        if index > 0 && !adjoining(text, parts[index - 1].0, *span) {
            break;
        }
        match *part {
            NumberPart::Zero if index == 0 => {
                used = 1;
                break;
            }
            NumberPart::Unit(n) if room > 1 => (group, room, used) = (group + n, 1, index + 1),
            NumberPart::Teen(n) if room > 10 => (group, room, used) = (group + n, 1, index + 1),
            NumberPart::Ten(n) if room > 10 => (group, room, used) = (group + n, 10, index + 1),
            NumberPart::Hundred(n) if room > 100 => (group, room, used) = (group + n, 100, index + 1),
            NumberPart::Scale(100) if (1..=99).contains(&group) || index == 0 => {
                (group, room, used) = (group.max(1) * 100, 100, index + 1);
            }
            NumberPart::Scale(n) if n > 100 && group < 1_000 => {
                (total, group) = (total.saturating_add(group.max(1).saturating_mul(n)), 0);
                (room, used) = (1_000, index + 1);
            }
            NumberPart::And if index > 0 => continue,
            NumberPart::Half if index > 1 && parts[index - 1].1 == NumberPart::And => {
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
