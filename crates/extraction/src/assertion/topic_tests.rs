//! The person of whom a passage goes on to speak: over clauses, sentences and turns, in both languages.

use std::sync::LazyLock;

use crate::{EntityType, Experiencer, ExtractionInput, Extractor, MentionContext};
use anamnesis_text::{Document, Language, Speaker};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn all_of(document: &Document, value: &str) -> Vec<MentionContext> {
    let all = EXTRACTOR.extract(&ExtractionInput::new(document)).entities;
    let is = |kind| !matches!(kind, EntityType::Relationship | EntityType::Event);
    let found: Vec<MentionContext> =
        all.iter().filter(|entity| is(entity.kind) && entity.value == value).map(|entity| entity.context).collect();
    assert!(!found.is_empty(), "{value}: {}: {all:?}", document.text);
    found
}

fn in_note(text: &str, value: &str) -> MentionContext {
    all_of(&Document::plain(text, Language::Unknown), value)[0]
}

fn talk(turns: &[(Speaker, &str)], value: &str) -> MentionContext {
    let turns = turns.iter().map(|(speaker, text)| (*speaker, *text, None));
    all_of(&Document::dialogue(turns, Language::Unknown), value)[0]
}

fn said(text: &str, value: &str) -> MentionContext {
    talk(&[(Speaker::Patient, text)], value)
}

#[test]
fn a_person_after_is_has_the_illness_before_it() {
    for (text, value) in [
        ("Piel: la celíaca es la madre. Come de todo.", "celiac disease"),
        ("Corrijo: el epiléptico es su hermano, no él.", "epilepsy"),
        ("The diabetic one is her sister. Weight stable.", "diabetes mellitus"),
        ("Epilepsy is her brother, not her.", "epilepsy"),
        ("El que tiene asma es su hermano.", "asthma"),
        ("Aviso: el de la 9 es el alérgico al yodo.", "iodine"),
        ("Losartán 50 mg – es de mi tía (lo anoté por error).", "losartan"),
        ("Quetiapina 100 mg (es de su marido).", "quetiapine"),
    ] {
        assert_ne!(in_note(text, value).experiencer, Experiencer::Patient, "{text}");
    }
    for (text, value) in [
        ("Su ansiedad es su hijo, dice.", "anxiety"),
        ("Lo que le da ansiedad es su madre.", "anxiety"),
        ("La cuidadora es su hija. Tiene asma.", "asthma"),
        ("Her main carer is her daughter. Asthma since 2010.", "asthma"),
    ] {
        assert_eq!(in_note(text, value).experiencer, Experiencer::Patient, "{text}");
    }
}

#[test]
fn a_name_an_age_or_a_bracket_does_not_separate_a_relative_from_their_illness() {
    for (text, value) in [
        ("Hermano de 9 años, Bruno, asmático.", "asthma"),
        ("Una hermana de Lucía, bipolar, vive fuera.", "bipolar disorder"),
        ("Madre con depresión, medicada con fluoxetina.", "fluoxetine"),
        ("Sister: she's got asthma and smokes.", "asthma"),
        ("Not epileptic (her cousin is, lost his licence; epilepsy since 2001).", "epilepsy"),
        ("Le habla el de la cama 12 (el señor que se cayó anoche).", "fall"),
    ] {
        let found = all_of(&Document::plain(text, Language::Unknown), value);
        assert!(found.iter().any(|context| context.experiencer != Experiencer::Patient || context.negated), "{text}");
    }
    for (text, value) in [
        ("Acude con su madre (refiere insomnio).", "insomnia"),
        ("Madre: viene preocupada. Insomnio desde mayo.", "insomnia"),
        ("Attends with sister (reports insomnia).", "insomnia"),
    ] {
        assert_eq!(in_note(text, value).experiencer, Experiencer::Patient, "{text}");
    }
}

#[test]
fn a_pronoun_of_the_other_gender_is_the_relative_of_whom_a_note_spoke() {
    let text = "Seen at home; he was calm, his mood low. His wife was present. She has epilepsy.";
    assert_eq!(in_note(text, "epilepsy").experiencer, Experiencer::Other);
    for (text, value) in [
        (
            "El paciente vive solo. Una hija, Inés, en Lugo; ella está en tratamiento por bulimia y él se culpa.",
            "bulimia nervosa",
        ),
        ("He lives alone and his sleep is poor. His daughter visits. She herself takes sertraline.", "sertraline"),
    ] {
        assert_eq!(in_note(text, value).experiencer, Experiencer::Family, "{text}");
    }
    for (text, value) in [
        ("She came with her mother. She has epilepsy and her sleep is poor.", "epilepsy"),
        ("La paciente viene con su marido. Ella toma sertralina.", "sertraline"),
        ("He was calm. Dr Hall reviewed him; she started lithium.", "lithium"),
        ("He came with his wife. He takes lithium.", "lithium"),
    ] {
        assert_eq!(in_note(text, value).experiencer, Experiencer::Patient, "{text}");
    }
}

#[test]
fn a_stressed_pronoun_that_may_be_either_leaves_the_reading_in_doubt() {
    let text = "She sleeps badly, her mood is low. Her sister helps. She herself takes fluoxetine.";
    assert!(in_note(text, "fluoxetine").uncertain);
}

#[test]
fn in_speech_a_relative_stays_the_subject_over_the_next_sentences() {
    for (text, value) in [
        ("La que me preocupa es mi hermana, Alba, que no sale. Es asmática y fuma.", "asthma"),
        ("Eso es mi primo. El si es bipolar de verdad.", "bipolar disorder"),
        ("Saco a pasear a mi abuelo. Tiene alzhéimer y se pierde.", "alzheimer's disease"),
        ("Mi padre fumaba y nunca le pasó nada. Bueno, cirrosis, pero de viejo.", "cirrhosis"),
        ("Our Kevin's been poorly, he's had a stroke.", "stroke"),
    ] {
        assert_ne!(said(text, value).experiencer, Experiencer::Patient, "{text}");
    }
    for (text, value) in [
        ("Esa es mi madre. Yo tengo asma.", "asthma"),
        ("Vivo con mi abuela. Tengo asma.", "asthma"),
        ("Mi padre bebía. Bueno, yo tengo cirrosis.", "cirrhosis"),
        ("Vine con mi hermano. Estoy con ansiedad.", "anxiety"),
    ] {
        assert_eq!(said(text, value).experiencer, Experiencer::Patient, "{text}");
    }
}

#[test]
fn an_answer_about_another_is_not_of_the_speaker() {
    let ask = (Speaker::Clinician, "¿Él estaba enfadado al irse?");
    assert_eq!(talk(&[ask, (Speaker::Patient, "No, lloraba.")], "crying spells").experiencer, Experiencer::Other);
    let ask = (Speaker::Clinician, "¿Ella te ha visto estos días?");
    assert_eq!(
        talk(&[ask, (Speaker::Patient, "No, lloraba sola en casa.")], "crying spells").experiencer,
        Experiencer::Patient
    );
}
