use super::*;
use crate::passes::PassInput;
use crate::{KnownIdentity, KnownPeople};
use anamnesis_text::{Language, Speaker};

fn redactor() -> Redactor {
    Redactor::builtin(RedactionPolicy::default())
}

fn key() -> SurrogateKey {
    SurrogateKey::new([3; 32])
}

fn redact(text: &str, identities: &[KnownIdentity]) -> String {
    let document = Document::plain(text, Language::Unknown);
    redactor()
        .redact(&document, &KnownPeople::from_identities(identities.to_vec()), &key())
        .unwrap()
        .document()
        .text
        .clone()
}

fn person(name: &str) -> KnownIdentity {
    KnownIdentity { names: vec![name.into()], ..Default::default() }
}

#[test]
fn a_known_person_is_found_however_the_name_is_written() {
    let known = [person("Francisco Javier García Pérez")];
    for text in [
        "Francisco Javier García Pérez",
        "GARCIA PEREZ, FRANCISCO JAVIER",
        "F. J. García",
        "F.J.G.P.",
        "paco",
        "Paquito Pérez",
        "garcía",
        "J. Pérez",
        "franciscojavier",
    ] {
        let redacted = redact(&format!("hoy vino {text} con dolor"), &known);
        assert!(redacted.starts_with("hoy vino [PERSON_") && redacted.ends_with("] con dolor"), "{text}: {redacted}");
    }
}

#[test]
fn all_forms_of_one_person_have_one_tag() {
    let known = [person("Francisco García Pérez")];
    let redacted = redact("Paco vino. García dice. Francisco García Pérez.", &known);
    let tags: std::collections::HashSet<&str> =
        redacted.split('[').skip(1).filter_map(|t| t.split(']').next()).collect();
    assert_eq!(tags.len(), 1, "{redacted}");
}

#[test]
fn common_words_that_are_names_stay_where_they_are_words() {
    let known = [person("Esperanza Dolores Ruiz")];
    assert_eq!(
        redact("No pierdo la esperanza, con dolores de cabeza.", &known),
        "No pierdo la esperanza, con dolores de cabeza."
    );
    assert!(redact("Le dije a Esperanza que viniera.", &known).contains("[PERSON_"));
}

#[test]
fn phones_ids_and_birth_dates_of_known_people_leave_in_any_format() {
    let known = [KnownIdentity {
        phones: vec!["+34 612 345 678".into()],
        ids: vec!["12345678Z".into()],
        emails: vec!["ana.ruiz@correo.es".into()],
        birth_date: chrono::NaiveDate::from_ymd_opt(1980, 5, 1),
        ..Default::default()
    }];
    for text in [
        "612-34-56-78",
        "0034612345678",
        "(+34) 612 345 678",
        "12.345.678-Z",
        "12345678",
        "01/05/1980",
        "1980-05-01",
        "ANA.RUIZ@correo.es",
    ] {
        let redacted = redact(&format!("dato {text} fin"), &known);
        assert!(!redacted.contains(|c: char| c.is_ascii_digit() && !redacted.contains('[')), "{text}: {redacted}");
        assert!(
            redacted.starts_with("dato ") && redacted.ends_with(" fin") && redacted.contains('['),
            "{text}: {redacted}"
        );
    }
}

#[test]
fn addresses_of_known_people_leave_whole_or_in_part() {
    let known =
        [KnownIdentity { addresses: vec!["Calle Alcalá 45, 3º B, 28014 Madrid".into()], ..Default::default() }];
    for text in ["calle alcala, número 45", "Alcalá 45", "28014"] {
        assert!(!redact(&format!("vive en {text} hoy"), &known).contains("lcal"), "{text}");
    }
}

