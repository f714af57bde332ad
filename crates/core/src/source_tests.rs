use proptest::prelude::*;

use super::*;

fn parsed(source: &str) -> (&'static str, Option<String>) {
    let reading = read(source);
    (reading.source_type.code(), reading.entity)
}

fn external_from(source: &str) -> Option<String> {
    let (source_type, entity) = parsed(source);
    assert_eq!(source_type, "external", "{source}");
    entity
}

#[test]
fn the_reporter_is_named_in_both_languages() {
    for source in [
        "told by Claire",
        "Told by Claire.",
        "told to me by Claire",
        "Claire told me this",
        "Claire said so",
        "what Claire told us yesterday",
        "heard from Claire on Monday",
        "heard Claire say it",
        "according to Claire",
        "said by Claire during the session",
        "as told by Claire, in the garden",
        "Claire shared this",
        "me contó Claire",
        "me lo dijo Claire ayer",
        "Claire me contó que no duerme",
        "según Claire",
        "dicho por Claire en la sesión",
        "de acuerdo con Claire",
    ] {
        assert_eq!(external_from(source).as_deref(), Some("claire"), "{source}");
    }
}

#[test]
fn names_retain_accents_titles_and_kinship() {
    assert_eq!(external_from("according to Dr. Pérez").as_deref(), Some("dr. pérez"));
    assert_eq!(external_from("told by my sister").as_deref(), Some("sister"));
    assert_eq!(external_from("según su madre").as_deref(), Some("madre"));
    assert_eq!(external_from("según la hermana de Ana").as_deref(), Some("hermana de ana"));
    assert_eq!(external_from("told by emergentclaire@gmail.com").as_deref(), Some("emergentclaire@gmail.com"));
    let reading = read("told by Claire (emergentclaire@gmail.com)");
    assert_eq!(reading.entity.as_deref(), Some("claire"));
    assert_eq!(reading.entity_ref.as_deref(), Some("emergentclaire@gmail.com"));
}

#[test]
fn a_pronoun_names_no_one() {
    for source in
        ["I was told", "he said", "I heard it somewhere", "told by someone", "me dijeron", "heard in the hallway"]
    {
        assert_eq!(external_from(source), None, "{source}");
    }
}

#[test]
fn parts_of_words_and_ones_own_words_are_not_hearsay() {
    for source in
        ["untold grief", "aforesaid", "unheard of", "stolid", "a trip to Port Said", "I said no", "hearing aid"]
    {
        assert_eq!(parsed(source), ("direct_experience", None), "{source}");
    }
}

#[test]
fn standing_orders_and_body_sounds_are_no_persons_words() {
    for source in [
        "paracetamol según pauta",
        "analgesia según necesidad",
        "dose according to the protocol",
        "systolic murmur heard at the apex",
        "breath sounds heard bilaterally",
        "oído derecho con otitis",
        "50 mg per day",
    ] {
        assert_eq!(parsed(source), ("direct_experience", None), "{source}");
    }
}

#[test]
fn consolidation_is_an_act_and_not_a_lung() {
    for source in [
        "consolidation",
        "nightly consolidation",
        "Consolidation Session (2026-02-01)",
        "consolidated from three episodes",
        "during memory consolidation",
        "consolidación nocturna",
        "consolidación",
        "memoria consolidada",
    ] {
        assert_eq!(parsed(source).0, "consolidation", "{source}");
    }
    for source in [
        "left lower lobe consolidation",
        "consolidation on chest x-ray",
        "alveolar consolidation persists",
        "consolidación en lóbulo inferior derecho",
        "consolidación de la fractura",
        "quimioterapia de consolidación",
        "consolidation chemotherapy",
        "patchy consolidation",
        "consolidation seen again in April",
    ] {
        assert_eq!(parsed(source).0, "direct_experience", "{source}");
    }
}

#[test]
fn seeds_are_beliefs_and_not_implants_or_food() {
    for source in
        ["seed", "seed beliefs", "Seed beliefs from roundtable", "seeded", "creencias semilla", "seed data import"]
    {
        assert_eq!(parsed(source).0, "seed", "{source}");
    }
    for source in [
        "brachytherapy seed",
        "prostate seed implant",
        "sesame seed allergy",
        "semillas de sésamo",
        "poppy seeds on bread",
        "alergia a semillas de girasol",
        "seedling",
        "tumor seeding",
    ] {
        assert_eq!(parsed(source).0, "direct_experience", "{source}");
    }
}

#[test]
fn inferences_and_observations_are_distinguished_from_their_homonyms() {
    assert_eq!(parsed("inferred from three notes").0, "inference");
    assert_eq!(parsed("inferencia del modelo").0, "inference");
    assert_eq!(parsed("inferior infarct").0, "direct_experience");
    assert_eq!(parsed("Read this in documentation").0, "observation");
    assert_eq!(parsed("según la documentación").0, "observation");
    assert_eq!(parsed("observation").0, "observation");
    assert_eq!(parsed("kept under observation overnight").0, "direct_experience");
}

#[test]
fn nothing_recorded_is_unknown_and_the_default_is_ones_own_experience() {
    for source in ["", "  ", "unknown", "desconocido", "—"] {
        assert_eq!(parsed(source).0, "unknown", "{source:?}");
    }
    for source in ["cli-promote", "raw-processing", "session notes", "mi experiencia"] {
        assert_eq!(parsed(source).0, "direct_experience", "{source}");
    }
}

#[test]
fn hearsay_about_a_consolidation_is_hearsay() {
    assert_eq!(external_from("Claire said the consolidation was done").as_deref(), Some("claire"));
}

proptest! {
    #[test]
    fn no_text_panics_and_only_hearsay_names_a_person(source in "\\PC{0,60}") {
        let reading = read(&source);
        prop_assert!(reading.entity.is_none() || reading.source_type == SourceType::External);
    }

    #[test]
    fn the_name_after_reported_by_is_found(name in "[A-Z][b-z]{2,8}") {
        prop_assume!(!BREAKS.contains(&name.to_lowercase().as_str()) && !NOBODY.contains(&name.to_lowercase().as_str()));
        prop_assume!(!ARTICLES.contains(&name.to_lowercase().as_str()) && !DOCUMENTS.contains(&name.to_lowercase().as_str()));
        prop_assume!(!STANDING_ORDERS.contains(&name.to_lowercase().as_str()));
        let entity = read(&format!("told by {name}")).entity;
        prop_assert_eq!(entity, Some(name.to_lowercase()));
    }
}
