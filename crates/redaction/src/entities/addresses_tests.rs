use super::*;
use crate::test_support::{labelled, read};

fn found(text: &str, language: Language) -> Vec<(&'static str, String)> {
    labelled(text, language, find)
}

/// The parts of one label.
fn parts_with_label(kind: &str, text: &str, language: Language) -> Vec<String> {
    found(text, language).into_iter().filter(|(label, _)| *label == kind).map(|(_, text)| text).collect()
}

#[test]
fn spanish_streets_are_found_with_their_numbers_and_doors() {
    for (text, address) in [
        ("vive en Calle Mayor 5, 3 B desde ayer", "Calle Mayor 5, 3 B"),
        ("vive en calle mayor 5 desde ayer", "calle mayor 5"),
        ("vive en C/ Alcala 45 desde ayer", "C/ Alcala 45"),
        ("vive en Avda. de la Paz 12 desde ayer", "Avda. de la Paz 12"),
        ("vive en Plaza del Olmo s/n desde ayer", "Plaza del Olmo s/n"),
        ("vive en Paseo de los Tilos 7, piso 2 desde ayer", "Paseo de los Tilos 7, piso 2"),
        ("recibe en Apartado de correos 1234 siempre", "Apartado de correos 1234"),
    ] {
        let parts = parts_with_label(label::ADDRESS, text, Language::Spanish);
        assert!(parts.iter().any(|part| part.starts_with(address)), "{text}: {parts:?}");
    }
}

#[test]
fn english_streets_leave_with_their_numbers() {
    for (text, address) in [
        ("lives at 5 Main Street since May", "5 Main Street"),
        ("lives at 1200 W. Olive Avenue, Apt 4B since May", "1200 W. Olive Avenue, Apt 4B"),
        ("lives at 5 elm street since may", "5 elm street"),
        ("lives on Sycamore Street since May", "Sycamore Street"),
        ("mail to P.O. Box 4471 since May", "P.O. Box 4471"),
        ("mail to PSC 1234, Box 5678 since May", "PSC 1234, Box 5678"),
    ] {
        let parts = parts_with_label(label::ADDRESS, text, Language::English);
        assert!(parts.iter().any(|part| part == address), "{text}: {parts:?}");
    }
}

#[test]
fn words_that_also_begin_or_end_streets_name_none() {
    for text in [
        "pauta c/ fluoxetina 20 mg",
        "toma c/ comida 20 mg",
        "herida cerrada. Columna 5 dias",
        "la via oral cada 8 horas",
        "fractura de col femoral 5",
        "salio a la calle por la tarde",
    ] {
        assert!(
            parts_with_label(label::ADDRESS, text, Language::Spanish).is_empty(),
            "{text}: {:?}",
            found(text, Language::Spanish)
        );
    }
    for text in [
        "Takes it 3 times a day on the way home",
        "62 RR 11 BP 120",
        "In 2005, Dr. Park said so",
        "In 2005, Dr. Park Dr. Lee said so",
        "able to do 5 meter walk today",
        "c/o loose motions 5 days",
    ] {
        assert!(
            parts_with_label(label::ADDRESS, text, Language::English).is_empty(),
            "{text}: {:?}",
            found(text, Language::English)
        );
    }
}

#[test]
fn postal_codes_follow_addresses_or_their_keyword_or_precede_places() {
    for (text, language, code) in [
        ("Calle Mayor 5, 28035 Madrid, hoy", Language::Spanish, "28035"),
        ("vive en CP 28035 desde ayer", Language::Spanish, "28035"),
        ("vive en 28035 Madrid desde ayer", Language::Spanish, "28035"),
        ("lives in Austin, TX 78701 since May", Language::English, "TX 78701"),
        ("lives near SW1A 1AA since May", Language::English, "SW1A 1AA"),
    ] {
        let codes = parts_with_label(label::POSTAL_CODE, text, language);
        assert!(codes.contains(&code.to_owned()), "{text}: {codes:?}");
    }
    for text in ["leucocitos 12300 y bien", "plaquetas 98000 Hoy bien", "ref 1.28035 Madrid", "CPT 90837 y F33.1"] {
        assert!(
            parts_with_label(label::POSTAL_CODE, text, Language::Spanish).is_empty(),
            "{text}: {:?}",
            found(text, Language::Spanish)
        );
    }
}

#[test]
fn the_place_after_a_postal_code_is_found_too() {
    let places =
        parts_with_label(label::LOCATION, "Calle Mayor 5, 28035 Villanueva del Rio, Espana", Language::Spanish);
    assert_eq!(places, ["Villanueva del Rio"]);
    assert!(parts_with_label(label::LOCATION, "CP 28035 desde ayer", Language::Spanish).is_empty());
}

#[test]
fn the_parts_of_a_street_are_distinguished_from_other_words() {
    assert!(
        first_word_is_capitalized("de la Paz 3")
            && !first_word_is_capitalized("de la paz 3")
            && !first_word_is_capitalized("")
    );
    assert!(numbered_close("mayor 5") && numbered_close("olmo s/n") && !numbered_close("por 5 dias"));
    assert!(!numbered_close("a b c d e f 5"), "too far from its number");
    assert!(all_capitals("Mayor 5, B") && all_capitals("Paz de la Luz") && !all_capitals("Mayor abajo"));
    assert_eq!(capitalised_end("Mayor abajo"), "Mayor".len());
    assert_eq!(capitalised_end("Paz de Luz, Sur"), "Paz de Luz".len());
    assert_eq!(capitalised_end("abajo"), 0);
    assert!(continues("1.28035", 2, 7) && continues("28035,1", 0, 5) && !continues("a 28035.", 2, 7));
    for (street, weak) in [
        ("c/ a", false),
        ("c a", true),
        ("av. a", false),
        ("av a", true),
        ("camino a", true),
        ("calle a", false),
        ("col. a", false),
    ] {
        assert_eq!(is_weak_street(street), weak, "{street}");
    }
}

#[test]
fn figures_and_what_they_measure_are_no_street() {
    for (hit, reading) in [("62 RR 11", true), ("64 Rua Papoula 1998", false), ("Suite 12", false), ("5 St. 3", false)]
    {
        assert_eq!(is_a_reading(hit), reading, "{hit}");
    }
}

#[test]
fn a_street_begins_at_words_of_streets_alone() {
    let at = |text: &str| beginnings(text).collect::<Vec<_>>();
    assert_eq!(at("en calle, c/ y mesa"), [3, 10]);
    assert!(at("escalle xcalle").is_empty());
    read("Calle Mayor 5 y Calle Menor 7", Language::Spanish, |context| {
        let mut found = Vec::new();
        spanish(context, &mut found);
        assert_eq!(found.len(), 2);
    });
}
