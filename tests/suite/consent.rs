//! A patient's consents bind every statement about them, in every kind of message and for every reader.

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Sql};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, event, on_every_program, rows,
};

on_every_program!(
    a_denial_binds_where_no_consent_is_required_and_its_messages_are_stored_nowhere,
    where_consent_is_required_only_a_permit_of_memory_opens_memory,
    a_permit_opens_what_comes_after_it_in_the_same_batch_and_a_denial_closes_all_of_it,
    a_denial_outweighs_a_permit_that_was_stated_before_it,
    a_denial_closes_quarantined_messages_and_so_does_ephemeral_mode,
    nothing_is_formed_asked_or_embedded_of_a_patient_who_denies_memory,
    a_denial_that_comes_back_forgets_and_so_does_one_from_before_the_policy,
    what_was_said_before_a_withdrawal_and_arrives_after_it_is_refused,
    rights_are_granted_without_consent,
    a_patient_who_denies_is_shown_to_no_reader_until_a_new_permit,
    a_withdrawal_forgets_where_the_organisation_says_so_and_can_be_recovered,
    a_withdrawal_that_begins_later_forgets_on_its_day,
    consents_are_shown_with_what_is_in_force,
    a_permit_that_ended_permits_no_reading_where_consent_is_required,
);

const BY: &str = "00000000-0000-4000-8000-000000000009";
const NOTE: &str = "Toma sertralina 50 mg al día. Refiere insomnio.";
const ENGLISH: &str = "She takes lithium 400 mg daily. She reports headaches.";

