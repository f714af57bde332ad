//! Invented values of the same kind as the real one, chosen by its keyed fingerprint: the same for the same value of a
//! patient. Telephones and mail addresses are of ranges that belong to no one (555-01xx, example.org).

use super::entities::gazetteer;
use super::label;
use super::operator::MatchedValue;
use anamnesis_text::Language;

/// A value that reads like a real one; `None` for kinds without invented values.
pub(crate) fn synthetic_value(value: &MatchedValue<'_>) -> Option<String> {
    let draw = value.fingerprint;
    let number = |least: u64, count: u64| least + (draw >> 7) % count;
    Some(match value.label {
        label::PERSON => person(value),
        label::LOCATION => title(pick(&gazetteer::large_places(), draw)),
        label::ORGANIZATION => match value.language {
            Language::English => format!("{} Center", title(pick(&gazetteer::plain_surnames(), draw))),
            _ => format!("Centro {}", title(pick(&gazetteer::plain_surnames(), draw))),
        },
        label::ADDRESS => match value.language {
            Language::English => {
                format!("{} {} Street", number(1, 200), title(pick(&gazetteer::plain_surnames(), draw)))
            }
            _ => format!("Calle {} {}", title(pick(&gazetteer::plain_surnames(), draw)), number(1, 200)),
        },
        label::PHONE => format!("555-01{:02}", number(0, 100)),
        label::EMAIL => format!("p{:06x}@example.org", draw >> 40),
        label::URL => format!("https://example.org/{:06x}", draw >> 40),
        label::HANDLE => format!("@p{:06x}", draw >> 40),
        label::IP_ADDRESS => format!("192.0.2.{}", number(1, 254)),
        label::DATE | label::AGE | label::SEX | label::FAMILY | label::PROFESSION | label::POSTAL_CODE => return None,
        _ => shaped(value),
    })
}

/// As many words as the real name has, at most three; a lone word is a first name or, after a title, a surname.
fn person(value: &MatchedValue<'_>) -> String {
    let words = value.text.split_whitespace().filter(|word| word.len() > 2).count().clamp(1, 3);
    let draw = value.fingerprint;
    let first = title(pick(&gazetteer::everyday_given(), draw));
    let surnames = gazetteer::plain_surnames();
    let more = (1..words).map(|at| title(pick(&surnames, draw.rotate_left(13 * at as u32))));
    std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ")
}

/// Digits for digits and letters for letters. The check digit of an identifier is right by chance alone.
fn shaped(value: &MatchedValue<'_>) -> String {
    let mut state = value.fingerprint | 1;
    let mut next = |count: u8| {
        state = state.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        (state >> 33) as u8 % count
    };
    let letter = |base: u8, by: u8| char::from(base + by);
    value
        .text
        .chars()
        .map(|c| match c {
            _ if c.is_ascii_digit() => letter(b'0', next(10)),
            _ if c.is_uppercase() => letter(b'A', next(26)),
            _ if c.is_alphabetic() => letter(b'a', next(26)),
            _ => c,
        })
        .collect()
}

fn pick(list: &[&'static str], draw: u64) -> &'static str {
    if list.is_empty() { "" } else { list[(draw % list.len() as u64) as usize] }
}

fn title(lower: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
    };
    lower.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synthesize(label: &'static str, text: &str, fingerprint: u64) -> Option<String> {
        synthetic_value(&MatchedValue { label, text, fingerprint, language: Language::Spanish })
    }

    #[test]
    fn a_fake_has_the_form_of_the_real_one_and_is_the_same_each_time() {
        let name = synthesize(label::PERSON, "Ana Ruiz Gil", 77).unwrap();
        assert_eq!((name.split(' ').count(), synthesize(label::PERSON, "Ana Ruiz Gil", 77)), (3, Some(name)));
        let id = synthesize("ES_DNI", "12345678-Z", 5).unwrap();
        assert!(id.len() == 10 && id.as_bytes()[8] == b'-' && id.ends_with(|c: char| c.is_ascii_uppercase()));
        assert_ne!(synthesize("ES_DNI", "12345678-Z", 5), synthesize("ES_DNI", "12345678-Z", 6));
        assert_eq!(synthesize(label::DATE, "1/2/2020", 1), None);
    }

    #[test]
    fn each_kind_has_its_form_in_the_language_of_the_text() {
        let english = |label, text| {
            synthetic_value(&MatchedValue { label, text, fingerprint: 77 << 30, language: Language::English }).unwrap()
        };
        let spanish = |label, text| synthesize(label, text, 77 << 30).unwrap();
        assert!(english(label::ORGANIZATION, "x").ends_with(" Center"));
        assert!(spanish(label::ORGANIZATION, "x").starts_with("Centro "));
        assert!(
            english(label::ADDRESS, "x").ends_with(" Street")
                && english(label::ADDRESS, "x").as_bytes()[0].is_ascii_digit()
        );
        assert!(spanish(label::ADDRESS, "x").starts_with("Calle "));
        assert!(spanish(label::PHONE, "612345678").starts_with("555-01") && spanish(label::PHONE, "x").len() == 8);
        assert!(spanish(label::EMAIL, "x").ends_with("@example.org"));
        assert!(spanish(label::URL, "x").starts_with("https://example.org/"));
        assert!(spanish(label::HANDLE, "x").starts_with("@p"));
        assert!(spanish(label::IP_ADDRESS, "x").starts_with("192.0.2."));
        assert!(spanish(label::LOCATION, "x").starts_with(|c: char| c.is_uppercase()));
        for kind in [label::DATE, label::AGE, label::SEX, label::FAMILY, label::PROFESSION, label::POSTAL_CODE] {
            assert_eq!(synthesize(kind, "x", 1), None, "{kind}");
        }
    }

    #[test]
    fn a_name_has_up_to_three_words_and_differs_from_value_to_value() {
        for (text, words) in [("Ana", 1), ("Ana Ruiz", 2), ("Ana de Ruiz", 2), ("Ana Ruiz Gil Mota", 3), ("A", 1)] {
            assert_eq!(synthesize(label::PERSON, text, 9).unwrap().split(' ').count(), words, "{text}");
        }
        let names: std::collections::HashSet<_> =
            (0..50).filter_map(|draw| synthesize(label::PERSON, "Ana", draw)).collect();
        assert!(names.len() > 40);
        assert_eq!(title("ana maría"), "Ana María");
        assert_eq!((pick(&[], 3), pick(&["a", "b"], 3)), ("", "b"));
    }

    #[test]
    fn other_values_keep_their_signs_and_the_kind_of_every_letter() {
        let made = synthesize("MX_CURP", "Ab1-ñÑ 9", 12345).unwrap();
        let kind = |c: char| {
            if c.is_ascii_digit() {
                '0'
            } else if c.is_uppercase() {
                'A'
            } else if c.is_alphabetic() {
                'a'
            } else {
                c
            }
        };
        assert_eq!(made.chars().map(kind).collect::<String>(), "Aa0-aA 0");
    }
}
