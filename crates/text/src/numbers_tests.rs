//! What number words come to, in both languages.

use proptest::prelude::*;

use super::*;

fn digits(text: &str, language: Language) -> Vec<String> {
    number_words(text, language).into_iter().map(|number| number.digits).collect()
}

#[test]
fn cardinals_of_both_languages_are_read() {
    for (words, value) in [
        ("sesenta y uno", "61"),
        ("veintitrés", "23"),
        ("cien", "100"),
        ("ciento cincuenta", "150"),
        ("dos mil ciento tres", "2103"),
        ("mil novecientos ochenta y cuatro", "1984"),
        ("dos y media", "2.5"),
        ("media", "0.5"),
        ("quinientos", "500"),
    ] {
        assert_eq!(digits(words, Language::Spanish), [value], "{words}");
    }
    for (words, value) in [
        ("two hundred and fifty", "250"),
        ("twenty-three", "23"),
        ("a hundred", "100"),
        ("one and a half", "1"),
        ("fifteen hundred", "1500"),
        ("three thousand and twelve", "3012"),
        ("half", "0.5"),
    ] {
        assert_eq!(digits(words, Language::English)[0], value, "{words}");
    }
}

#[test]
fn digits_said_one_by_one_are_a_sequence() {
    assert_eq!(digits("seis uno dos", Language::Spanish), ["612"]);
    assert_eq!(digits("five five five double four oh", Language::English), ["555440"]);
    assert_eq!(digits("seis uno dos, treinta y cuatro", Language::Spanish), ["612", "34"]);
    assert_eq!(digits("ninety nineteen", Language::English), ["90", "19"]);
}

#[test]
fn a_number_knows_its_place() {
    let text = "toma ciento cincuenta miligramos y uno más";
    let found = number_words(text, Language::Spanish);
    assert_eq!(found[0].span.slice(text), "ciento cincuenta");
    assert_eq!(found[0].value, Some(150.0));
    assert_eq!(found[1].span.slice(text), "uno");
    assert_eq!(value_of("fifty", Language::English), Some(50.0));
    assert_eq!(value_of("fifty pills", Language::English), None);
}

/// All tokens of the text at once, and every word looked up.
fn parts_plainly(text: &str) -> Vec<(Span, NumberPart)> {
    let words = tokens(text).into_iter().filter(|token| token.kind == TokenKind::Word);
    let pieces = words.flat_map(|token| split_hyphen(text, token));
    let part = |raw: &str| KNOWN.get(fold(raw).as_str()).and_then(|(spanish, english)| spanish.or(*english));
    pieces.filter(|piece| piece.len() <= 16).filter_map(|piece| Some((piece, part(piece.slice(text))?))).collect()
}

proptest! {
    #[test]
    fn stretches_between_white_space_are_read_as_the_whole_text_is(words in proptest::collection::vec(
        prop_oneof!["uno", "Dos", "veintitrés", "y", "un", "two", "half", "[a-z]{1,3}", "[-/.,;:'@_ \\n\t]{1,2}", "\\PC{1,2}", "[0-9]{1,2}", " "], 0..30)) {
        let text = words.concat();
        prop_assert_eq!(parts(&text, Language::Unknown), parts_plainly(&text));
    }

    #[test]
    fn any_words_in_any_order_give_ordered_literal_spans(words in proptest::collection::vec(
        prop_oneof!["mil", "cien", "y", "dos", "double", "hundred", "million", "half", "and", "uno", "xx", "veinte"], 0..40)) {
        let text = words.join(" ");
        let mut last = 0;
        for number in number_words(&text, Language::Unknown) {
            prop_assert!(number.span.start >= last);
            last = number.span.end;
            prop_assert!(text.get(number.span.start..number.span.end).is_some());
        }
    }
}
