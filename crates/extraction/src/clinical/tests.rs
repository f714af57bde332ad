use crate::{EntityType, Experiencer, ExtractionInput, Extractor, Temporality};
use anamnesis_text::{Document, Language, Speaker};

/// Findings and how they are meant: "-" denied, "?" doubtful, "<" past, "@" of another person.
fn read(document: &Document) -> Vec<String> {
    let found = Extractor::shared().extract(&ExtractionInput::new(document)).entities;
    let findings = found.into_iter().filter(|e| matches!(e.kind, EntityType::Condition | EntityType::Symptom));
    let sign = |holds: bool, sign: &'static str| if holds { sign } else { "" };
    let shown = |e: crate::Entity| {
        let context = e.context;
        let past = context.temporality == Temporality::Historical;
        let other = context.experiencer != Experiencer::Patient;
        let signs = [sign(context.negated, "-"), sign(context.uncertain, "?"), sign(past, "<"), sign(other, "@")];
        format!("{}{}", signs.concat(), e.value)
    };
    findings.map(shown).collect()
}

fn en(text: &str) -> Vec<String> {
    read(&Document::plain(text, Language::English))
}

fn es(text: &str) -> Vec<String> {
    read(&Document::plain(text, Language::Spanish))
}

fn asked(question: &str, answer: &str, language: Language) -> Vec<String> {
    read(&Document::dialogue([(Speaker::Clinician, question, None), (Speaker::Patient, answer, None)], language))
}

#[test]
fn a_bracket_belongs_to_its_item_alone() {
    assert_eq!(en("Gout, psoriasis, childhood eczema (resolved)."), ["gout", "psoriasis", "<eczema"]);
}

#[test]
fn both_resolved_is_said_of_the_last_two_before_it() {
    assert_eq!(en("Hypertension, asthma and eczema (both resolved)."), ["hypertension", "<asthma", "<eczema"]);
    assert_eq!(en("Asthma, eczema (both resolved), hypertension."), ["<asthma", "<eczema", "hypertension"]);
    assert_eq!(es("Gota, asma y eccema (ambos resueltos)."), ["gout", "<asthma", "<eczema"]);
    assert_eq!(es("Gota, asma, eccema (ambas resueltas)."), ["gout", "<asthma", "<eczema"]);
}

#[test]
fn a_value_denies_the_finding_of_its_test_its_stroke_and_its_year() {
    assert_eq!(
        en("RSV/flu neg. Coeliac screen negative."),
        ["-respiratory syncytial virus infection", "-influenza", "-celiac disease"]
    );
    assert_eq!(es("VIH neg 2021. HTA (-) asma (-)"), ["-hiv infection", "-hypertension", "-asthma"]);
    assert_eq!(es("Chagas y sífilis negativos."), ["-chagas disease", "-syphilis"]);
}

#[test]
fn a_short_neg_before_a_list_denies_all_of_it() {
    assert_eq!(en("Neg CP, SOB, abd pain."), ["-chest pain", "-shortness of breath", "-abdominal pain"]);
    assert_eq!(es("Loquios normales, s/ fiebre, s/ mastitis."), ["-fever", "-mastitis"]);
}

#[test]
fn an_abbreviation_means_what_its_neighbours_are() {
    assert_eq!(en("C/o CP and palpitations."), ["chest pain", "palpitations"]);
    assert_eq!(en("PMH: CP, epilepsy.")[0], "<cerebral palsy");
}

#[test]
fn words_that_deny_in_themselves_deny_nothing_next_to_them() {
    assert_eq!(es("Lleva una semana de no dormir, soliloquios y palpitaciones.").last().unwrap(), "palpitations");
    assert!(!es("Refiere no dormir, soliloquios.").iter().any(|finding| finding.starts_with('-')));
}

#[test]
fn what_is_to_be_ruled_out_is_doubtful_and_what_was_is_denied() {
    assert_eq!(es("Plan: D/C neumonía."), ["?pneumonia"]);
    assert_eq!(en("Asthma query, spirometry next month."), ["?asthma"]);
    assert_eq!(es("PE descartada."), ["-preeclampsia"]);
    assert_eq!(en("Lupus suspected in 2015 and never borne out."), ["-<lupus"]);
}

#[test]
fn a_box_is_read_by_the_gaps_of_its_line_and_by_the_words_next_to_it() {
    assert_eq!(
        en("HISTORY   [x] Gout, no tablets   [ ] HIV (neg 4/25)   [x] migraine   [ ] DM   [ ] asthma"),
        ["gout", "-hiv infection", "migraine"]
    );
    assert_eq!(en("PSYCH  Depression ☒  Bipolar ☐ (once, ruled out)  ADHD ☐"), ["depression", "-bipolar disorder"]);
    assert_eq!(en("Little interest in things  [ ] not at all  [x] several days  [ ] most days"), ["anhedonia"]);
    assert_eq!(en("Little interest in things  [x] not at all  [ ] several days  [ ] most days"), ["-anhedonia"]);
}

#[test]
fn a_numbered_question_of_a_form_ends_the_section_before_it() {
    assert_eq!(
        en("3. Family: asthma\n4. Medication (incl. others): Pill stopped, migraines."),
        ["@asthma", "migraine"]
    );
}

#[test]
fn another_person_to_whom_it_happened_is_not_the_patient() {
    assert_eq!(asked("¿Y su suegra?", "Le dio un derrame en la cocina.", Language::Spanish), ["@stroke"]);
}

#[test]
fn a_question_without_its_sign_is_answered_like_one_with() {
    assert_eq!(asked("Any cough or fever", "No ma'am", Language::English), ["-cough", "-fever"]);
    assert_eq!(asked("Dolor de pecho o fiebre ha tenido", "Nada de eso no", Language::Spanish).len(), 2);
}

#[test]
fn a_baby_a_dry_cough_and_a_tetanus_shot_are_no_drinking() {
    let drinks = |text: &str| es(text).iter().chain(&en(text)).any(|finding| finding.contains("alcohol"));
    assert!(!drinks("De bebé lo operaron dos veces."));
    assert!(!drinks("TT aplicado. Dry cough. Sulfa drugs break me out."));
    assert!(en("Social: TT, never smoked.").iter().any(|finding| finding == "-alcohol use"));
}

#[test]
fn people_say_in_their_own_words_how_they_are() {
    for (text, name) in [
        ("Se me sale el corazón de la nada.", "palpitations"),
        ("Come como un pajarito.", "loss of appetite"),
        ("Otra vez moja la cama.", "enuresis"),
        ("Estoy bien bajoneada.", "low mood"),
        ("Guardia: suspicaz, sin insight.", "poor insight"),
        ("Tengo grietas en los pezones.", "breastfeeding difficulty"),
    ] {
        assert!(es(text).iter().any(|finding| finding == name), "{text}: {:?}", es(text));
    }
    for (text, name) in [
        ("I get the zaps when I run out.", "withdrawal symptoms"),
        ("She eats like a sparrow.", "loss of appetite"),
        ("He wets the bed again.", "enuresis"),
        ("My heart starts racing on the bus.", "palpitations"),
        ("Mood is flat.", "low mood"),
    ] {
        assert!(en(text).iter().any(|finding| finding == name), "{text}: {:?}", en(text));
    }
    assert_eq!(en("Pupils sluggish. No worries. Guarded prognosis."), [""; 0]);
}