/// Runs a verb for the patient.
fn verb(program: &Program, arguments: &[&str], more: &[(&str, &str)]) -> (bool, String) {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let of = ["--org", &org, "--patient", &patient, "--output", "json"];
    let output = program.command(more).args(arguments).args(of).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn json_of(program: &Program, arguments: &[&str], more: &[(&str, &str)]) -> Value {
    let (_, printed) = verb(program, arguments, more);
    serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{arguments:?}: {printed}"))
}

fn organisation(program: &Program, arguments: &[&str]) {
    let org = ORG.to_string();
    let output = program.command(&[]).args(["org", "set", "--org", &org]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Writes a consent down by the verb.
fn record(program: &Program, scope: &str, provision: &str, more: &[&str]) -> Value {
    let arguments = ["consent", "record", "--scope", scope, "--provision", provision, "--by", BY];
    json_of(program, &[&arguments[..], more].concat(), &[])
}

fn consent(provision: &str, from: &str, until: Option<&str>) -> Value {
    json!({"organization_id": ORG, "patient_id": PATIENT, "scope": "memory", "provision": provision, "from": from,
        "until": until, "stated_at": from, "recorded_by": BY})
}

fn profile(at: &str) -> Value {
    json!({"organization_id": ORG, "patient_id": PATIENT, "actor": BY, "recorded_at": at,
        "allergies": [{"substance": "penicilina"}], "preferences": {"idioma": "es"}})
}

fn signal(at: &str) -> Value {
    json!({"organization_id": ORG, "patient_id": PATIENT, "metric": "sleep_hours", "unit": "h", "value": 6.5,
        "device": "watch", "synced_at": at})
}

fn command(what: &str, at: &str, more: &Value) -> Value {
    let mut data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": what, "issued_at": at,
        "actor": {"id": BY, "role": "clinician"}});
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event(&format!("{what} {at}"), "anamnesis.memory.command.v1", &data)
}

/// One of each kind that says something.
fn everything(at: &str) -> Vec<Value> {
    let some = json!({"memory_ids": [Uuid::from_u128(5)], "text": "sertralina 100 mg"});
    let answer = json!({"memory_ids": [Uuid::from_u128(5)], "text": "ahora 100 mg"});
    vec![
        document(1, 1, at, NOTE),
        document(2, 1, at, ENGLISH),
        profile(at),
        signal(at),
        command("correct", at, &some),
        command("answer", at, &answer),
        command("add", at, &json!({"text": "Prefiere venir por la tarde."})),
    ]
}

fn ingested(program: &Program, messages: &[Value]) -> Value {
    counts(&program.ingest(&bodies(messages), &[]))
}

/// Stored and quarantined messages.
fn outcome(program: &Program, messages: &[Value]) -> (u64, u64) {
    let counts = ingested(program, messages);
    (counts["stored"].as_u64().unwrap(), counts["quarantined"].as_u64().unwrap())
}

async fn a_denial_binds_where_no_consent_is_required_and_its_messages_are_stored_nowhere(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(outcome(&program, &[consent("deny", "2026-06-01T00:00:00Z", None)]), (1, 0));
    let all = everything("2026-06-20T10:00:00Z");
    assert_eq!(outcome(&program, &all), (0, all.len() as u64));
    let store = program.store().await;
    for row in rows(&store, "SELECT reason, field FROM quarantine").await {
        assert_eq!((row.text(0).unwrap().as_str(), row.text(1).unwrap().as_str()), ("no_consent", "patient_id"));
    }
    let kept = "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL OR attributes_sealed IS NOT NULL";
    assert_eq!(count(&store, kept).await, 0);
    for sql in [
        "SELECT count(*) FROM documents",
        "SELECT count(*) FROM extracted_findings",
        "SELECT count(*) FROM memory",
        "SELECT count(*) FROM profile_statement",
        "SELECT count(*) FROM conversation_preferences",
    ] {
        assert_eq!(count(&store, sql).await, 0, "{sql}");
    }
    store.close().await;
    let listed = program.command(&[]).args(["quarantine", "list", "--output", "json"]).output().unwrap();
    let first: Value = serde_json::from_slice(listed.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    let id = first["id"].as_str().unwrap();
    let shown = program.command(&[]).args(["quarantine", "show", id, "--content"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["content"], json!("never stored: the consent of the patient does not permit it"));
    let retried = program.command(&[]).args(["quarantine", "retry", "--output", "json"]).output().unwrap();
    let retried: Value = serde_json::from_slice(&retried.stdout).unwrap();
    assert_eq!((&retried["stored"], &retried["never_kept"]), (&json!(0), &json!(all.len())));
    // A refused message can be sent again, once the patient permits it.
    assert_eq!(outcome(&program, &[consent("permit", "2026-06-02T00:00:00Z", None)]), (1, 0));
    assert_eq!(outcome(&program, &all[..4]), (4, 0));
}

async fn where_consent_is_required_only_a_permit_of_memory_opens_memory(engine: TestEngine) {
    let program = Program::on(engine).await;
    record(&program, "research", "permit", &["--from", "2026-01-01"]);
    organisation(&program, &["--consent-required", "true"]);
    let note = |id| document(id, 1, "2026-06-20T10:00:00Z", NOTE);
    for scope in ["research", "recall", "memoria", "everything"] {
        let shown = record(&program, scope, "permit", &["--from", "2026-01-01"]);
        assert_eq!(shown["in_force"]["memory"], Value::Null, "{shown}");
        assert_eq!(outcome(&program, &[note(1)]), (0, 1), "{scope} opens nothing");
    }
    record(&program, "Memory", "permit", &["--from", "2026-01-01", "--until", "2026-06-25"]);
    assert_eq!(outcome(&program, &[note(1)]), (0, 1), "the permit is over");
    record(&program, "memory", "permit", &["--from", "2026-06-10"]);
    let all = everything("2026-06-21T10:00:00Z");
    assert_eq!(outcome(&program, &all[..4]), (4, 0));
    let early = document(3, 1, "2025-06-21T10:00:00Z", NOTE);
    assert_eq!(outcome(&program, &[early]), (0, 1), "nobody permitted it when it was said");
    organisation(&program, &["--consent-required", "false"]);
    assert_eq!(outcome(&program, &[document(3, 1, "2025-06-21T10:00:00Z", NOTE)]), (1, 0));
}

async fn a_permit_opens_what_comes_after_it_in_the_same_batch_and_a_denial_closes_all_of_it(engine: TestEngine) {
    let program = Program::on(engine).await;
    record(&program, "research", "permit", &[]);
    organisation(&program, &["--consent-required", "true"]);
    let note = |id, at: &str| document(id, 1, at, NOTE);
    let at = "2026-06-20T10:00:00Z";
    let batch = [
        note(1, at),
        consent("permit", "2026-06-01T00:00:00Z", None),
        note(2, at),
        profile(at),
        consent("deny", "2026-06-15T00:00:00Z", None),
        note(3, at),
        signal(at),
        consent("permit", "2026-06-16T00:00:00Z", None),
        note(4, at),
    ];
    let counts = ingested(&program, &batch);
    assert_eq!((&counts["stored"], &counts["quarantined"]), (&json!(6), &json!(3)), "{counts}");
    let store = program.store().await;
    let mut stored: Vec<Uuid> = Vec::new();
    for row in rows(&store, "SELECT document_id FROM documents ORDER BY document_id").await {
        stored.push(row.uuid(0).unwrap());
    }
    assert_eq!(stored, [2, 4].map(Uuid::from_u128));
    store.close().await;
    let closed = [note(5, "2026-06-27T10:00:00Z"), consent("deny", "2026-06-28T00:00:00Z", None)];
    let counts = ingested(&program, &closed);
    assert_eq!((&counts["stored"], &counts["quarantined"]), (&json!(1), &json!(1)), "{counts}");
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 2);
    let kept = "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL";
    assert_eq!(count(&store, kept).await, 0, "what the rest of its batch denies is kept nowhere");
}

/// A consent as an event, which says when it was stated.
fn stated(id: &str, provision: &str, from: &str, at: &str) -> Value {
    let mut said = consent(provision, from, None);
    said.as_object_mut().unwrap().remove("stated_at");
    let mut consent = event(id, "anamnesis.consent.recorded.v1", &said);
    consent["time"] = json!(at);
    consent
}

async fn a_denial_outweighs_a_permit_that_was_stated_before_it(engine: TestEngine) {
    let program = Program::on(engine).await;
    let note = |id| document(id, 1, "2026-06-30T10:00:00Z", NOTE);
    let planned = stated("planned", "permit", "2026-06-29T00:00:00Z", "2026-06-01T10:00:00Z");
    let denial = stated("denial", "deny", "2026-06-10T00:00:00Z", "2026-06-10T09:00:00Z");
    assert_eq!(outcome(&program, &[planned.clone(), denial.clone()]), (2, 0));
    assert_eq!(outcome(&program, &[note(1)]), (0, 1), "the permit was planned before the denial");
    // An old permit once more, as another message: the consent is unchanged since.
    let old = stated("old", "permit", "2026-06-05T00:00:00Z", "2026-06-20T09:00:00Z");
    assert_eq!(outcome(&program, &[old, note(2)]), (1, 1));
    let shown = json_of(&program, &["consent", "show"], &[]);
    assert_eq!(shown["in_force"]["memory"], json!("deny"), "{shown}");
    let changed = stated("changed", "permit", "2026-06-15T00:00:00Z", "2026-06-15T09:00:00Z");
    assert_eq!(outcome(&program, &[changed, note(3)]), (2, 0));
    // The verb states it now, from whenever it is to hold.
    let shown = record(&program, "memory", "deny", &["--from", "2026-06-12"]);
    assert_eq!(shown["in_force"]["memory"], json!("deny"), "{shown}");
    assert_eq!(outcome(&program, &[note(4)]), (0, 1));
    let store = program.store().await;
    let mut tx = store.db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
    let forge = Sql::new("UPDATE consent SET stated_at = stated_at - 1000000000000 WHERE provision = 'deny'");
    assert!(tx.execute(&forge, Vec::new()).await.unwrap() > 0);
    tx.commit().await.unwrap();
    store.close().await;
    let org = ORG.to_string();
    let run = ["job", "run", "reconciliation", "--org", &org, "--as-of", "2026-07-01", "--output", "json"];
    let output = program.command(&[("ANAMNESIS__PIPELINE__NOW", "2026-07-02T12:00:00Z")]).args(run).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("\"forged_rows\":2"), "when a denial was stated is covered: {printed}");
}

async fn a_denial_closes_quarantined_messages_and_so_does_ephemeral_mode(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(outcome(&program, &[document(1, 1, "2026-06-20T10:00:00Z", NOTE)]), (1, 0));
    let broken = |id: u128| {
        let mut message = document(id, 1, "2026-06-20T10:00:00Z", ENGLISH);
        message["document_type"] = json!("no such type");
        message
    };
    let store = program.store().await;
    let kept = "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL";
    assert_eq!(outcome(&program, &[broken(2)]), (0, 1));
    assert_eq!(count(&store, kept).await, 1);
    // It was quarantined at noon of 1 July.
    let since = |at| command("ephemeral_on", at, &json!({}));
    assert_eq!(outcome(&program, &[since("2026-07-02T11:00:00Z")]), (1, 0));
    assert_eq!(count(&store, kept).await, 1, "what was quarantined before the mode began stays");
    assert_eq!(outcome(&program, &[since("2026-07-01T11:00:00Z")]), (1, 0));
    assert_eq!(count(&store, kept).await, 0);
    assert_eq!(outcome(&program, &[command("ephemeral_off", "2026-07-01T11:30:00Z", &json!({}))]), (1, 0));
    assert_eq!(outcome(&program, &[broken(3)]), (0, 1));
    record(&program, "recall", "deny", &["--from", "2026-06-30"]);
    assert_eq!(count(&store, kept).await, 1, "what may not be shown may be kept");
    let id = rows(&store, "SELECT id FROM quarantine WHERE body_sealed IS NOT NULL").await[0].uuid(0).unwrap();
    let show = |more: &[&str]| {
        let shown = program.command(&[]).args(["quarantine", "show", &id.to_string(), "--raw"]).args(more).output();
        let shown = shown.unwrap();
        (shown.status.success(), String::from_utf8(shown.stdout).unwrap())
    };
    let (done, printed) = show(&[]);
    assert!(!done && !printed.contains("lithium"), "{printed}");
    let (done, printed) = show(&["--purpose", "legal"]);
    assert!(done && printed.contains("lithium"), "{printed}");
    record(&program, "memory", "deny", &["--from", "2026-08-01"]);
    assert_eq!(count(&store, kept).await, 1, "it is not in force yet");
    record(&program, "memory", "deny", &["--from", "2026-06-30"]);
    assert_eq!(count(&store, kept).await, 0);
    let left = "SELECT count(*) FROM quarantine WHERE state = 'dropped' AND reason IS NOT NULL";
    assert_eq!(count(&store, left).await, 2, "ids and codes stay");
    store.close().await;
}

/// Runs a job of a day, on the next one; its report.
fn job(program: &Program, name: &str, day: &str, now: &str) -> Value {
    let org = ORG.to_string();
    let run = ["job", "run", name, "--org", &org, "--as-of", day, "--output", "json"];
    let output = program.command(&[("ANAMNESIS__PIPELINE__NOW", now)]).args(run).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(printed.lines().next_back().unwrap()).unwrap()
}

async fn nothing_is_formed_asked_or_embedded_of_a_patient_who_denies_memory(engine: TestEngine) {
    let program = Program::on(engine).await;
    let notes: Vec<Value> = [(1, "01"), (2, "08"), (3, "15"), (4, "30")]
        .into_iter()
        .map(|(id, day)| {
            let mut note =
                document(id, 1, &format!("2026-06-{day}T10:00:00Z"), "Refiere cefalea. Toma sertralina 50 mg.");
            note["provenance"] = json!({"confidence": 0.8});
            note
        })
        .collect();
    assert_eq!(outcome(&program, &notes), (4, 0));
    let store = program.store().await;
    let wait = Sql::new("UPDATE passage SET embedding_pending = 1");
    let mut tx = store.db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
    let passages = tx.execute(&wait, Vec::new()).await.unwrap() as i64;
    tx.commit().await.unwrap();
    let made = || async {
        let formed = count(&store, "SELECT count(*) FROM extracted_findings WHERE class = 'pattern'").await;
        let summaries = count(&store, "SELECT count(*) FROM summary").await;
        let courses = count(&store, "SELECT count(*) FROM confidence_course").await;
        let waiting = count(&store, "SELECT count(*) FROM passage WHERE embedding_pending = 1").await;
        [formed, summaries, courses, passages - waiting]
    };
    let jobs = ["consolidation", "summaries", "confidence_analytics", "embed_batch", "reconfirmation"];
    record(&program, "memory", "deny", &["--from", "2026-06-30"]);
    for name in jobs {
        job(&program, name, "2026-07-01", "2026-07-02T12:00:00Z");
    }
    assert_eq!(made().await, [0; 4], "formed, summaries, courses, vectors");
    let asked = "SELECT count(*) FROM outbox WHERE event_type = 'anamnesis.reconfirmation.due.v1'";
    // Two days after the patient's last message, and not yet a week.
    job(&program, "reconfirmation", "2026-07-02", "2026-07-03T12:00:00Z");
    assert_eq!(count(&store, asked).await, 0);
    record(&program, "memory", "permit", &["--from", "2026-07-01"]);
    for name in jobs {
        job(&program, name, "2026-07-03", "2026-07-04T12:00:00Z");
    }
    let [formed, summaries, courses, vectors] = made().await;
    assert!(formed > 0 && summaries > 0 && courses > 0, "{formed} {summaries} {courses}");
    assert_eq!(vectors, passages);
    assert!(count(&store, asked).await > 0);
    store.close().await;
}

async fn a_denial_that_comes_back_forgets_and_so_does_one_from_before_the_policy(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(outcome(&program, &[document(1, 1, "2026-06-20T10:00:00Z", NOTE)]), (1, 0));
    record(&program, "memory", "deny", &["--from", "2026-06-25"]);
    let store = program.store().await;
    let active = "SELECT count(*) FROM memory WHERE kind <> 'raw' AND state <> 'inactive'";
    let all = count(&store, active).await;
    assert!(all >= 2, "the organisation keeps them: {all}");
    organisation(&program, &["--withdrawal", "forget"]);
    let withdrawn = |day, now| job(&program, "retention", day, now)["status"]["withdrawn"].clone();
    assert_eq!(withdrawn("2026-07-01", "2026-07-02T12:00:00Z"), json!(1));
    assert_eq!(count(&store, active).await, 0);
    record(&program, "memory", "permit", &["--from", "2026-07-01", "--until", "2026-07-10"]);
    let ids = rows(&store, "SELECT id FROM memory WHERE kind <> 'raw'").await;
    let ids: Vec<String> = ids.iter().map(|row| row.uuid(0).unwrap().to_string()).collect();
    let named: Vec<&str> = ids.iter().map(String::as_str).collect();
    let later = [("ANAMNESIS__PIPELINE__NOW", "2026-07-03T13:00:00Z")];
    let recover = [&["memory", "recover"][..], &named, &["--by", BY, "--role", "clinician"]].concat();
    let (done, printed) = verb(&program, &recover, &later);
    assert!(done, "{printed}");
    assert_eq!(count(&store, active).await, all);
    assert_eq!(withdrawn("2026-07-04", "2026-07-05T12:00:00Z"), json!(0), "the permit holds");
    assert_eq!(withdrawn("2026-07-11", "2026-07-12T12:00:00Z"), json!(1), "the permit ended on 10 July");
    assert_eq!(count(&store, active).await, 0);
    store.close().await;
}

async fn what_was_said_before_a_withdrawal_and_arrives_after_it_is_refused(engine: TestEngine) {
    let program = Program::on(engine).await;
    let last_year = document(1, 1, "2025-06-20T10:00:00Z", ENGLISH);
    assert_eq!(outcome(&program, &[consent("permit", "2025-01-01T00:00:00Z", None)]), (1, 0));
    assert_eq!(outcome(&program, &[consent("deny", "2026-06-01T00:00:00Z", Some("2026-06-30T00:00:00Z"))]), (1, 0));
    assert_eq!(outcome(&program, std::slice::from_ref(&last_year)), (1, 0), "the denial is over");
    let during = document(2, 1, "2026-06-10T10:00:00Z", ENGLISH);
    assert_eq!(outcome(&program, &[during]), (0, 1), "said while it was denied");
    assert_eq!(outcome(&program, &[consent("deny", "2026-06-30T12:00:00Z", None)]), (1, 0));
    let mut again = last_year;
    again["document_id"] = json!(Uuid::from_u128(3));
    assert_eq!(outcome(&program, &[again]), (0, 1), "said before the withdrawal, arrived after it");
    let later = consent("deny", "2026-08-01T00:00:00Z", None);
    let other = Uuid::from_u128(0x77);
    let of_other = |mut message: Value| {
        message["patient_id"] = json!(other);
        message
    };
    assert_eq!(outcome(&program, &[of_other(later), of_other(document(4, 1, "2026-06-20T10:00:00Z", NOTE))]), (2, 0));
}

async fn rights_are_granted_without_consent(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(outcome(&program, &[document(1, 1, "2026-06-20T10:00:00Z", NOTE)]), (1, 0));
    let ids: Vec<Value> = json_of(&program, &["memory", "list"], &[])
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["memory_id"].clone())
        .collect();
    assert_eq!(outcome(&program, &[consent("deny", "2026-06-25T00:00:00Z", None)]), (1, 0));
    let at = "2026-06-30T10:00:00Z";
    let rights = [
        command("forget", at, &json!({"memory_ids": ids})),
        command("ephemeral_on", at, &json!({})),
        command("ephemeral_off", "2026-06-30T11:00:00Z", &json!({})),
        consent("deny", "2026-06-26T00:00:00Z", None),
    ];
    assert_eq!(outcome(&program, &rights), (4, 0));
    let store = program.store().await;
    let forgotten = "SELECT count(*) FROM memory WHERE kind <> 'raw' AND state <> 'inactive'";
    assert_eq!(count(&store, forgotten).await, 0);
}

