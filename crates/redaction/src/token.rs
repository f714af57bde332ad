//! Words, numbers and signs of a [`View`](super::view::View), with their case: what structural rules read.

use anamnesis_text::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Number,
    Sign,
    /// A line feed.
    Break,
}

/// How a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    /// First letter large.
    Title,
    /// More than one letter, all large.
    Upper,
    /// No letters, or large ones inside ("pH").
    Other,
}

/// One token; the span is of the view.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub span: Span,
    pub kind: Kind,
    pub(crate) case: Case,
}

impl Token {
    pub fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// A word that begins with a large letter.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self.case, Case::Title | Case::Upper)
    }
}

/// Bytes without white space from which a stretch full of "@" is no text: one sign, which the sweep takes as a whole.
pub(crate) const LONG_STRETCH: usize = 400;
const MANY_AT: usize = 32;
/// Equal signs from which a run of them is one token: "((((((((((".
const RUN: usize = 8;

/// What a byte of ASCII begins; bytes of other characters are looked at as characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Break,
    Digit,
    Small,
    Large,
    Sign,
    Wide,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Wide; 256];
    let mut byte = 0;
    while byte < 128u8 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\x0B'..=b'\r' => Class::Space,
            b'\n' => Class::Break,
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' => Class::Small,
            b'A'..=b'Z' => Class::Large,
            _ => Class::Sign,
        };
        byte += 1;
    }
    classes
};

/// Cuts a folded text into tokens. White space other than line feeds makes none.
pub(crate) fn tokens(plain: &str) -> Vec<Token> {
    let bytes = plain.as_bytes();
    let crowded = bytes.iter().filter(|byte| **byte == b'@').count() > MANY_AT;
    let mut found = Vec::with_capacity(plain.len() / 4);
    let (mut at, mut stretch) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASSES[usize::from(byte)];
        if class == Class::Space {
            at += 1;
            continue;
        }
        if crowded && at >= stretch && class != Class::Break {
            stretch = at + bytes[at..].iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len() - at);
            if is_no_text(&bytes[at..stretch]) {
                found.push(plain_token(at, stretch, Kind::Sign));
                at = stretch;
                continue;
            }
        }
        let token = match class {
            Class::Break => plain_token(at, at + 1, Kind::Break),
            Class::Digit => {
                let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                plain_token(at, at + digits, Kind::Number)
            }
            Class::Small | Class::Large => word(plain, at),
            Class::Space | Class::Sign => {
                let run = bytes[at..].iter().take_while(|next| **next == byte).count();
                plain_token(at, at + if run >= RUN { run } else { 1 }, Kind::Sign)
            }
            Class::Wide => match plain[at..].chars().next() {
                Some(c) if is_letter(c) => word(plain, at),
                Some(c) if c.is_whitespace() => {
                    at += c.len_utf8();
                    continue;
                }
                sign => plain_token(at, at + sign.map_or(1, char::len_utf8), Kind::Sign),
            },
        };
        at = token.span.end;
        found.push(token);
    }
    found
}

fn is_no_text(stretch: &[u8]) -> bool {
    stretch.len() > LONG_STRETCH && stretch.iter().filter(|byte| **byte == b'@').count() > MANY_AT
}

fn plain_token(start: usize, end: usize, kind: Kind) -> Token {
    Token { span: Span::new(start, end), kind, case: Case::Other }
}

/// The ordinal signs count as letters in Unicode, but end "4º" and "Mª".
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'º' | 'ª')
}

/// Letters with apostrophes between them, from one on.
fn word(plain: &str, start: usize) -> Token {
    let bytes = plain.as_bytes();
    let (mut end, mut large, mut letters) = (start, 0usize, 0usize);
    let mut first_large = bytes[start].is_ascii_uppercase();
    loop {
        let run = end;
        while let Some(byte) = bytes.get(end) {
            match CLASSES[usize::from(*byte)] {
                Class::Small => {}
                Class::Large => large += 1,
                _ => break,
            }
            end += 1;
        }
        letters += end - run;
        match bytes.get(end) {
            Some(b'\'') if plain[end + 1..].starts_with(is_letter) => end += 1,
            Some(byte) if !byte.is_ascii() => {
                let Some(c) = plain[end..].chars().next().filter(|c| is_letter(*c)) else { break };
                first_large |= c.is_uppercase() && end == start;
                large += usize::from(c.is_uppercase());
                letters += 1;
                end += c.len_utf8();
            }
            _ => break,
        }
    }
    Token { span: Span::new(start, end), kind: Kind::Word, case: case(large, letters, first_large) }
}

