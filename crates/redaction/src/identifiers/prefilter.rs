//! Checks of the bytes around a trigger byte. They are true wherever a pattern of addresses or plates matches, so that
//! a text without such bytes costs no pattern.

/// Hexadecimal digits from a place on, counted up to five.
fn hex(bytes: &[u8], from: usize) -> usize {
    bytes.iter().skip(from).take(5).take_while(|byte| byte.is_ascii_hexdigit()).count()
}

fn digits(bytes: &[u8], from: usize) -> usize {
    bytes.iter().skip(from).take(5).take_while(|byte| byte.is_ascii_digit()).count()
}

fn before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(b' ', |before| bytes[before])
}

fn after(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at + 1).copied().unwrap_or(b' ')
}

pub(crate) fn anything(_: &[u8], _: usize) -> bool {
    true
}

/// "://"
pub(crate) fn two_slashes(bytes: &[u8], at: usize) -> bool {
    bytes[at + 1..].starts_with(b"//")
}

/// "www."
pub(crate) fn www(bytes: &[u8], at: usize) -> bool {
    at >= 3 && bytes[at - 3..at].eq_ignore_ascii_case(b"www")
}

/// A dot between lower-case letters or digits: "clinica.es".
pub(crate) fn joined_small(bytes: &[u8], at: usize) -> bool {
    let left = before(bytes, at);
    after(bytes, at).is_ascii_lowercase() && (left.is_ascii_lowercase() || left.is_ascii_digit() || left == b'-')
}

/// "@" that no word ends with and a word begins with.
pub(crate) fn opens_word(bytes: &[u8], at: usize) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !word(before(bytes, at)) && word(after(bytes, at))
}

/// Digit, dot, up to three digits, dot: "10.20."
pub(crate) fn octet(bytes: &[u8], at: usize) -> bool {
    let next = digits(bytes, at + 1);
    before(bytes, at).is_ascii_digit() && (1..=3).contains(&next) && bytes.get(at + 1 + next) == Some(&b'.')
}

/// A colon, up to four hexadecimal digits, another colon.
pub(crate) fn hex_and_colon(bytes: &[u8], at: usize) -> bool {
    let next = hex(bytes, at + 1);
    next <= 4 && bytes.get(at + 1 + next) == Some(&b':')
}

/// A sign, two hexadecimal digits, the same sign.
pub(crate) fn hex_pair(bytes: &[u8], at: usize) -> bool {
    hex(bytes, at + 1) == 2 && bytes.get(at + 3) == Some(&bytes[at])
}

/// A dot, four hexadecimal digits, another dot.
pub(crate) fn hex_four(bytes: &[u8], at: usize) -> bool {
    hex(bytes, at + 1) == 4 && bytes.get(at + 5) == Some(&b'.')
}

/// A digit, a dot and four digits: no measurement is that exact.
pub(crate) fn four_decimals(bytes: &[u8], at: usize) -> bool {
    before(bytes, at).is_ascii_digit() && digits(bytes, at + 1) >= 4
}

/// "40°" or "40 º".
pub(crate) fn degree(bytes: &[u8], at: usize) -> bool {
    let sign = matches!(bytes.get(at + 1), Some(0xB0 | 0xBA));
    let left = before(bytes, at);
    sign && (left.is_ascii_digit() || at >= 2 && left == b' ' && bytes[at - 2].is_ascii_digit())
}

/// A hyphen between a capital letter and a digit, either way.
pub(crate) fn letter_and_digit(bytes: &[u8], at: usize) -> bool {
    let (left, right) = (before(bytes, at), after(bytes, at));
    // Plates are written in capitals: "BD62-XYZ".
    left.is_ascii_uppercase() && right.is_ascii_digit() || left.is_ascii_digit() && right.is_ascii_uppercase()
}

/// A digit and, perhaps after a space, three capital letters.
pub(crate) fn three_large(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at + 1..];
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    rest.len() >= 3 && rest[..3].iter().all(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_at_the_edge_of_a_text_is_looked_at_within_it() {
        for text in ["°", " °", "º", "@", ".", ":", "-", "7", "www.", "40 °", "a."] {
            let bytes = text.as_bytes();
            for at in 0..bytes.len() {
                let looks =
                    [two_slashes, www, joined_small, opens_word, octet, hex_and_colon, hex_pair, hex_four, degree];
                let seen = looks.iter().filter(|look| look(bytes, at)).count();
                assert!(seen <= looks.len());
            }
        }
        assert!(degree("40 °".as_bytes(), 3) && !degree(" °".as_bytes(), 1));
    }

    #[test]
    fn every_prefilter_accepts_its_pattern_and_not_similar_text() {
        type Look = fn(&[u8], usize) -> bool;
        let table: &[(&str, Look, &str, usize, bool)] = &[
            ("slashes", two_slashes, "http://a", 4, true),
            ("slashes", two_slashes, "12:30", 2, false),
            ("www", www, "WWW.a", 3, true),
            ("www", www, "ww.a", 2, false),
            ("domain", joined_small, "clinica.es", 7, true),
            ("domain", joined_small, "a1.es", 2, true),
            ("domain", joined_small, "fin.La", 3, false),
            ("domain", joined_small, "Sr.la", 2, true),
            ("domain", joined_small, "fin. la", 3, false),
            ("handle", opens_word, " @ana", 1, true),
            ("handle", opens_word, "a@ana", 1, false),
            ("handle", opens_word, " @ ana", 1, false),
            ("octet", octet, "10.20.3", 2, true),
            ("octet", octet, "10.2000.3", 2, false),
            ("octet", octet, "a.20.3", 1, false),
            ("octet", octet, "10.20,3", 2, false),
            ("colon", hex_and_colon, "a:ff00:1", 1, true),
            ("colon", hex_and_colon, "a:ff000:1", 1, false),
            ("colon", hex_and_colon, "a::1", 1, true),
            ("pair", hex_pair, "00-1B-44", 2, true),
            ("pair", hex_pair, "00-1B:44", 2, false),
            ("pair", hex_pair, "00-1-44", 2, false),
            ("four", hex_four, "001b.4411.3ab7", 4, true),
            ("four", hex_four, "001b.441.3ab7", 4, false),
            ("decimals", four_decimals, "40.4167", 2, true),
            ("decimals", four_decimals, "40.416", 2, false),
            ("decimals", four_decimals, "a.4167", 1, false),
            ("degree", degree, "40°", 2, true),
            ("degree", degree, "40 º", 3, true),
            ("degree", degree, "a°", 1, false),
            ("plate", letter_and_digit, "M-1234", 1, true),
            ("plate", letter_and_digit, "1234-BCD", 4, true),
            ("plate", letter_and_digit, "a-1234", 1, false),
            ("plate", letter_and_digit, "12-34", 2, false),
            ("large", three_large, "1234 BCD", 3, true),
            ("large", three_large, "1234BCD", 3, true),
            ("large", three_large, "1234 BC", 3, false),
            ("large", three_large, "1234  BCD", 3, false),
        ];
        for (name, look, text, at, seen) in table {
            assert_eq!(look(text.as_bytes(), *at), *seen, "{name}: {text}");
        }
    }
}
