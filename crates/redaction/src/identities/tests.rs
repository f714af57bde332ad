use super::*;
use crate::label;
use crate::test_support::read;
use anamnesis_text::Language;

/// The findings of the people of a message, by label and text.
fn found(text: &str, identity: KnownIdentity) -> Vec<(&'static str, String)> {
    let people = KnownPeople::from_identities(vec![identity]);
    let mut found = read(text, Language::Unknown, |context| people.find(context));
    found.sort_by_key(|one| (one.span.start, one.span.end));
    found.into_iter().map(|one| (one.label, one.span.slice(text).to_owned())).collect()
}

fn named(name: &str) -> KnownIdentity {
    KnownIdentity { names: vec![name.to_owned()], ..KnownIdentity::default() }
}

#[test]
fn a_name_is_found_in_each_of_its_written_forms() {
    for (name, text, part) in [
        ("Zuriel Okampo Brazt", "vino zuriel hoy", "zuriel"),
        ("Zuriel Okampo Brazt", "vino Okampo Brazt, Zuriel hoy", "Okampo Brazt, Zuriel"),
        ("Zuriel Okampo Brazt", "vino Z. Okampo hoy", "Z. Okampo"),
        ("Zuriel Okampo Brazt", "vino Z. O. B. hoy", "Z. O. B."),
        ("Zuriel Okampo Brazt", "vino ZOB hoy", "ZOB"),
        ("Zuriel Okampo Brazt", "vino zurielokampo hoy", "zurielokampo"),
        ("Zuriel Okampo Brazt", "vino Okampo B. hoy", "Okampo B."),
        ("Zuriel de la Okampo", "vino Zuriel de la Okampo hoy", "Zuriel de la Okampo"),
        ("Zuriel Okampo", "the Okampos came", "Okampos"),
        ("Zuriel Okampo", "Okampo's chart", "Okampo's"),
        ("Francisco Okampo", "vino Paco hoy", "Paco"),
        ("Francisco Okampo", "vino paquito hoy", "paquito"),
        ("William Okampo", "Bill came today", "Bill"),
        ("Dolores Okampo", "vino Lola hoy", "Lola"),
        ("Bo Okampo", "vino Bo hoy", "Bo"),
    ] {
        let parts = found(text, named(name));
        assert!(parts.contains(&(label::PERSON, part.to_owned())), "{name} in {text}: {parts:?}");
    }
}

#[test]
fn words_that_are_not_the_person_stay() {
    for (name, text) in [
        ("Zuriel Okampo", "vino Marta hoy"),
        ("Bo Okampo", "dos o tres bo de agua"),
        ("Esperanza Okampo", "no pierde la esperanza de vida"),
        ("Dolores Okampo", "con dolores de cabeza"),
        ("Tomas Okampo", "toma agua"),
        ("Tana Alba", "TA 120/80 hoy"),
        ("Dr. de la Okampo", "el dr de la sala"),
        ("", "vino Marta hoy"),
    ] {
        assert!(found(text, named(name)).is_empty(), "{name} in {text}: {:?}", found(text, named(name)));
    }
}

#[test]
fn all_forms_of_a_person_have_one_subject_and_two_people_two() {
    let people = KnownPeople::from_identities(vec![named("Zuriel Okampo"), named("Marta Brazt")]);
    let subjects = |text: &str| -> Vec<Option<String>> {
        read(text, Language::Unknown, |context| people.find(context)).into_iter().map(|one| one.subject).collect()
    };
    assert_eq!(subjects("Zuriel vino. Okampo dice."), vec![Some("okampo zuriel".to_owned()); 2]);
    assert_eq!(subjects("Marta y luego Brazt"), vec![Some("brazt marta".to_owned()); 2]);
}

#[test]
fn phones_are_found_with_and_without_their_codes() {
    let phone = || KnownIdentity { phones: vec!["+34 612 345 678".into()], ..KnownIdentity::default() };
    for (text, part) in [
        ("al 612345678 hoy", "612345678"),
        ("al 612-345-678 hoy", "612-345-678"),
        ("al 0034 612 345 678 hoy", "0034 612 345 678"),
        ("al (34) 612.34.56.78 hoy", "34) 612.34.56.78"),
        ("al 2345678 hoy", "2345678"),
    ] {
        assert!(found(text, phone()).contains(&(label::PHONE, part.to_owned())), "{text}: {:?}", found(text, phone()));
    }
    for text in ["al 612345679 hoy", "al 345678 hoy", "al 612 3456 y 78 hoy"] {
        assert!(found(text, phone()).is_empty(), "{text}: {:?}", found(text, phone()));
    }
    let short = KnownIdentity { phones: vec!["112345".into()], ..KnownIdentity::default() };
    assert!(found("al 112345 hoy", short).is_empty(), "too few digits to be told");
}

