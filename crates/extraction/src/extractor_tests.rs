//! Whole documents in both languages, and what must hold for any input.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::{CurrentValues, EntityType, Experiencer};
use super::*;
use anamnesis_core::document::DocumentType;
use anamnesis_text::{Document, Language, Speaker};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn dialogue(turns: &[(Speaker, &str)]) -> Document {
    Document::dialogue(turns.iter().map(|(who, words)| (*who, *words, None)), Language::Unknown)
}

/// One line per finding, readable in a review.
fn shown(document: &Document) -> Vec<String> {
    let found = EXTRACTOR.extract(&ExtractionInput::new(document));
    let mut out: Vec<String> = found
        .entities
        .iter()
        .map(|entity| {
            let flags = [(entity.context.negated, "negated"), (entity.context.uncertain, "uncertain")];
            let flags: Vec<&str> = flags.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
            let details = [&entity.status, &entity.dose, &entity.route, &entity.frequency, &entity.severity];
            let details: Vec<&str> = details.into_iter().flatten().map(String::as_str).collect();
            format!(
                "{} {} «{}» {} {} {} {flags:?} {details:?}",
                entity.kind.code(),
                entity.value,
                entity.span.slice(&document.text),
                entity.epistemic.code(),
                entity.context.temporality.code(),
                entity.context.experiencer.code()
            )
        })
        .collect();
    let values = CurrentValues::from_entities(&document.text, &found.entities);
    out.push(format!("values: allergies {:?}, medications {:?}", values.allergies, values.medications));
    out.extend(
        found.statements.iter().map(|s| format!("statement {} «{}»", s.kind.code(), s.span.slice(&document.text))),
    );
    out.extend(
        found
            .risk
            .iter()
            .map(|r| format!("risk {} «{}» denied {}", r.class.code(), r.span.slice(&document.text), r.denied)),
    );
    out.extend(
        found
            .hypotheses
            .iter()
            .map(|h| format!("hypothesis {} {:.1} «{}»", h.text, h.confidence, h.evidence.slice(&document.text))),
    );
    out.push(format!("themes {:?}, sentiment {}", found.themes, found.sentiment.code()));
    out
}

#[test]
fn the_serialized_phrase_trie_matches_the_lexicons() {
    let serialized = Extractor::over(TrieBuilder::default()).1.serialize();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lexicon/phrases.bin");
    if std::env::var_os("ANAMNESIS_UPDATE_DOCS").is_some() {
        return std::fs::write(&path, &serialized).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == serialized, "phrases.bin is out of date: run `make docs`");
    assert!(Extractor::from_serialized_trie(&LexiconExtension::default()).is_some(), "the printed book is taken");
    // Of other phrases it is none.
    let mut other = Extractor::over(TrieBuilder::serialized().unwrap()).1;
    other.note("another phrase", 0);
    assert!(other.verified().is_none());
}

#[test]
fn the_printed_book_finds_what_written_out_phrases_find() {
    let none = LexiconExtension::default();
    let (serialized, written) = (Extractor::from_serialized_trie(&none).unwrap(), Extractor::written_out(&none));
    for set in ["risk.jsonl", "facts.jsonl", "tone.jsonl", "therapy_negation.jsonl"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/extraction").join(set);
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let document = Document::plain(row["text"].as_str().unwrap(), Language::Unknown);
            let input = ExtractionInput::new(&document);
            assert_eq!(serialized.extract(&input), written.extract(&input), "{set}");
        }
    }
}

fn goals(text: &str) -> Vec<String> {
    let document = dialogue(&[(Speaker::Patient, text)]);
    let wished = [EntityType::Goal, EntityType::Preference];
    let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    found.into_iter().filter(|entity| wished.contains(&entity.kind)).map(|entity| entity.value).collect()
}

