use super::*;
use crate::test_support::labelled;
use anamnesis_text::Language;

fn found(text: &str) -> Vec<(&'static str, String)> {
    labelled(text, Language::Unknown, |context, found| FormHeaders::builtin().find(context, found))
}

#[test]
fn a_field_gives_its_value_its_label() {
    for (text, kind, value) in [
        ("Nombre: Zuriel Okampo Brazt", label::PERSON, "Zuriel Okampo Brazt"),
        ("Nombre: Brazt, Zuriel", label::PERSON, "Brazt, Zuriel"),
        ("Paciente: Ruiz Gil, Ana", label::PERSON, "Ruiz Gil, Ana"),
        ("Medico: Dr. Okampo Brazt; NHC: 44", label::PERSON, "Okampo Brazt"),
        ("Domicilio: Calle Olmo 12, bajo", label::ADDRESS, "Calle Olmo 12, bajo"),
        ("Localidad: Zarramonte", label::LOCATION, "Zarramonte"),
        ("Pais: Francia", label::COUNTRY, "Francia"),
        ("Fecha de nacimiento: 12/03/1980", label::DATE, "12/03/1980"),
        ("DOB: 03-12-1980", label::DATE, "03-12-1980"),
        ("Edad: 47 anos", label::AGE, "47 anos"),
        ("Edad: 94 anos", label::GREAT_AGE, "94 anos"),
        ("Sexo: V", label::SEX, "V"),
        ("NHC: 28-7741/b", label::MEDICAL_RECORD, "28-7741/b"),
        ("Hospital: Santa Zulema, planta 3", label::ORGANIZATION, "Santa Zulema"),
        ("CP: 28035", label::POSTAL_CODE, "28035"),
        ("Profesion: albanil", label::PROFESSION, "albanil"),
    ] {
        let found = found(text);
        assert!(
            found.iter().any(|(label, it)| *label == kind
                && (it == value || value.starts_with(it.as_str()) && kind == label::MEDICAL_RECORD)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_field_without_a_value_of_its_kind_takes_nothing() {
    for text in [
        "Nombre: ",
        "Edad: desconocida",
        "Fecha: ayer",
        "Fecha: 12",
        "NHC: pendiente",
        "Hospital: sin datos",
        "Domicilio: no",
        "Motivo: Tos seca",
        "su nombre: Ana",
        "Sexo: no consta en el informe",
    ] {
        assert!(found(text).is_empty(), "{text}: {:?}", found(text));
    }
}

#[test]
fn a_value_ends_at_the_next_field_a_gap_a_sentence_or_a_line() {
    for (value, end) in [
        ("ana ruiz\nmas", "ana ruiz"),
        ("ana ruiz  edad", "ana ruiz"),
        ("ana ruiz edad: 4", "ana ruiz"),
        ("ana ruiz; tos", "ana ruiz"),
        ("ana ruiz. tose", "ana ruiz"),
        ("c. mayor 3", "c. mayor 3"),
        ("dr. ruiz. tose", "dr. ruiz"),
        ("calle olmo. 12", "calle olmo. 12"),
        ("ana ruiz", "ana ruiz"),
    ] {
        assert_eq!(&value[..end_of(value)], end, "{value}");
    }
}

#[test]
fn a_field_begins_a_line_a_clause_or_a_cell() {
    let headers = FormHeaders::builtin();
    let kind = |text: &str| headers.field_before(text, text.find(':').unwrap_or(0)).map(|(kind, _)| kind);
    for text in ["nombre:", "\nnombre:", "x. nombre:", "x;nombre:", "x| nombre:", "x  nombre:", "** nombre :"] {
        assert_eq!(kind(text), Some(label::PERSON), "{text}");
    }
    for text in ["su nombre:", "xnombre:", "ninguno:"] {
        assert_eq!(kind(text), None, "{text}");
    }
    assert_eq!(kind("varon edad:"), Some(label::AGE), "fields of figures stand within lines");
}

#[test]
fn places_of_a_field_are_cut_at_their_signs_and_a_number_among_them_is_a_code() {
    assert_eq!(
        found("Localidad: Zarramonte (Toledo), 45001"),
        [
            (label::LOCATION, "Zarramonte".to_owned()),
            (label::LOCATION, "Toledo".to_owned()),
            (label::POSTAL_CODE, "45001".to_owned())
        ]
    );
}
