//! The counting itself, on rows whose answers are known.

use super::*;

fn report(lines: &str) -> EvaluationReport {
    EvaluationReport::evaluate(lines.as_bytes(), &Extractor::builtin(), DataSplit::All).unwrap()
}

fn measure(report: &EvaluationReport, task: &str) -> TaskScore {
    report.measures().into_iter().find(|measure| measure.task == task).unwrap()
}

#[test]
fn right_extra_and_missing_are_distinguished() {
    let report = report(
        r#"{"id":"1","lang":"en","text":"No fever.","start":3,"end":8,"negated":true}
{"id":"2","lang":"en","text":"No fever.","start":3,"end":8,"negated":false}
{"id":"3","lang":"en","text":"He has fever.","start":7,"end":12,"negated":true}
nonsense"#,
    );
    let negated = measure(&report, "negated");
    assert_eq!((negated.right, negated.extra, negated.missing), (1, 1, 1));
    assert_eq!((report.rows, report.unread, report.ungrounded), (3, 1, 0));
    assert_eq!(report.misses.iter().map(|miss| miss.id.as_str()).collect::<Vec<_>>(), ["2", "3"]);
}

#[test]
fn what_must_and_must_not_come_out_is_counted() {
    let report = report(
        r#"{"id":"a","lang":"es","turns":[{"speaker":"clinician","text":"¿Es alérgico a la penicilina?"},{"speaker":"patient","text":"Sí."}],"must":[{"fact":"allergy","value":"penicillin"}],"must_not":[{"fact":"no_known_allergies"},{"fact":"allergy","value":"penicillin"}]}"#,
    );
    assert_eq!(measure(&report, "must come out").recall, 1.0);
    assert_eq!(measure(&report, "must not come out").recall, 0.5);
}

#[test]
fn the_halves_part_the_rows_and_leave_none_out() {
    let ids: Vec<String> = (0..200).map(|n| format!("row-{n}")).collect();
    let tuning = ids.iter().filter(|id| DataSplit::Tuning.holds(id)).count();
    assert!(ids.iter().all(|id| DataSplit::Tuning.holds(id) != DataSplit::HeldOut.holds(id)));
    assert!((60..140).contains(&tuning), "{tuning}");
}

/// The rows of a file of our own, of which every one must be answered rightly.
fn all_right(lines: &str) {
    let report = report(lines);
    assert_eq!((report.unread, report.ungrounded), (0, 0));
    assert!(report.misses.is_empty(), "{:#?}", report.misses);
}

#[test]
fn what_is_asked_taught_planned_or_read_out_is_no_fact_and_what_is_said_is() {
    all_right(include_str!("../../../../tests/data/extraction/unasserted.jsonl"));
}

/// The least F1 of every measure of a task on a set of our own.
fn holds(lines: &str, floors: &[(&str, &str, f64)]) {
    let measures = report(lines).measures();
    for (task, language, floor) in floors {
        let measure = measures.iter().find(|m| m.task == *task && m.language == *language).expect("the task is asked");
        let figure = if task.contains("must") { measure.recall } else { measure.f1 };
        assert!(figure >= *floor, "{task} {language}: {figure:.3} below {floor}");
    }
}

#[test]
fn risk_is_found_in_chat_notes_and_speech() {
    let floors = [("risk", "en", 0.95), ("risk", "es", 0.95)];
    holds(include_str!("../../../../tests/data/extraction/risk.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_speech.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_fresh.jsonl"), &floors);
    let floors = [("risk", "en", 0.92), ("risk", "es", 0.92)];
    holds(include_str!("../../../../tests/data/extraction/risk_blind.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_b.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_c.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_d.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_e.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_f.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_g.jsonl"), &floors);
    // Long lines as relatives, notes and letters say them; nothing was trained on the first.
    let floors = [("risk", "en", 0.92), ("risk", "es", 0.92)];
    holds(include_str!("../../../../tests/data/extraction/risk_blind_h.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_i.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_j.jsonl"), &floors);
    // No one looked at the lines of these two.
    let floors = [("risk", "en", 0.93), ("risk", "es", 0.90)];
    holds(include_str!("../../../../tests/data/extraction/risk_blind_k.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/risk_blind_l.jsonl"), &floors);
}

#[test]
fn everyday_lines_that_sound_like_risk_raise_none() {
    all_right(include_str!("../../../../tests/data/extraction/risk_lookalikes.jsonl"));
}

#[test]
fn a_denial_hides_no_means_and_a_relatives_attempt_is_the_familys() {
    all_right(include_str!("../../../../tests/data/extraction/risk_denials.jsonl"));
}

#[test]
fn denials_of_therapy_are_distinguished_from_what_looks_like_one() {
    let floors = [("negated", "en", 0.94), ("negated", "es", 0.94)];
    holds(include_str!("../../../../tests/data/extraction/therapy_negation.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/negation_speech.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/negation_fresh.jsonl"), &floors);
    let more = [("uncertain", 0.85), ("historical", 0.85), ("hypothetical", 0.85), ("other experiencer", 0.85)];
    let more = more.iter().flat_map(|(task, floor)| [(*task, "en", *floor), (*task, "es", *floor)]);
    let floors: Vec<_> = [("negated", "en", 0.93), ("negated", "es", 0.93)].into_iter().chain(more).collect();
    holds(include_str!("../../../../tests/data/extraction/negation_blind.jsonl"), &floors);
}

#[test]
fn feelings_are_read_in_both_languages() {
    let floors = [("sentiment", "en", 0.90), ("sentiment", "es", 0.90)];
    holds(include_str!("../../../../tests/data/extraction/tone.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/tone_speech.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/tone_fresh.jsonl"), &floors);
    let floors = [("sentiment", "en", 0.90), ("sentiment", "es", 0.90), ("themes", "en", 0.85), ("themes", "es", 0.85)];
    holds(include_str!("../../../../tests/data/extraction/tone_blind.jsonl"), &floors);
}

#[test]
fn preferences_goals_and_people_are_found_in_both_languages() {
    let floor = |task: &'static str, least: f64| [(task, "en", least), (task, "es", least)];
    let floors: Vec<_> = ["mention: preference", "mention: goal", "mention: relationship"]
        .into_iter()
        .flat_map(|task| floor(task, 0.90))
        .collect();
    holds(include_str!("../../../../tests/data/extraction/facts.jsonl"), &floors);
    holds(include_str!("../../../../tests/data/extraction/facts_blind.jsonl"), &floors);
}

#[test]
fn nothing_comes_out_of_a_dialogue_that_must_not_and_nearly_all_that_must() {
    let all = |floor| {
        [
            ("must not come out", "en", 1.0),
            ("must not come out", "es", 1.0),
            ("must come out", "en", floor),
            ("must come out", "es", floor),
        ]
    };
    holds(include_str!("../../../../tests/data/extraction/dialogues.jsonl"), &all(0.95));
    holds(include_str!("../../../../tests/data/extraction/dialogues_speech.jsonl"), &all(0.85));
}
