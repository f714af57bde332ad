//! Words, numbers and signs of a [`View`](super::view::View), with their case: what structural rules read.

use crate::text::Span;

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
pub enum Case {
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
    pub case: Case,
}

impl Token {
    pub fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// A word that begins with a large letter.
    pub fn is_large(&self) -> bool {
        matches!(self.case, Case::Title | Case::Upper)
    }
}

/// Cuts a folded text into tokens. White space other than line feeds makes none.
pub fn tokens(plain: &str) -> Vec<Token> {
    let mut found = Vec::with_capacity(plain.len() / 5);
    let mut rest = plain.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        if c == '\n' {
            found.push(Token { span: Span::new(start, start + 1), kind: Kind::Break, case: Case::Other });
        } else if c.is_alphabetic() && !matches!(c, 'º' | 'ª') {
            let mut end = start + c.len_utf8();
            while let Some(&(at, next)) = rest.peek() {
                let inside = next == '\'' && plain[at + 1..].starts_with(|c: char| c.is_alphabetic());
                if !(next.is_alphabetic() || inside) || matches!(next, 'º' | 'ª') {
                    break;
                }
                end = at + next.len_utf8();
                rest.next();
            }
            found.push(Token { span: Span::new(start, end), kind: Kind::Word, case: case(&plain[start..end]) });
        } else if c.is_ascii_digit() {
            let mut end = start + 1;
            while let Some(&(at, _)) = rest.peek().filter(|(_, next)| next.is_ascii_digit()) {
                end = at + 1;
                rest.next();
            }
            found.push(Token { span: Span::new(start, end), kind: Kind::Number, case: Case::Other });
        } else if !c.is_whitespace() {
            found.push(Token { span: Span::new(start, start + c.len_utf8()), kind: Kind::Sign, case: Case::Other });
        }
    }
    found
}

fn case(word: &str) -> Case {
    let large = word.chars().filter(|c| c.is_uppercase()).count();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let first = word.starts_with(|c: char| c.is_uppercase());
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
}