#[test]
fn offsets_lead_both_ways_and_turns_keep_their_words() {
    let turns =
        [(Speaker::Clinician, "¿Cómo está, Ramón?", None), (Speaker::Patient, "Soy Ramón Gómez, bien.", Some(7))];
    let document = Document::dialogue(turns, Language::Spanish);
    let redacted =
        redactor().redact(&document, &KnownPeople::from_identities(vec![person("Ramón Gómez")]), &key()).unwrap();
    let after = redacted.document();
    for redaction in redacted.redactions() {
        assert_eq!(redaction.redacted.slice(&after.text), redaction.replacement);
        assert!(redaction.source.slice(&document.text).contains("Ramón"));
    }
    assert_eq!(after.turns.len(), 2);
    assert!(after.turns[0].span.slice(&after.text).starts_with("¿Cómo está, [PERSON_"));
    assert!(after.turns[1].span.slice(&after.text).ends_with("], bien."));
}

#[test]
fn a_turn_outside_the_text_is_refused() {
    let mut document = Document::dialogue([(Speaker::Patient, "ñ", None)], Language::Spanish);
    document.turns[0].span = anamnesis_text::Span::new(0, 1);
    assert_eq!(redactor().redact(&document, &KnownPeople::default(), &key()).unwrap_err(), RedactionError::Offsets);
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let known = [person("Ramón Gómez")];
    let once = redact("Ramón Gómez vive con ana@b.es y 12345678901", &known);
    assert_eq!(redact(&once, &known), once);
}

#[test]
fn hidden_and_look_alike_letters_do_not_hide_a_name() {
    let known = [person("Ramón Gómez")];
    for text in ["Ra\u{200B}món", "Rаmоn", "Ｒａｍｏｎ", "RAMO\u{301}N"] {
        assert!(redact(&format!("hoy {text} vino"), &known).starts_with("hoy [PERSON_"), "{text}");
    }
}

/// All texts that a value of JSON holds.
fn texts_of(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text.clone()),
        serde_json::Value::Array(list) => list.iter().for_each(|one| texts_of(one, texts)),
        serde_json::Value::Object(fields) => fields.values().for_each(|one| texts_of(one, texts)),
        _ => {}
    }
}

/// The lines of all fixed sets without their marks, joined to notes of 3 KB: lines alone are read as a whole anyway.
fn notes() -> Vec<Document> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let mut folders = vec![root.join("redaction"), root.join("extraction")];
    let mut notes = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut texts = Vec::new();
            for line in std::fs::read_to_string(&path).unwrap().lines().filter(|line| !line.starts_with('#')) {
                match serde_json::from_str(line) {
                    Ok(value) if path.extension().is_some_and(|end| end == "jsonl") => texts_of(&value, &mut texts),
                    _ => texts.push(line.to_owned()),
                }
            }
            let mut open = String::new();
            for text in texts {
                // "[[LABEL|value]]" is the value.
                for (at, part) in text.split("[[").enumerate() {
                    let bare = if at == 0 { part } else { part.split_once('|').map_or(part, |(_, value)| value) };
                    open.push_str(&bare.replace("]]", ""));
                }
                open.push('\n');
                if open.len() >= 3_000 {
                    notes.push(Document::plain(std::mem::take(&mut open), Language::Unknown));
                }
            }
        }
    }
    notes
}