async fn a_patient_who_denies_is_shown_to_no_reader_until_a_new_permit(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(
        outcome(&program, &[document(1, 1, "2026-06-20T10:00:00Z", NOTE), profile("2026-06-20T10:00:00Z")]),
        (2, 0)
    );
    let asked: [&[&str]; 3] = [&["context"], &["context", "--query", "sertralina", "--min-score", "-1"], &["profile"]];
    for reader in asked {
        let (done, printed) = verb(&program, reader, &[]);
        assert!(done && printed.contains("sertralina"), "{reader:?}: {printed}");
    }
    for scope in ["memory", "recall"] {
        record(&program, scope, "deny", &["--from", "2026-06-30"]);
        for reader in asked {
            let (done, printed) = verb(&program, reader, &[]);
            let answer: Value = serde_json::from_str(&printed).unwrap();
            assert_eq!((done, &answer["answer"]), (false, &json!("withheld")), "{scope} {reader:?}");
            assert!(!printed.contains("sertralina") && !printed.contains("penicilina"), "{printed}");
            let of = [ORG, PATIENT].map(|id| id.to_string());
            let named = ["--org", &of[0], "--patient", &of[1]];
            let table = program.command(&[]).args(reader).args(named).output().unwrap();
            assert!(!String::from_utf8_lossy(&table.stdout).contains("sertralina"));
            assert!(String::from_utf8_lossy(&table.stderr).contains("consent"), "{table:?}");
        }
        // Stored data are open to the patient and, for a recorded reason, to those who look after the record.
        assert!(verb(&program, &["export"], &[]).1.contains("sertralina"));
        let open = [("ANAMNESIS__AUDIT__DENIAL_CLOSES_TOOLS", "false")];
        assert!(verb(&program, &["memory", "list"], &open).1.contains("sertralina"), "where it is asked for");
        let (done, printed) = verb(&program, &["memory", "list"], &[]);
        assert!(!done && printed.contains("withheld") && !printed.contains("sertralina"), "{printed}");
        let (done, _) = verb(&program, &["memory", "list", "--purpose", "treatment"], &[]);
        assert!(!done, "to treat is what the patient forbids");
        let (done, printed) = verb(&program, &["memory", "list", "--purpose", "patient_request"], &[]);
        assert!(done && printed.contains("sertralina"), "{printed}");
        record(&program, scope, "permit", &["--from", "2026-07-01"]);
        for reader in asked {
            let (done, printed) = verb(&program, reader, &[]);
            assert!(done && printed.contains("sertralina"), "{scope} {reader:?}: {printed}");
        }
    }
    record(&program, "research", "deny", &[]);
    assert!(verb(&program, &["context"], &[]).0, "research is about something else");
}

