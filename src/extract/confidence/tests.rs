use super::*;
use crate::extract::{ExtractionInput, Extractor};
use crate::text::{Document, Language};

#[test]
fn every_line_of_the_shipped_weights_is_read() {
    let lines = BUILTIN.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(ConfidenceModel::builtin().weights.len(), lines, "a line without a tab, without a number or twice");
    assert!(ConfidenceModel::builtin().weights.values().all(|weight| weight.is_finite()));
}

#[test]
fn without_weights_the_rules_own_estimate_holds_and_with_them_it_is_a_probability() {
    let document = Document::plain("Takes sertraline 50 mg daily. Denies asthma.", Language::English);
    let input = ExtractionInput::of(&document);
    let read = |model: ConfidenceModel| Extractor::builtin().assessing(model).extract(&input).entities;
    let by_rules = read(ConfidenceModel::default());
    assert!(by_rules.iter().any(|e| e.confidence == 0.9), "{by_rules:?}");
    let doubted = read(ConfidenceModel::parse("bias\t0.0\nmedication\t-1.0\ncondition negated=true\t2.0\n"));
    let of = |value: &str| doubted.iter().find(|e| e.value == value).map(|e| e.confidence).unwrap();
    assert!((of("sertraline") - 1.0 / (1.0 + 1f64.exp())).abs() < 1e-9);
    assert!((of("asthma") - 1.0 / (1.0 + (-2f64).exp())).abs() < 1e-9);
    let extreme = read(ConfidenceModel::parse("bias\t90\n"));
    assert!(extreme.iter().all(|e| e.confidence == RANGE.1), "nothing read from free text is certain");
}

#[test]
fn an_allergy_is_remembered_however_doubtfully_it_was_read() {
    let document = Document::plain("Allergic to penicillin. Has asthma.", Language::English);
    let mut entities = Extractor::builtin().extract(&ExtractionInput::of(&document)).entities;
    entities.iter_mut().for_each(|entity| entity.confidence = 0.02);
    let kept: Vec<&str> = entities.iter().filter(|e| is_worth_remembering(e, 0.3)).map(|e| e.value.as_str()).collect();
    assert_eq!(kept, ["penicillin"]);
}
