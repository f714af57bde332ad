//! Word tokens with their places: numbers with decimal commas or points, dosing shorthand (`c/8h`, `1-0-1`),
//! contractions and e-mail addresses stay whole. One pass, linear, whatever the input.

use super::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Letters, with inner apostrophes and hyphens.
    Word,
    /// Digits, with inner points and commas.
    Number,
    /// Letters and digits or digits in a pattern: `c/8h`, `1-0-1`, `50mg`, `B12`, `120/80`.
    Mixed,
    Email,
    /// One sign.
    Punctuation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub span: Span,
    pub kind: TokenKind,
}

/// The local part and the domain of an address are not searched further than this (RFC 5321, 4.5.3.1).
const LOCAL_LIMIT: usize = 64;
const DOMAIN_LIMIT: usize = 255;

/// The tokens of a text in order. White space belongs to none.
pub fn tokens(text: &str) -> Vec<Token> {
    let emails = emails(text);
    let mut next_email = emails.iter().peekable();
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(text.len() / 5);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b' ' || byte == b'\n' {
            at += 1;
            continue;
        }
        if let Some(email) = next_email.next_if(|email| email.start == at) {
            out.push(Token { span: *email, kind: TokenKind::Email });
            at = email.end;
            continue;
        }
        let Some(c) = text[at..].chars().next() else { break };
        let limit = next_email.peek().map_or(text.len(), |email| email.start);
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if is_word_char(c) {
            let end = plain_word_end(bytes, at, limit);
            let (end, kind) = end.map(|end| (end, TokenKind::Word)).unwrap_or_else(|| {
                let end = word_end(text, at, limit);
                (end, kind_of(&text[at..end]))
            });
            out.push(Token { span: Span::new(at, end), kind });
            at = end;
        } else {
            out.push(Token { span: Span::new(at, at + c.len_utf8()), kind: TokenKind::Punctuation });
            at += c.len_utf8();
        }
    }
    out
}

fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    // Marks and zero-width joiners inside a word must not tear it.
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{ad}')
}

/// The end of a word of ASCII letters alone, where no sign behind it may join them to more ([`joins`]): most words are of that
/// kind.
fn plain_word_end(bytes: &[u8], start: usize, limit: usize) -> Option<usize> {
    let length = bytes[start..limit].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = start + length;
    let ends = |byte: &u8| byte.is_ascii() && !matches!(byte, b'0'..=b'9' | b'_' | b'\'' | b'-' | b'/');
    let ends = bytes[..limit].get(end).is_none_or(ends);
    (length > 0 && ends).then_some(end)
}

fn word_end(text: &str, start: usize, limit: usize) -> usize {
    let mut end = run_end(text, start, limit);
    let mut run = &text[start..end];
    loop {
        let mut rest = text[end..limit].chars();
        let (Some(joiner), Some(after)) = (rest.next(), rest.next()) else { return end };
        let next_start = end + joiner.len_utf8();
        if !is_word_char(after) {
            return end;
        }
        let next = &text[next_start..run_end(text, next_start, limit)];
        if !joins(run, joiner, next) {
            return end;
        }
        end = next_start + next.len();
        run = next;
    }
}

fn run_end(text: &str, start: usize, limit: usize) -> usize {
    let bytes = &text.as_bytes()[..limit];
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii() {
            if !byte.is_ascii_alphanumeric() && *byte != b'_' {
                return at;
            }
            at += 1;
            continue;
        }
        match text[at..limit].chars().next() {
            Some(c) if is_word_char(c) => at += c.len_utf8(),
            _ => return at,
        }
    }
    limit
}

/// Whether a sign between two runs of letters and digits keeps them together.
fn joins(left: &str, joiner: char, right: &str) -> bool {
    let left_digit = left.ends_with(|c: char| c.is_ascii_digit());
    let right_digit = right.starts_with(|c: char| c.is_ascii_digit());
    match joiner {
        '.' | ',' => left_digit && right_digit,
        '\'' | '’' | '-' | '‑' => true,
        '/' => left_digit || right_digit || left.chars().count() <= 2 || right.chars().count() <= 2,
        ':' => left_digit && right_digit,
        _ => false,
    }
}

fn kind_of(word: &str) -> TokenKind {
    let digits = word.chars().any(|c| c.is_numeric());
    let letters = word.chars().any(char::is_alphabetic);
    match (letters, digits) {
        (false, true) if word.chars().all(|c| c.is_numeric() || c == '.' || c == ',') => TokenKind::Number,
        (true, false) if !word.contains('/') => TokenKind::Word,
        (false, false) => TokenKind::Punctuation,
        _ => TokenKind::Mixed,
    }
}

/// Places that look like an address. Each `@` reaches back no further than the address before it: linear.
fn emails(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut out: Vec<Span> = Vec::new();
    for (at, _) in text.match_indices('@') {
        let floor = out.last().map_or(0, |last| last.end).max(at.saturating_sub(LOCAL_LIMIT));
        let mut start = at;
        while start > floor && is_local_byte(bytes[start - 1]) {
            start -= 1;
        }
        while start < at && matches!(bytes[start], b'.' | b'-' | b'+' | b'%') {
            start += 1;
        }
        let ceiling = (at + 1 + DOMAIN_LIMIT).min(bytes.len());
        let mut end = at + 1;
        while end < ceiling && (bytes[end].is_ascii_alphanumeric() || matches!(bytes[end], b'.' | b'-')) {
            end += 1;
        }
        while end > at + 1 && matches!(bytes[end - 1], b'.' | b'-') {
            end -= 1;
        }
        let dotted = bytes[at + 1..end].contains(&b'.');
        if start < at && dotted && text.is_char_boundary(start) && text.is_char_boundary(end) {
            out.push(Span::new(start, end));
        }
    }
    out
}

fn is_local_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'%' | b'+' | b'-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| token.span.slice(text)).collect()
    }

    #[test]
    fn doses_and_shorthand_stay_whole() {
        assert_eq!(
            words("50,5 mg c/8h 1-0-1, 120/80 50mg."),
            ["50,5", "mg", "c/8h", "1-0-1", ",", "120/80", "50mg", "."]
        );
        assert_eq!(words("1.234,5 y 3."), ["1.234,5", "y", "3", "."]);
        assert_eq!(words("dolor/fiebre"), ["dolor", "/", "fiebre"]);
    }

    #[test]
    fn addresses_and_contractions_are_not_torn() {
        assert_eq!(words("a ana.ruiz@correo.es, no"), ["a", "ana.ruiz@correo.es", ",", "no"]);
        assert_eq!(words("I don’t know"), ["I", "don’t", "know"]);
        assert_eq!(tokens("x@y")[1].kind, TokenKind::Punctuation);
    }

    #[test]
    fn a_hostile_megabyte_is_read_once() {
        assert_eq!(tokens(&"a@".repeat(100_000)).len(), 200_000);
        assert_eq!(tokens(&"1".repeat(1_000_000)).len(), 1);
        assert!(tokens(&"1-".repeat(100_000)).len() <= 3);
    }

    proptest! {
        #[test]
        fn every_sign_that_is_not_white_space_is_in_exactly_one_token(text in "(\\PC|[@./, \n-]){0,80}") {
            let mut covered = vec![0u8; text.len()];
            for token in tokens(&text) {
                prop_assert!(text.get(token.span.start..token.span.end).is_some());
                covered[token.span.start..token.span.end].iter_mut().for_each(|n| *n += 1);
            }
            for (at, c) in text.char_indices() {
                prop_assert_eq!(covered[at], u8::from(!c.is_whitespace()), "{:?}", c);
            }
        }
    }
}