#[test]
fn a_wish_to_die_or_a_thought_is_no_goal_and_a_plan_is_one() {
    for text in [
        "Pienso que soy una carga para todos.",
        "Quiero quitarme la vida.",
        "I plan to kill myself on Sunday.",
        "Voy a empezar a juntar pastillas para matarme.",
    ] {
        assert_eq!(goals(text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "Quiero volver a estudiar.",
        "Me gustaría mejorar.",
        "Pienso retomar la natación.",
        "I plan to go back to school.",
    ] {
        assert_eq!(goals(text).len(), 1, "{text}");
    }
}

#[test]
fn a_spanish_session_is_read() {
    use Speaker::{Clinician as C, Patient as P};
    insta::assert_json_snapshot!(shown(&dialogue(&[
        (C, "Hola, ¿cómo ha dormido estas semanas?"),
        (P, "Fatal, no puedo dormir y tengo mucha ansiedad. Lloro todos los días desde que murió mi padre."),
        (C, "¿Toma alguna medicación?"),
        (P, "Sí, tomo sertralina 50 mg cada mañana. Perdón, 100 mg. El lorazepam lo dejé hace un mes."),
        (C, "¿Es alérgica a algún medicamento?"),
        (P, "A la penicilina, me salieron ronchas. El ibuprofeno me sienta mal al estómago."),
        (C, "¿Ha pensado en hacerse daño?"),
        (P, "No, eso no. Pero siempre lo arruino todo, soy un fracaso."),
        (C, "Mi impresión es un episodio depresivo moderado. Le voy a recetar mirtazapina 15 mg por la noche."),
    ])));
}

#[test]
fn an_english_session_is_read() {
    use Speaker::{Agent as A, Clinician as C, Family as F, Patient as P};
    insta::assert_json_snapshot!(shown(&dialogue(&[
        (A, "Reminder: you are allergic to latex."),
        (C, "Any allergies?"),
        (P, "Um, not that I know of."),
        (C, "Are you still taking Zoloft?"),
        (P, "Yes, fifty milligrams once a day."),
        (C, "Any chest pain or palpitations?"),
        (P, "No. My mother has depression, though, and I used to take Prozac."),
        (F, "She has been having panic attacks at work."),
        (P, "I wish I was dead sometimes. Nobody cares about me."),
    ])));
}

#[test]
fn an_analysis_is_inference_and_an_agent_is_never_input() {
    let document = Document::plain("The patient has generalized anxiety disorder.", Language::English);
    let input = ExtractionInput { document_type: Some(DocumentType::Analysis), ..ExtractionInput::new(&document) };
    assert!(
        EXTRACTOR.extract(&input).entities.iter().all(|entity| entity.epistemic == super::super::Epistemic::Inferred)
    );
    let agent =
        dialogue(&[(Speaker::Agent, "You have depression, take sertraline 50 mg, you are allergic to penicillin.")]);
    assert!(EXTRACTOR.extract(&ExtractionInput::new(&agent)).entities.is_empty());
}

#[test]
fn a_question_alone_says_nothing() {
    let document = dialogue(&[(Speaker::Clinician, "¿Tiene fiebre? ¿Ha pensado en suicidarse? ¿Toma litio?")]);
    let found = EXTRACTOR.extract(&ExtractionInput::new(&document));
    assert!(found.entities.is_empty() && found.risk.is_empty() && found.statements.is_empty());
}

#[test]
fn the_version_is_of_every_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lexicon");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let lists: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "tsv")).collect();
    assert!(lists.len() > 20);
    for path in lists {
        let list = std::fs::read_to_string(&path).unwrap();
        assert!(files().contains(&list.as_str()), "{} changes what is found and not the version", path.display());
    }
}

#[test]
fn the_version_names_rules_and_lexicon() {
    assert!(EXTRACTOR.version().starts_with("2.") && EXTRACTOR.version().len() == 14);
}

#[test]
fn another_persons_allergy_and_a_denied_one_are_not_current() {
    for text in [
        "Mi hermana es alérgica a la penicilina.",
        "No es alérgico a la penicilina.",
        "If she becomes allergic to latex, call.",
    ] {
        let document = Document::plain(text, Language::Unknown);
        let found = EXTRACTOR.extract(&ExtractionInput::new(&document));
        assert!(CurrentValues::from_entities(text, &found.entities).allergies.is_empty(), "{text}");
        assert!(found.statements.is_empty(), "{text}");
    }
}

/// What a patient says in one turn: `experiencer value` of every condition, symptom, medicine and allergy.
fn whose(said: &str) -> Vec<String> {
    let document = dialogue(&[(Speaker::Patient, said)]);
    let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities.into_iter();
    let clinical = found.filter(|entity| entity.kind != EntityType::Relationship && entity.kind != EntityType::Event);
    clinical.map(|entity| format!("{} {}", entity.context.experiencer.code(), entity.value)).collect()
}

#[test]
fn a_relative_stays_the_subject_until_the_speaker_comes_back_to_themselves() {
    for (said, expected) in [
        (
            "My brother [PERSON_9904] is bipolar, he's on lithium. I have asthma.",
            "family bipolar disorder, family lithium, patient asthma",
        ),
        (
            "My brother Joel is bipolar. He takes lithium and quetiapine. I take sertraline.",
            "family bipolar disorder, family lithium, family quetiapine, patient sertraline",
        ),
        (
            "Mi madre tiene diabetes, se pincha insulina desde hace un año. Yo tengo asma.",
            "family diabetes mellitus, family insulin, patient asthma",
        ),
        (
            "Mi hermana María tomaba paroxetina y le diagnosticaron trastorno bipolar. Yo tomo sertralina.",
            "family paroxetine, family bipolar disorder, patient sertraline",
        ),
        (
            "Mi padre tiene asma. Toma litio también. A mí me recetaron mirtazapina.",
            "family asthma, family lithium, patient mirtazapine",
        ),
        ("My wife takes metoprolol. And I take lisinopril.", "other metoprolol, patient lisinopril"),
        ("Vivo con mi madre y tengo insomnio.", "patient insomnia"),
        ("He tomado paroxetina y he tenido insomnio.", "patient paroxetine, patient insomnia"),
        ("My sister thinks it's depression, but I just have insomnia.", "patient depression, patient insomnia"),
    ] {
        assert_eq!(whose(said).join(", "), expected, "{said}");
    }
}

#[test]
fn a_pronoun_that_answers_a_question_about_a_relative_is_the_relative() {
    use Speaker::{Clinician as C, Patient as P};
    let document = dialogue(&[(C, "Does your brother take lithium?"), (P, "Yes. He has bipolar disorder.")]);
    let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    assert!(found.iter().all(|entity| entity.context.experiencer == Experiencer::Family), "{found:?}");
    assert_eq!(found.len(), 2);
}

#[test]
fn what_an_allergen_did_and_what_a_laboratory_measured_is_neither_illness_nor_medicine() {
    for text in [
        "Alergias: penicilina (urticaria generalizada).",
        "Allergies: sulfa antibiotics (hives and facial swelling, 2011).",
    ] {
        let document = Document::plain(text, Language::Unknown);
        let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
        assert!(found.iter().all(|entity| entity.kind == EntityType::Allergy) && found.len() == 1, "{found:?}");
    }
    let document = Document::plain("Insuficiencia leve de vitamina D. Vitamina D 24 ng/mL.", Language::Unknown);
    let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    assert!(found.iter().all(|entity| entity.kind == EntityType::Measurement) && found.len() == 1, "{found:?}");
}

#[test]
fn thousands_after_a_space_are_one_value_and_two_adjacent_values_are_not() {
    for (text, value) in [
        ("NT-proBNP 3\u{202f}420 pg/mL", "3420"),
        ("Plaquetas 94\u{a0}000/µL", "94000"),
        ("Platelets 150 000", "150000"),
        ("Ferritin 1 340 ng/mL", "1340"),
        ("Glucose 95 110 120", "95"),
        ("FC 72 120/80", "72"),
        ("NEWS2 6 110/70", "6"),
        ("K 4 120/80", "4"),
        ("Carga viral 1 200 000 copias/mL", "1200000"),
        ("Ferritina 1 340,5 ng/mL", "1340.5"),
    ] {
        let document = Document::plain(text, Language::Unknown);
        let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
        let measured = found.iter().find_map(|entity| entity.measured.as_ref()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(measured.value, value, "{text}");
    }
}

#[test]
fn a_number_answers_for_a_dose_only_where_a_dose_was_asked() {
    use Speaker::{Clinician as C, Patient as P};
    for (said, asked, answer, dose) in [
        ("Sigo con el escitalopram de diez.", "¿Alguna crisis desde marzo?", "Una, chiquita.", Some("10 mg")),
        ("Me subieron el escitalopram a 10 mg.", "¿Cuántas crisis?", "Una en dos meses.", Some("10 mg")),
        ("I take fluoxetine, 20 milligrams.", "How many attacks?", "Two this week.", Some("20 mg")),
        ("Tomo escitalopram.", "¿Y hijos tiene?", "Dos.", None),
        ("Tomo escitalopram.", "¿De cuánto?", "De diez.", Some("10 mg")),
        ("I take fluoxetine.", "How much?", "Twenty.", Some("20 mg")),
    ] {
        let document = dialogue(&[(P, said), (C, asked), (P, answer)]);
        let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
        let medicine = found.iter().find(|entity| entity.kind == EntityType::Medication).unwrap();
        assert_eq!(medicine.dose.as_deref(), dose, "{said} {asked} {answer}");
    }
}

#[test]
fn nothing_for_sleep_is_not_no_medicines_and_monthly_sessions_are_no_dosage() {
    use Speaker::{Clinician as C, Patient as P};
    let asked = |question, answer| {
        let document = dialogue(&[(C, question), (P, answer)]);
        EXTRACTOR.extract(&ExtractionInput::new(&document)).statements.len()
    };
    assert_eq!(asked("¿Toma algo para dormir?", "No, nada."), 0);
    assert_eq!(asked("¿Toma alguna medicación?", "No, nada."), 1);
    let document = dialogue(&[
        (P, "Tomo sertralina de 100 por la mañana."),
        (C, "Podemos espaciar las sesiones a una vez al mes. ¿Le parece?"),
        (P, "Vale."),
    ]);
    let found = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    assert_eq!(found[0].frequency.as_deref(), Some("1/day in the morning"));
}

#[test]
fn statements_of_no_allergies_or_no_medicines_are_found_in_notes() {
    for (text, kinds) in [
        ("No soy alérgico a nada que yo sepa. No tomo medicación.", vec!["no_known_allergies", "no_medications"]),
        (
            "ALERGIAS: Sin alergias medicamentosas conocidas.\nTRATAMIENTO: Ninguno",
            vec!["no_known_allergies", "no_medications"],
        ),
        ("NKDA. I'm not taking any medications.", vec!["no_known_allergies", "no_medications"]),
        ("Alergias: penicilina. Toma litio.", vec![]),
    ] {
        let document = Document::plain(text, Language::Unknown);
        let found = EXTRACTOR.extract(&ExtractionInput::new(&document));
        let found_kinds: Vec<&str> = found.statements.iter().map(|statement| statement.kind.code()).collect();
        assert_eq!(found_kinds, kinds, "{text}");
    }
}

#[test]
fn current_medicines_are_distinguished_from_stopped_ones() {
    for (text, taken) in [
        ("Me recetaron Rivotril pero no lo tomo.", vec![]),
        ("She stopped taking Prozac two weeks ago.", vec![]),
        ("Ya no tomo fluoxetina, ahora me pusieron escitalopram 10 mg.", vec!["escitalopram"]),
        (
            "Medicación habitual: sertralina 100 mg/24h, lorazepam 1 mg si precisa.",
            vec!["sertralina (sertraline)", "lorazepam"],
        ),
        ("Previously on lithium 300 mg BID; switched to lamotrigine 25 mg daily.", vec!["lamotrigine"]),
    ] {
        let document = Document::plain(text, Language::Unknown);
        let found = EXTRACTOR.extract(&ExtractionInput::new(&document));
        assert_eq!(CurrentValues::from_entities(text, &found.entities).medications, taken, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_finding_is_literally_there(words in proptest::collection::vec(prop_oneof![
        "\\PC{0,6}", Just("alérgico a".to_owned()), Just("penicilina".to_owned()), Just("no".to_owned()), Just("sertralina 50 mg c/8h".to_owned()),
        Just("me quiero matar".to_owned()), Just("mi madre".to_owned()), Just("prefiero".to_owned()), Just(".".to_owned()), Just("?\n".to_owned()), Just("depresión".to_owned()),
    ], 0..40), split in 0usize..40) {
        let (a, b) = words.split_at(split.min(words.len()));
        let (a, b) = (a.join(" "), b.join(" "));
        let document = dialogue(&[(Speaker::Clinician, &a), (Speaker::Patient, &b)]);
        let found = EXTRACTOR.extract(&ExtractionInput::new(&document));
        for entity in &found.entities {
            prop_assert!(entity.is_grounded(&document.text));
            prop_assert!(entity.kind != EntityType::Medication || !entity.value.is_empty());
        }
        let spans = found.risk.iter().map(|r| r.span).chain(found.hypotheses.iter().map(|h| h.evidence)).chain(found.statements.iter().map(|s| s.span));
        for span in spans {
            prop_assert!(document.text.get(span.start..span.end).is_some_and(|t| !t.is_empty()));
        }
    }
}
