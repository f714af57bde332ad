//! The counting itself, on rows whose answers are known.

use super::*;

fn report(lines: &str) -> Report {
    Report::of(lines.as_bytes(), &Extractor::builtin(), Half::All).unwrap()
}

fn measure(report: &Report, task: &str) -> Measure {
    report.measures().into_iter().find(|measure| measure.task == task).unwrap()
}

#[test]
fn right_extra_and_missing_are_told_apart() {
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
    let tuning = ids.iter().filter(|id| Half::Tuning.holds(id)).count();
    assert!(ids.iter().all(|id| Half::Tuning.holds(id) != Half::HeldOut.holds(id)));
    assert!((60..140).contains(&tuning), "{tuning}");
}
