//! A query is searched by the stems of both languages, under the patient's own key.

use proptest::prelude::*;

use std::collections::BTreeSet;

use super::*;
use crate::bm25;
use crate::fixture::{keys, scope};
use anamnesis_text::stems;

fn word_terms(keys: &PatientKeys, text: &str) -> BTreeSet<i64> {
    bm25::terms(&words(keys, text)).collect()
}

#[test]
fn a_question_finds_the_stems_of_both_languages() {
    let keys = keys();
    let terms = |text| word_terms(&keys, text);
    assert!(!terms("¿Qué pastillas toma?").is_disjoint(&terms("una pastilla")), "plural and singular");
    assert!(!terms("which medications does she take").is_disjoint(&terms("medication")));
    assert!(terms("¿insomnio?").is_subset(&terms("Insomnio y cansancio.")));
    assert!(!terms("está cansada").is_disjoint(&terms("cansados")), "by the rules of Spanish alone");
    assert!(stems("insomnio", Language::Spanish).iter().all(|stem| terms("insomnio").contains(&keys.term(stem))));
    assert!(terms("penicilina").is_disjoint(&terms("sertralina")));
    assert!(terms("¿?").is_empty() && terms("").is_empty());
}

#[test]
fn the_same_word_has_another_term_for_another_patient() {
    let other = PatientKeys::derive(scope(), &[8; 32]);
    assert!(word_terms(&keys(), "sertralina").is_disjoint(&word_terms(&other, "sertralina")));
}

#[test]
fn of_a_question_longer_than_a_page_the_first_page_is_looked_at() {
    assert_eq!(beginning("¿Duerme?"), "¿Duerme?");
    let long = "ñandú ".repeat(LONGEST);
    let page = beginning(&long);
    assert!(page.len() <= LONGEST && page.len() > LONGEST - 10 && page.ends_with("ñandú"), "no word is torn");
    assert_eq!(beginning(&"x".repeat(LONGEST + 1)), "", "what is no text is no question");
}

#[test]
fn a_prepared_query_of_nothing_searches_by_nothing() {
    let nothing = PreparedQuery::default();
    assert!(nothing.redacted.is_empty() && nothing.words.is_empty() && nothing.concepts.is_empty());
}

proptest! {
    #[test]
    fn more_words_never_lose_a_term_of_fewer(first in "[a-záéíóúñ]{5,12}", second in "[a-záéíóúñ]{5,12}") {
        let keys = keys();
        let both = word_terms(&keys, &format!("{first} {second}"));
        prop_assert!(word_terms(&keys, &first).is_subset(&both));
        prop_assert!(word_terms(&keys, &second).is_subset(&both));
    }
}
