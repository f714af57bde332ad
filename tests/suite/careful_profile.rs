//! The profile `careful`: the findings that the learned reader adds to those of the rules, as a reader of the memory
//! sees them.

use serde_json::Value;

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, document};

/// The reader of this repository, as another file.
const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/reader.safetensors");

async fn rows(profile: &str, reader: &str, text: &str) -> Vec<Value> {
    let program = Program::on(TestEngine::File).await;
    let more = [("ANAMNESIS__EXTRACTION__PROFILE", profile), ("ANAMNESIS__EXTRACTION__READER_FILE", reader)];
    let output = program.ingest(&bodies(&[document(1, 1, "2026-03-17T10:00:00Z", text)]), &more);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let scope = [ORG.to_string(), PATIENT.to_string()];
    let listed = program
        .command(&more)
        .args(["memory", "list", "--org", &scope[0], "--patient", &scope[1], "--output", "json"])
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    serde_json::from_slice::<Vec<Value>>(&listed.stdout)
        .unwrap()
        .into_iter()
        .filter(|row| row["entity"].is_string())
        .collect()
}

fn statements<'a>(rows: &'a [Value], entity: &str) -> Vec<&'a str> {
    rows.iter().filter(|row| row["entity"] == entity).map(|row| row["statement"].as_str().unwrap()).collect()
}

/// Makes a document long enough for the reader; it contains no finding.
const REST: &str = "She came with a friend who waited outside and read a magazine. We went through the diary of the last \
    weeks together, page by page, and she read two of the longer passages aloud. She had written about the garden, about the \
    books she borrows from the library on the corner, and about a film that she saw twice. We agreed that she goes on \
    writing in the evening, at the kitchen table, with the radio switched off, and that she brings the diary again. The room \
    was quiet, the light was good, and we ended on time. She said that she would walk home along the river.";

/// Said in words that no list holds.
const SAID: &str = "Her house burnt down in January and she lost everything she had. Takes sertraline 50 mg daily.";

#[tokio::test(flavor = "multi_thread")]
async fn a_careful_reader_remembers_what_no_list_holds_and_a_fast_one_does_not() {
    let said = format!("{SAID}\n{REST}");
    let fast = rows("fast", "", &said).await;
    let named = rows("careful", READER, &said).await;
    let careful = rows("careful", "", &said).await;
    assert!(!statements(&fast, "event").iter().any(|said| said.contains("burnt down")), "{fast:?}");
    assert!(statements(&careful, "event").iter().any(|said| said.contains("burnt down")), "{careful:?}");
    assert_eq!(
        statements(&careful, "event"),
        statements(&named, "event"),
        "the reader in the program is that of the file"
    );
    // The findings of the rules are the same.
    assert_eq!(statements(&fast, "medication"), statements(&careful, "medication"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_only_asked_is_remembered_by_neither() {
    for asked in ["Did their house burn down in January?", "¿Se les quemó la casa en enero?"] {
        let asked = format!("{asked}\n{REST}");
        assert_eq!(
            statements(&rows("careful", "", &asked).await, "event"),
            statements(&rows("fast", "", &asked).await, "event")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_message_is_read_by_rules_alone() {
    let careful = rows("careful", "", SAID).await;
    assert_eq!(statements(&careful, "event"), statements(&rows("fast", "", SAID).await, "event"));
    let sure = |row: &Value| row["extraction_confidence"].as_f64();
    assert!(careful.iter().any(|row| row["entity"] == "medication" && sure(row) == Some(0.9)), "{careful:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_medicine_that_only_the_reader_finds_is_stored_with_its_dose_and_waits_for_review() {
    let said =
        "Current medication: Florvexin 20 mg every morning, sertraline 50 mg daily. Allergies: Zandrocil (rash).";
    let rows = rows("careful", "", &format!("{said}\n{REST}")).await;
    let row = |name: &str| {
        let names = |row: &&Value| row["statement"].as_str().unwrap().to_lowercase().contains(name);
        rows.iter().find(names).unwrap_or_else(|| panic!("{name} is not in {rows:?}"))
    };
    assert!(row("florvexin")["statement"].as_str().unwrap().contains("20 mg"), "{}", row("florvexin"));
    // By rule, the heading for allergies makes the substance after it one.
    for (name, usable) in [("florvexin", "hypothesis"), ("zandrocil", "decision"), ("sertraline", "decision")] {
        assert_eq!(row(name)["use"], usable, "{}", row(name));
        let sure = row(name)["extraction_confidence"].as_f64().unwrap();
        assert_eq!(sure >= 0.6, usable == "decision", "{name} is read with {sure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_a_medicine_is_and_whether_it_is_taken_is_as_the_reader_says_where_it_is_sure() {
    // Whether a medicine is shown as one that the patient takes.
    let taken = |rows: &[Value], name: &str| {
        rows.iter().any(|row| {
            let said = row["statement"].as_str().unwrap();
            said.contains(name) && row["experiencer"] == "patient" && row["use"] == "decision" && row["negated"] != true
        })
    };
    for (said, name) in [
        ("Sertraline 50 he quit in October; hold off on a restart.", "sertraline"),
        ("Quetiapine was on the list but he says he never started it, take it off.", "quetiapine"),
        ("Haldol we are not going to give him.", "haloperidol"),
        ("La madre tb. comenta q. ella misma está tomando Orfidal 1 de su vecina; le digo q. consulte.", "lorazepam"),
    ] {
        let text = format!("Folic acid 5 mg daily. {said}\n{REST}");
        let (fast, careful) = (rows("fast", "", &text).await, rows("careful", "", &text).await);
        assert!(taken(&careful, "folic acid"), "{careful:?}");
        assert!(!taken(&careful, name), "{name}: {careful:?}");
        let named = |row: &Value| row["statement"].as_str().unwrap().contains(name);
        assert!(careful.iter().any(named), "{name} is not remembered at all: {careful:?}");
        // Without the reader it counts as taken, because the rules cannot distinguish.
        assert!(name == "lorazepam" || taken(&fast, name), "{name}: {fast:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_is_not_there_stops_the_start_and_says_which_setting_names_it() {
    let program = Program::on(TestEngine::File).await;
    let none = program.folder.path().join("none").display().to_string();
    let torn = program.folder.path().join("torn");
    let whole = std::fs::read(READER).unwrap();
    std::fs::write(&torn, &whole[..whole.len() / 2]).unwrap();
    for file in [none, torn.display().to_string()] {
        let more =
            [("ANAMNESIS__EXTRACTION__PROFILE", "careful"), ("ANAMNESIS__EXTRACTION__READER_FILE", file.as_str())];
        let output = program.ingest(&bodies(&[document(1, 1, "2026-03-17T10:00:00Z", SAID)]), &more);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{file}: {said}");
        assert!(said.contains("extraction.reader_file"), "{file}: {said}");
    }
}