/// If the partial read of surroundings accepts a text, a full pass finds nothing.
#[test]
fn what_the_surroundings_of_replacements_do_not_show_the_whole_text_does_not_show() {
    let redactors = ["safe_harbor", "strict"].map(|name| Redactor::builtin(RedactionPolicy::named(name).unwrap()));
    let (key, no_person) = (key(), KnownPeople::default());
    let notes = notes();
    let mut passed = 0;
    for (number, note) in notes.iter().enumerate() {
        let redactor = &redactors[number % redactors.len()];
        let mut known = ScoreCache::default();
        let before = DocumentContext::new(note, &redactor.policy);
        let first = redactor
            .pass((note, &before), &no_person, &key, PassInput { found: &[], known: &[], again: false }, &mut known)
            .unwrap();
        let taken: Vec<Span> = first.redactions.iter().map(|one| one.redacted).collect();
        let context = DocumentContext::with_replacements(&first.document, &redactor.policy, &taken);
        if redactor.is_fixpoint(&context, before.profile(), &taken, &no_person, &mut known) {
            let again = (&first.document, &context);
            let next = redactor
                .pass(
                    again,
                    &no_person,
                    &key,
                    PassInput { found: &[], known: &[], again: false },
                    &mut ScoreCache::default(),
                )
                .unwrap();
            assert!(next.redactions.is_empty(), "note {number}: {:?}", next.redactions);
            passed += 1;
        }
    }
    println!("{passed} of {} notes passed by their surroundings", notes.len());
    assert!(passed * 5 > notes.len(), "the quick way is taken: {passed} of {}", notes.len());
}

/// A text after redaction under the usual policy.
fn usual(text: &str) -> String {
    let document = Document::plain(text, Language::Unknown);
    let redacted = Redactor::builtin(RedactionPolicy::default()).redact(
        &document,
        &KnownPeople::default(),
        &SurrogateKey::new([7; 32]),
    );
    redacted.unwrap().document().text.clone()
}

#[test]
fn a_sentence_after_a_role_keeps_its_verb() {
    for text in [
        "Seen by the nurse. Denies suicidal ideation.",
        "Reviewed by a therapist. Stopped drinking.",
        "Valorada por la enfermera. Niega ideas de muerte.",
        "Acude con su psicóloga. Suspende fluoxetina.",
        "Derivada por la doctora. Refiere insomnio.",
        "Discussed with the physician. Takes lithium.",
        "Visto por el terapeuta. Rechaza ingreso.",
        "Seen by Dr. Denies pain.",
    ] {
        assert_eq!(usual(text), text);
    }
    for (text, name) in [("Seen by Dr. Okonkwo today.", "Okonkwo"), ("La enf. Maite Urrutia la llamó.", "Urrutia")] {
        assert!(!usual(text).contains(name), "{text}: {}", usual(text));
    }
}

#[test]
fn words_of_the_trade_and_years_stay() {
    for text in [
        "PMH: GERD, HLD, THA 2018, on LAI since March.",
        "Sospecha clínica de artritis. Diagnóstico clínico de Parkinson en 2019.",
        "Diagnosed with depression in 2016, hospitalised in 2021.",
        "Toma litio desde 2015. Nacido en 1980.",
    ] {
        assert_eq!(usual(text), text);
    }
    assert!(!usual("Born in 1931, lives alone.").contains("1931"), "a birth year may tell an age over 89");
    assert!(!usual("Ingresó el 12 de mayo de 2019.").contains("mayo"));
}

#[test]
fn a_year_after_the_word_chart_stays_and_is_no_leak() {
    for text in [
        "\"Allergic to eggs\" (chart 1997): only a rash.",
        "(expediente 2004): reportó mareo.",
        "(chart 2011): tolerated since",
    ] {
        let document = Document::plain(text, Language::Unknown);
        let redacted = redactor().redact(&document, &KnownPeople::from_identities(Vec::new()), &key()).unwrap();
        assert_eq!(redacted.document().text, text);
        assert_eq!(
            redactor().count_residual_pii(redacted.document(), &KnownPeople::from_identities(Vec::new())),
            0,
            "{text}"
        );
    }
    for text in ["badge 2041", "ssn ending in 1987", "extension 2015", "expediente 1998/2045", "MRN 19971"] {
        let document = Document::plain(text, Language::English);
        assert!(redactor().count_residual_pii(&document, &KnownPeople::from_identities(Vec::new())) > 0, "{text}");
    }
    // A number that is no year is the record's.
    assert_eq!(redact("(chart 88123): rash", &[]), "(chart [MEDICAL_RECORD]): rash");
}