async fn a_permit_that_ended_permits_no_reading_where_consent_is_required(engine: TestEngine) {
    let program = Program::on(engine).await;
    record(&program, "memory", "permit", &["--from", "2026-06-01", "--until", "2026-08-01"]);
    organisation(&program, &["--consent-required", "true"]);
    assert_eq!(outcome(&program, &[document(1, 1, "2026-06-20T10:00:00Z", NOTE)]), (1, 0));
    for reader in [&["context"][..], &["profile"]] {
        let (done, printed) = verb(&program, reader, &[]);
        assert!(done && printed.contains("sertralina"), "{reader:?}: {printed}");
        let later = [("ANAMNESIS__PIPELINE__NOW", "2026-08-02T10:00:00Z")];
        let (done, printed) = verb(&program, reader, &later);
        assert!(!done && printed.contains("withheld") && !printed.contains("sertralina"), "{reader:?}: {printed}");
        let (done, _) = verb(&program, &["profile", "--emergency"], &later);
        assert!(done, "a permit that ended is no denial, and there is danger");
    }
}

async fn a_withdrawal_forgets_where_the_organisation_says_so_and_can_be_recovered(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(outcome(&program, &[document(1, 1, "2026-06-20T10:00:00Z", NOTE)]), (1, 0));
    organisation(&program, &["--withdrawal", "forget"]);
    let listed = json_of(&program, &["memory", "list"], &[]);
    let ids: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|memory| memory["kind"] != json!("raw"))
        .map(|memory| memory["memory_id"].as_str().unwrap().to_owned())
        .collect();
    assert!(ids.len() >= 2);
    // A denial that was withdrawn before it arrived forgets nothing.
    let late = [consent("permit", "2026-06-25T00:00:00Z", None), consent("deny", "2026-06-24T00:00:00Z", None)];
    assert_eq!(outcome(&program, &late), (2, 0));
    let store = program.store().await;
    let active = "SELECT count(*) FROM memory WHERE kind <> 'raw' AND state <> 'inactive'";
    assert_eq!(count(&store, active).await, ids.len() as i64);
    record(&program, "memory", "deny", &["--from", "2026-06-30"]);
    assert_eq!(count(&store, active).await, 0);
    record(&program, "memory", "permit", &["--from", "2026-07-01"]);
    let (_, printed) = verb(&program, &["context", "--query", "sertralina", "--min-score", "-1"], &[]);
    assert!(!printed.contains("50 mg"), "a new permit brings nothing back by itself: {printed}");
    let later = [("ANAMNESIS__PIPELINE__NOW", "2026-07-01T13:00:00Z")];
    let named: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (done, _) =
        verb(&program, &[&["memory", "recover"][..], &named, &["--by", BY, "--role", "clinician"]].concat(), &later);
    assert!(done);
    let (_, printed) = verb(&program, &["context", "--query", "sertralina", "--min-score", "-1"], &later);
    assert!(printed.contains("50 mg"), "{printed}");
}