#[test]
fn numbers_are_found_in_any_grouping_and_by_their_digits() {
    let id = || KnownIdentity { ids: vec!["45871203-A".into()], ..KnownIdentity::default() };
    for (text, part) in
        [("con 45871203A hoy", "45871203A"), ("con 45.871.203-a hoy", "45.871.203-a"), ("con 45871203 hoy", "45871203")]
    {
        assert!(found(text, id()).contains(&(label::NUMBER, part.to_owned())), "{text}: {:?}", found(text, id()));
    }
    assert!(found("con 4587120 hoy", id()).is_empty());
    let short = |text: &str| KnownIdentity { ids: vec![text.to_owned()], ..KnownIdentity::default() };
    assert!(found("con 123 hoy", short("123")).is_empty(), "three signs tell nobody");
    assert_eq!(found("con 1234 hoy", short("1234")).len(), 2, "the value and its digits are one");
    assert!(found("con 1234 hoy", short("AB-1234")).is_empty(), "four digits of a longer value tell nobody");
}

#[test]
fn mail_addresses_are_found_by_their_user_too() {
    let mail = || KnownIdentity { emails: vec!["Zuriel.Brazt@correo.es".into()], ..KnownIdentity::default() };
    for (text, part) in
        [("a ZURIEL.BRAZT@correo.es hoy", "ZURIEL.BRAZT@correo.es"), ("usa zuriel.brazt en todo", "zuriel.brazt")]
    {
        assert!(found(text, mail()).contains(&(label::EMAIL, part.to_owned())), "{text}: {:?}", found(text, mail()));
    }
    assert!(found("usa xzuriel.brazty en todo", mail()).is_empty());
    let short = KnownIdentity { emails: vec!["ana@correo.es".into()], ..KnownIdentity::default() };
    assert!(found("vino ana hoy", short).is_empty(), "a short user is a word of its own");
}

#[test]
fn a_date_of_birth_is_found_in_every_order_of_its_parts() {
    let born = || KnownIdentity { birth_date: chrono::NaiveDate::from_ymd_opt(1980, 5, 1), ..KnownIdentity::default() };
    for text in ["01/05/1980", "05/01/1980", "1-5-1980", "1980-05-01", "1-5-80", "01.05.80", "01051980", "19800501"] {
        let sentence = format!("nacio {text} en casa");
        assert!(found(&sentence, born()).contains(&(label::DATE, text.to_owned())), "{text}");
    }
    for text in ["02/05/1980", "01/05/1981", "15801", "215805"] {
        let sentence = format!("nacio {text} en casa");
        assert!(found(&sentence, born()).is_empty(), "{text}: {:?}", found(&sentence, born()));
    }
    let value =
        read("nacio 01/05/1980", Language::Spanish, |context| KnownPeople::from_identities(vec![born()]).find(context))
            [0]
        .value;
    assert!(value.is_some(), "the date goes on as a value");
}

#[test]
fn an_address_is_found_by_its_specific_words() {
    let at = || KnownIdentity {
        addresses: vec!["Calle Zarramonte 45, 3 B, 28014 Oxirain".into()],
        ..KnownIdentity::default()
    };
    for (text, part) in [
        ("vive en calle zarramonte, numero 45 hoy", "calle zarramonte, numero 45"),
        ("vive en Zarramonte hoy", "Zarramonte"),
        ("codigo 28014 hoy", "28014"),
        ("vive en Oxirain hoy", "Oxirain"),
    ] {
        assert!(found(text, at()).contains(&(label::ADDRESS, part.to_owned())), "{text}: {:?}", found(text, at()));
    }
    for text in ["vive en la calle hoy", "toma 45 gotas", "calle 3 hoy", "grupo B hoy", "en la calle\n45 gotas"] {
        assert!(found(text, at()).is_empty(), "{text}: {:?}", found(text, at()));
    }
}

#[test]
fn no_person_is_found_where_none_is_named() {
    assert!(read("vino Ana", Language::Spanish, |context| KnownPeople::default().find(context)).is_empty());
    assert!(
        read("vino Ana", Language::Spanish, |context| KnownPeople::from_identities(Vec::new()).find(context))
            .is_empty()
    );
}
