//! Words, numbers and signs of a [`NormalizedText`](super::normalized::NormalizedText), with their case: what structural rules read.

use anamnesis_text::Span;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextTokenKind {
    Word,
    Number,
    Sign,
    /// A line feed.
    Break,
}

/// How a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LetterCase {
    Lower,
    /// First letter capital.
    Title,
    /// At least two letters, all capital.
    Upper,
    /// No letters, or capitals inside ("pH").
    Other,
}

/// One token; the span is of the view.
#[derive(Debug, Clone, Copy)]
pub struct TextToken {
    pub span: Span,
    pub(crate) kind: TextTokenKind,
    pub(crate) case: LetterCase,
}

impl TextToken {
    pub fn is_word(&self) -> bool {
        self.kind == TextTokenKind::Word
    }

    /// A word that begins with a capital letter.
    pub(crate) fn is_capitalized(&self) -> bool {
        matches!(self.case, LetterCase::Title | LetterCase::Upper)
    }
}

/// Length without white space from which text full of "@" becomes one sign token, which the residual check takes as a
/// whole.
pub(crate) const LONG_STRETCH: usize = 400;
const MANY_AT: usize = 32;
/// Equal signs from which a run of them is one token: "((((((((((".
const RUN: usize = 8;

/// The class of an ASCII byte; other bytes are classified as characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Space,
    Break,
    Digit,
    Small,
    Large,
    Sign,
    Wide,
}

static CLASSES: [CharClass; 256] = {
    let mut classes = [CharClass::Wide; 256];
    let mut byte = 0;
    while byte < 128u8 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\x0B'..=b'\r' => CharClass::Space,
            b'\n' => CharClass::Break,
            b'0'..=b'9' => CharClass::Digit,
            b'a'..=b'z' => CharClass::Small,
            b'A'..=b'Z' => CharClass::Large,
            _ => CharClass::Sign,
        };
        byte += 1;
    }
    classes
};

/// Splits a folded text into tokens. White space other than line feeds makes none.
pub(crate) fn tokens(plain: &str) -> Vec<TextToken> {
    let bytes = plain.as_bytes();
    let crowded = bytes.iter().filter(|byte| **byte == b'@').count() > MANY_AT;
    let mut found = Vec::with_capacity(plain.len() / 4);
    let (mut at, mut stretch) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASSES[usize::from(byte)];
        if class == CharClass::Space {
            at += 1;
            continue;
        }
        if crowded && at >= stretch && class != CharClass::Break {
            stretch = at + bytes[at..].iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len() - at);
            if is_no_text(&bytes[at..stretch]) {
                found.push(plain_token(at, stretch, TextTokenKind::Sign));
                at = stretch;
                continue;
            }
        }
        let token = match class {
            CharClass::Break => plain_token(at, at + 1, TextTokenKind::Break),
            CharClass::Digit => {
                let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                plain_token(at, at + digits, TextTokenKind::Number)
            }
            CharClass::Small | CharClass::Large => word(plain, at),
            CharClass::Space | CharClass::Sign => {
                let run = bytes[at..].iter().take_while(|next| **next == byte).count();
                plain_token(at, at + if run >= RUN { run } else { 1 }, TextTokenKind::Sign)
            }
            CharClass::Wide => match plain[at..].chars().next() {
                Some(c) if is_letter(c) => word(plain, at),
                Some(c) if c.is_whitespace() => {
                    at += c.len_utf8();
                    continue;
                }
                sign => plain_token(at, at + sign.map_or(1, char::len_utf8), TextTokenKind::Sign),
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

fn plain_token(start: usize, end: usize, kind: TextTokenKind) -> TextToken {
    TextToken { span: Span::new(start, end), kind, case: LetterCase::Other }
}

/// The ordinal signs count as letters in Unicode, but end "4º" and "Mª".
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'º' | 'ª')
}

/// Letters with apostrophes between them, from one on.
fn word(plain: &str, start: usize) -> TextToken {
    let bytes = plain.as_bytes();
    let (mut end, mut large, mut letters) = (start, 0usize, 0usize);
    let mut first_large = bytes[start].is_ascii_uppercase();
    loop {
        let run = end;
        while let Some(byte) = bytes.get(end) {
            match CLASSES[usize::from(*byte)] {
                CharClass::Small => {}
                CharClass::Large => large += 1,
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
    TextToken { span: Span::new(start, end), kind: TextTokenKind::Word, case: case(large, letters, first_large) }
}

fn case(large: usize, letters: usize, first: bool) -> LetterCase {
    match (large, first) {
        (0, _) => LetterCase::Lower,
        (n, _) if n == letters && letters > 1 => LetterCase::Upper,
        (1, true) => LetterCase::Title,
        // "McDonald", "JImenez"; "IgG" and "pH" are no names.
        (2 | 3, true) if letters >= 5 => LetterCase::Title,
        _ => LetterCase::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_signs_are_distinguished() {
        let text = "Dr. O'Neil, 50mg\npH";
        let found = tokens(text);
        let parts: Vec<_> = found.iter().map(|t| t.span.slice(text)).collect();
        assert_eq!(parts, ["Dr", ".", "O'Neil", ",", "50", "mg", "\n", "pH"]);
        assert_eq!(found[2].case, LetterCase::Title);
        assert_eq!(found[7].case, LetterCase::Other);
    }

    #[test]
    fn the_case_of_a_word_follows_from_its_letters() {
        for (text, case) in [
            ("ana", LetterCase::Lower),
            ("Ana", LetterCase::Title),
            ("ANA", LetterCase::Upper),
            ("A", LetterCase::Title),
            ("Ñ", LetterCase::Title),
            ("ÑA", LetterCase::Upper),
            ("McDonald", LetterCase::Title),
            ("JImenez", LetterCase::Title),
            ("IgG", LetterCase::Other),
            ("pH", LetterCase::Other),
            ("DNAs", LetterCase::Other),
            ("aNA", LetterCase::Other),
            ("O'Neil", LetterCase::Title),
            ("o'neil", LetterCase::Lower),
            ("McDOnALd", LetterCase::Other),
        ] {
            let found = tokens(text);
            assert_eq!((found.len(), found[0].case), (1, case), "{text}");
            assert_eq!(found[0].is_capitalized(), matches!(case, LetterCase::Title | LetterCase::Upper));
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
        assert_eq!((found[1].kind, found[1].span.len()), (TextTokenKind::Sign, crowd.len()));
        let few = format!("a@b {}", "c".repeat(LONG_STRETCH + 1));
        assert_eq!(tokens(&few).len(), 4, "a long word is one");
    }

    #[test]
    fn the_ordinal_signs_and_quotes_end_a_word() {
        let kinds = |text: &str| tokens(text).iter().map(|token| token.kind).collect::<Vec<_>>();
        assert_eq!(kinds("4º"), [TextTokenKind::Number, TextTokenKind::Sign]);
        assert_eq!(kinds("Mª"), [TextTokenKind::Word, TextTokenKind::Sign]);
        assert_eq!(kinds("a'"), [TextTokenKind::Word, TextTokenKind::Sign]);
        assert_eq!(kinds("a'b"), [TextTokenKind::Word]);
        assert_eq!(kinds("a4"), [TextTokenKind::Word, TextTokenKind::Number]);
        assert_eq!(kinds("\n"), [TextTokenKind::Break]);
    }
}