async fn a_withdrawal_that_begins_later_forgets_on_its_day(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(outcome(&program, &[document(1, 1, "2026-06-20T10:00:00Z", NOTE)]), (1, 0));
    organisation(&program, &["--withdrawal", "forget"]);
    // Of another scope nothing is forgotten, whenever it begins.
    record(&program, "research", "deny", &["--from", "2026-07-02"]);
    record(&program, "memory", "deny", &["--from", "2026-07-05"]);
    let store = program.store().await;
    let active = "SELECT count(*) FROM memory WHERE kind <> 'raw' AND state <> 'inactive'";
    let all = count(&store, active).await;
    assert!(all >= 2, "{all}");
    let org = ORG.to_string();
    let retention = |day: &str, next: &str| {
        let now = format!("{next}T12:00:00Z");
        let output = program
            .command(&[("ANAMNESIS__PIPELINE__NOW", now.as_str())])
            .args(["job", "run", "retention", "--org", &org, "--as-of", day, "--output", "json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        let report: Value = serde_json::from_str(printed.lines().next_back().unwrap()).unwrap();
        report["status"]["withdrawn"].as_u64().unwrap_or_else(|| panic!("{report}"))
    };
    assert_eq!(retention("2026-07-03", "2026-07-04"), 0, "it is not in force yet");
    assert_eq!(count(&store, active).await, all);
    assert_eq!(retention("2026-07-06", "2026-07-07"), 1);
    assert_eq!(count(&store, active).await, 0);
    // Memories that are recovered afterwards are not forgotten again.
    let forgotten = rows(&store, "SELECT id FROM memory WHERE kind <> 'raw'").await;
    let id = forgotten[0].uuid(0).unwrap().to_string();
    let later = [("ANAMNESIS__PIPELINE__NOW", "2026-07-07T13:00:00Z")];
    let (is_done, printed) = verb(&program, &["memory", "recover", &id, "--by", BY, "--role", "clinician"], &later);
    assert!(is_done, "{printed}");
    assert_eq!(retention("2026-07-07", "2026-07-08"), 0, "once");
    assert_eq!(count(&store, active).await, 1);
    store.close().await;
}

async fn consents_are_shown_with_what_is_in_force(engine: TestEngine) {
    let program = Program::on(engine).await;
    let empty = json_of(&program, &["consent", "show"], &[]);
    assert_eq!((&empty["answer"], &empty["consents"]), (&json!("unknown"), &json!([])));
    record(&program, "memory", "permit", &["--from", "2026-01-01", "--reason", "Firmó en recepción"]);
    record(&program, "memory", "deny", &["--from", "2026-06-30"]);
    record(&program, "recall", "deny", &["--from", "2026-05-01", "--until", "2026-05-31"]);
    let shown = record(&program, "telemetry", "permit", &[]);
    assert_eq!(shown["answer"], json!("known"));
    assert_eq!(shown["in_force"], json!({"memory": "deny", "recall": null, "research": null}));
    let consents = shown["consents"].as_array().unwrap();
    let brief: Vec<_> = consents.iter().map(|one| (one["scope"].as_str(), one["decides"].as_bool().unwrap())).collect();
    assert_eq!(
        brief,
        [(Some("memory"), false), (Some("recall"), false), (Some("memory"), true), (Some("telemetry"), false)]
    );
    assert_eq!(consents[0]["reason"], json!("Firmó en recepción"));
    assert_eq!(consents[1]["until"], json!("2026-06-01T00:00:00Z"), "with its last day");
    let (done, _) = verb(&program, &["consent", "record", "--provision", "perhaps", "--by", BY], &[]);
    assert!(!done);
    let (done, printed) = verb(
        &program,
        &["consent", "record", "--provision", "deny", "--from", "2026-06-02", "--until", "2026-06-01", "--by", BY],
        &[],
    );
    assert!(!done, "{printed}");
}