fn case(large: usize, letters: usize, first: bool) -> Case {
    match (large, first) {
        (0, _) => Case::Lower,
        (n, _) if n == letters && letters > 1 => Case::Upper,
        (1, true) => Case::Title,
        // "McDonald", "JImenez"; "IgG" and "pH" are no names.
        (2 | 3, true) if letters >= 5 => Case::Title,
        _ => Case::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_signs_are_told_apart() {
        let text = "Dr. O'Neil, 50mg\npH";
        let found = tokens(text);
        let parts: Vec<_> = found.iter().map(|t| t.span.of(text)).collect();
        assert_eq!(parts, ["Dr", ".", "O'Neil", ",", "50", "mg", "\n", "pH"]);
        assert_eq!(found[2].case, Case::Title);
        assert_eq!(found[7].case, Case::Other);
    }

    #[test]
    fn the_case_of_a_word_is_told_by_its_letters() {
        for (text, case) in [
            ("ana", Case::Lower),
            ("Ana", Case::Title),
            ("ANA", Case::Upper),
            ("A", Case::Title),
            ("Ñ", Case::Title),
            ("ÑA", Case::Upper),
            ("McDonald", Case::Title),
            ("JImenez", Case::Title),
            ("IgG", Case::Other),
            ("pH", Case::Other),
            ("DNAs", Case::Other),
            ("aNA", Case::Other),
            ("O'Neil", Case::Title),
            ("o'neil", Case::Lower),
            ("McDOnALd", Case::Other),
        ] {
            let found = tokens(text);
            assert_eq!((found.len(), found[0].case), (1, case), "{text}");
            assert_eq!(found[0].is_large(), matches!(case, Case::Title | Case::Upper));
        }
    }

    #[test]
    fn tokens_cover_all_but_white_space_in_order() {
        for text in ["a  b\tc\n\nd", "ñandú-4º, 12.5%", "«hola»\u{a0}5", "x'y' 'z", "((((((((((((((a", "\r\n", ""]
        {
            let found = tokens(text);
            let mut at = 0;
            for token in &found {
                assert!(token.span.start >= at && token.span.end > token.span.start, "{text}");
                assert!(text[at..token.span.start].chars().all(|c| c.is_whitespace() && c != '\n'), "{text}");
                at = token.span.end;
            }
            assert!(text[at..].trim().is_empty(), "{text}");
        }
    }

    #[test]
    fn long_runs_of_one_sign_and_stretches_that_are_no_text_are_one_token() {
        assert_eq!(tokens(&"(".repeat(RUN)).len(), 1);
        assert_eq!(tokens(&"(".repeat(RUN - 1)).len(), RUN - 1);
        let crowd = "a@".repeat(LONG_STRETCH);
        let found = tokens(&format!("uno {crowd} dos"));
        assert_eq!(found.len(), 3);
        assert_eq!((found[1].kind, found[1].span.len()), (Kind::Sign, crowd.len()));
        let few = format!("a@b {}", "c".repeat(LONG_STRETCH + 1));
        assert_eq!(tokens(&few).len(), 4, "a long word is one");
    }

    #[test]
    fn the_ordinal_signs_and_quotes_end_a_word() {
        let kinds = |text: &str| tokens(text).iter().map(|token| token.kind).collect::<Vec<_>>();
        assert_eq!(kinds("4º"), [Kind::Number, Kind::Sign]);
        assert_eq!(kinds("Mª"), [Kind::Word, Kind::Sign]);
        assert_eq!(kinds("a'"), [Kind::Word, Kind::Sign]);
        assert_eq!(kinds("a'b"), [Kind::Word]);
        assert_eq!(kinds("a4"), [Kind::Word, Kind::Number]);
        assert_eq!(kinds("\n"), [Kind::Break]);
    }
}
