//! Measurements, procedures, appointments and events: said in whole documents, shown to readers as typed rows.

use serde_json::{Value, json};

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, document, on_every_program};

on_every_program!(
    laboratory_lines_and_vital_signs_are_rows_with_value_unit_range_and_day,
    values_said_in_words_are_measurements_and_targets_doses_and_conditions_are_none,
    an_appointment_is_in_force_until_its_day_is_over_and_then_history,
    an_appointment_stated_twice_is_one_and_another_day_is_another,
    operations_are_procedures_with_their_years_and_a_denial_of_any_is_stored,
    what_befell_the_patient_is_an_event_and_what_befell_a_relative_is_not,
    an_evenings_today_is_the_day_where_it_was_written,
);

/// A Tuesday.
const AT: &str = "2026-03-17T10:00:00Z";

fn ask(program: &Program, now: &str, args: &[&str]) -> Value {
    let scope = [ORG.to_string(), PATIENT.to_string()];
    let output = program
        .command(&[("ANAMNESIS__PIPELINE__NOW", now)])
        .args(args)
        .args(["--org", &scope[0], "--patient", &scope[1], "--output", "json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn ingested(engine: TestEngine, messages: &[Value]) -> Program {
    let program = Program::on(engine).await;
    let output = program.ingest(&bodies(messages), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn rows(program: &Program, entity: &str) -> Vec<Value> {
    let all = ask(program, AT, &["memory", "list"]);
    all.as_array().unwrap().iter().filter(|row| row["entity"] == entity).cloned().collect()
}

fn row<'a>(rows: &'a [Value], statement: &str) -> &'a Value {
    let found = rows.iter().find(|row| row["statement"].as_str().is_some_and(|s| s.contains(statement)));
    found.unwrap_or_else(|| panic!("no {statement}: {rows:#?}"))
}

fn day(row: &Value) -> &str {
    row["at"].as_str().map_or("", |at| &at[..10])
}

async fn laboratory_lines_and_vital_signs_are_rows_with_value_unit_range_and_day(engine: TestEngine) {
    let spanish = "Analítica 12/02/2026: Hb 13,4 g/dL (12-16), plaquetas 210.000, TSH 2,31 mUI/L (0,4-4,0).\n\
                   Constantes: TA 130/80 mmHg, FC 72, SatO2 98 %.";
    let english = "Bloods: K 5.4, creat 141 -> 88. HR 104, T 36.8. PHQ-9 today 18 (was 22).";
    let spaced = "Laboratorio 18-2: ferritina 1 340 ng/mL. Glucemia capilar 95 110 en casa.";
    let documents = [document(1, 1, AT, spanish), document(2, 1, AT, english), document(3, 1, AT, spaced)];
    let program = ingested(engine, &documents).await;
    let found = rows(&program, "measurement");
    let ferritin = row(&found, "ferritin");
    assert_eq!((ferritin["value"].as_str(), day(ferritin)), (Some("1340"), "2026-02-18"));
    assert_eq!(row(&found, "glucose")["value"], json!("95"));
    let hb = row(&found, "hemoglobin");
    assert_eq!((&hb["value"], &hb["unit"]), (&json!("13.4"), &json!("g/dL")));
    assert_eq!((hb["low"].as_f64(), hb["high"].as_f64(), day(hb)), (Some(12.0), Some(16.0), "2026-02-12"));
    assert_eq!(row(&found, "platelets")["value"], json!("210000"));
    assert_eq!(row(&found, "blood pressure")["value"], json!("130/80"));
    assert_eq!(row(&found, "blood pressure")["class"], json!("event"));
    assert_eq!(row(&found, "oxygen saturation")["unit"], json!("%"));
    assert_eq!(row(&found, "Measurement: creatinine 88 (before 141)")["value"], json!("88"));
    assert_eq!(row(&found, "PHQ-9 18 (before 22)")["precision"], json!("day"));
    assert!(found.iter().all(|row| row["use"] == "decision" && row["negated"] == false), "{found:#?}");
    let shown = ask(&program, AT, &["context"]);
    assert_eq!(shown["profile"]["measurements"].as_array().unwrap().len(), found.len());
}

async fn values_said_in_words_are_measurements_and_targets_doses_and_conditions_are_none(engine: TestEngine) {
    let spoken = "My A1c was eight point two last month and my blood pressure was one thirty over eighty.";
    let spanish = "Me salió la glucosa en ciento cuarenta y la tensión la tengo en trece ocho.";
    let plans = "Goal HbA1c < 7. If K < 3 give 40 mEq. Takes lithium 600 mg nocte, vitamin D 1000 IU, B12 1000 mcg IM \
                 monthly. Mantener glucosa por debajo de 130. Smokes 10/day. Phone 555-0142.";
    let program =
        ingested(engine, &[document(1, 1, AT, spoken), document(2, 1, AT, spanish), document(3, 1, AT, plans)]).await;
    let found = rows(&program, "measurement");
    let mut values: Vec<&str> = found.iter().filter_map(|row| row["value"].as_str()).collect();
    values.sort_unstable();
    assert_eq!(values, ["13/8", "130/80", "140", "8.2"], "{found:#?}");
    assert_eq!(day(row(&found, "HbA1c")), "2026-02-01");
}

async fn an_appointment_is_in_force_until_its_day_is_over_and_then_history(engine: TestEngine) {
    let text = "Cita con cardiología el 3 de abril a las 10:30. Se pide interconsulta a neurología.";
    let program = ingested(engine, &[document(1, 1, AT, text)]).await;
    let on = |now: &str| {
        let all = ask(&program, now, &["memory", "list"]);
        let all: Vec<Value> = all.as_array().unwrap().clone();
        let found = row(&all, "Appointment: cardiology").clone();
        (found["use"].clone(), found["state"].clone(), found["subject"].clone())
    };
    assert_eq!(on("2026-04-03T18:00:00Z"), (json!("decision"), json!("active"), json!("cardiology")));
    let after = (json!("history"), json!("resolved_unconfirmed"), json!("cardiology"));
    assert_eq!(on("2026-04-04T00:00:00Z"), after);
    let night = program
        .command(&[("ANAMNESIS__PIPELINE__NOW", "2026-04-05T06:00:00Z")])
        .args(["job", "run", "expiry"])
        .output()
        .unwrap();
    assert!(night.status.success(), "{}", String::from_utf8_lossy(&night.stderr));
    assert_eq!(on("2026-04-06T00:00:00Z"), after);
    let all = ask(&program, "2026-04-06T00:00:00Z", &["memory", "list"]);
    assert_eq!(row(all.as_array().unwrap(), "neurology")["use"], json!("decision"), "without a day it does not end");
}

async fn an_appointment_stated_twice_is_one_and_another_day_is_another(engine: TestEngine) {
    let first = document(1, 1, AT, "Appointment with dermatology on 14 April.");
    let again = document(
        2,
        1,
        "2026-03-18T10:00:00Z",
        "She has an appointment with dermatology on April 14, and one on May 5 with dermatology.",
    );
    let program = ingested(engine, &[first, again]).await;
    let found = rows(&program, "appointment");
    let mut days: Vec<&str> = found.iter().map(day).collect();
    days.sort_unstable();
    assert_eq!(days, ["2026-04-14", "2026-05-05"], "{found:#?}");
}

async fn operations_are_procedures_with_their_years_and_a_denial_of_any_is_stored(engine: TestEngine) {
    let letter = "Surgical history: cholecystectomy in 2015, right knee replacement in 2019. MRI brain booked for 4 April. Awaiting echo. D-dimer not sent.";
    let form = "Operado de apendicitis en 2001. Cesárea hace 4 años. Transfusiones sanguíneas: ninguna.";
    let program = ingested(engine, &[document(1, 1, AT, letter), document(2, 1, AT, form)]).await;
    let found = rows(&program, "procedure");
    assert_eq!(
        (day(row(&found, "cholecystectomy")), day(row(&found, "knee replacement"))),
        ("2015-01-01", "2019-01-01")
    );
    assert_eq!((day(row(&found, "appendectomy")), day(row(&found, "cesarean section"))), ("2001-01-01", "2022-01-01"));
    assert!(row(&found, "echocardiogram")["statement"].as_str().unwrap().ends_with("planned"));
    assert_eq!(row(&found, "blood transfusion")["negated"], json!(true));
    assert!(!found.iter().any(|row| row["statement"].as_str().unwrap().contains("dimer")), "{found:#?}");
    assert_eq!(day(row(&rows(&program, "appointment"), "MRI")), "2026-04-04");
}

async fn what_befell_the_patient_is_an_event_and_what_befell_a_relative_is_not(engine: TestEngine) {
    let english = "I lost my job last month. My husband left me in May. My mother died two years ago. My son was suspended \
                   from school. No falls.";
    let spanish = "Ingreso en UCI en mayo de 2023 por neumonía. Se cayó el domingo. Sin ingresos psiquiátricos previos. Mi \
                   hermana tuvo un accidente de coche en 2020.";
    let program = ingested(engine, &[document(1, 1, AT, english), document(2, 1, AT, spanish)]).await;
    let found = rows(&program, "event");
    let affirmed: Vec<&Value> = found.iter().filter(|row| row["negated"] == false).collect();
    let mut reported: Vec<(String, &str)> = affirmed
        .iter()
        .filter(|row| row["experiencer"] == "patient")
        .map(|row| (row["statement"].as_str().unwrap().replace("Event: ", ""), day(row)))
        .map(|(statement, at)| (statement.split(',').next().unwrap().to_owned(), at))
        .collect();
    reported.sort();
    let expected = [
        ("fall", "2026-03-15"),
        ("hospital admission", "2023-05-01"),
        ("job loss", "2026-02-01"),
        ("separation", "2025-05-01"),
    ];
    assert_eq!(reported, expected.map(|(name, at)| (name.to_owned(), at)), "{found:#?}");
    let death = row(&found, "death");
    assert_eq!((&death["experiencer"], day(death)), (&json!("family"), "2024-01-01"));
    assert!(death["statement"].as_str().unwrap().contains("mother"), "{death:#?}");
    let denied: Vec<&Value> = found.iter().filter(|row| row["negated"] == true).collect();
    assert_eq!(denied.len(), 2, "{denied:#?}");
}

async fn an_evenings_today_is_the_day_where_it_was_written(engine: TestEngine) {
    let note = document(1, 1, "2026-02-22T22:10:00-06:00", "Caída en la ducha hoy. Cita el lunes 2 de marzo.");
    let program = ingested(engine, &[note]).await;
    assert_eq!(day(row(&rows(&program, "event"), "fall")), "2026-02-22");
    assert_eq!(day(row(&rows(&program, "appointment"), "visit")), "2026-03-02");
}
