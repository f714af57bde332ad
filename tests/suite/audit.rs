//! The audit trail as evidence: every write and every read leaves an entry with actor, role and purpose. No one
//! changes, adds or removes an entry unseen, and no statement can be inverted outside the program.

use std::process::Output;

use anamnesis_core::audit::{ChainFault, ChainVerdict};
use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Arg, Row, Sql};
use anamnesis_store::Store;
use anamnesis_store::audit_trail::AuditedAction;
use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{
    Clinic, ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, event, feed, on_every_engine,
    on_every_program, rows, scope,
};
use super::worker::{Running, until};

on_every_program!(
    every_message_every_act_and_every_read_leaves_an_entry_that_names_who_and_why,
    a_chain_is_proved_by_a_head_that_was_stored_elsewhere_and_a_cut_tail_is_seen,
    what_was_said_cannot_be_turned_round_unseen,
    what_is_made_of_what_was_said_is_made_right_and_what_was_deleted_is_missed,
    what_people_did_and_set_cannot_be_turned_round_unseen,
    what_the_term_of_the_trail_takes_is_no_forgery_and_a_hold_outlives_it,
    an_account_that_is_written_again_or_goes_is_no_forgery,
    a_policy_that_was_changed_outside_the_program_is_not_made_its_own_unseen,
    a_worker_seals_what_was_written_and_keeps_the_heads_elsewhere,
    an_erased_entry_names_no_one_and_the_chain_is_whole,
    entries_go_after_their_term_and_never_before,
    the_jobs_have_a_role_of_their_own_that_cannot_change_what_came_in,
    a_read_without_a_reader_is_refused_where_the_configuration_asks_for_one,
);
on_every_engine!(an_entry_that_is_written_outside_the_program_is_seen_before_it_is_sealed,);

const TEXT: &str = "Diagnosticada de endometriosis. Refiere vértigo desde ayer. Toma sertralina 50 mg al día. \
                    Niega ideas de suicidio.";

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn of_patient() -> [String; 4] {
    ["--org".to_owned(), ORG.to_string(), "--patient".to_owned(), PATIENT.to_string()]
}

/// A verb that must succeed.
fn run(program: &Program, settings: &[(&str, &str)], args: &[&str]) -> String {
    let output = program.command(settings).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", printed(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn ingested(program: &Program) {
    let lines = bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]);
    assert_eq!(counts(&program.ingest(&lines, &[]))["stored"], json!(1));
}

fn entries(program: &Program) -> Vec<Value> {
    let of = of_patient();
    let args: Vec<&str> =
        ["audit", "list", "--output", "json"].into_iter().chain(of.iter().map(String::as_str)).collect();
    serde_json::from_str(&run(program, &[], &args)).unwrap()
}

async fn every_message_every_act_and_every_read_leaves_an_entry_that_names_who_and_why(engine: TestEngine) {
    let program = Program::on(engine).await;
    ingested(&program);
    let of = of_patient();
    let read = |verb: &[&str], more: &[&str]| {
        let args: Vec<&str> =
            verb.iter().copied().chain(of.iter().map(String::as_str)).chain(more.iter().copied()).collect();
        run(&program, &[("ANAMNESIS_ROLE", "clinician")], &args)
    };
    let ground = ["--reader", "dr-perez", "--purpose", "treatment", "--case", "T-2026/14"];
    assert!(read(&["context"], &ground).contains("endometriosis"));
    read(&["profile"], &["--reader", "dr-perez", "--purpose", "break_glass"]);
    read(&["export"], &[]);
    let listed: Vec<Value> = serde_json::from_str(&read(&["memory", "list", "--output", "json"], &[])).unwrap();
    let memory = listed[0]["memory_id"].as_str().unwrap();
    read(&["memory", "history", memory], &[]);
    let by = Uuid::from_u128(7).to_string();
    read(&["memory", "verify", memory], &["--by", &by]);
    read(&["consent", "record"], &["--provision", "permit", "--by", &by]);
    read(&["privacy"], &["--by", &by]);

    let found = entries(&program);
    let of = |action: &str| -> Vec<&Value> { found.iter().filter(|entry| entry["action"] == action).collect() };
    let stored = of("document_stored");
    assert_eq!(stored.len(), 1, "{found:?}");
    assert_eq!((&stored[0]["role"], &stored[0]["subject_id"]), (&json!("producer"), &json!(Uuid::from_u128(1))));
    let context = of("read_context");
    assert_eq!(context.len(), 1, "{found:?}");
    for (field, expected) in [
        ("actor", "dr-perez"),
        ("role", "clinician"),
        ("purpose", "treatment"),
        ("reason", "T-2026/14"),
        ("outcome", "done"),
    ] {
        assert_eq!(context[0][field], json!(expected));
    }
    assert_eq!(of("read_profile")[0]["purpose"], json!("break_glass"));
    assert_eq!(of("read_history")[0]["subject_id"], json!(memory));
    for (action, actor) in
        [("verified", &by), ("command_verify", &by), ("consent_permit", &by), ("privacy_report", &by)]
    {
        assert_eq!(of(action).iter().filter(|entry| entry["actor"] == json!(actor)).count(), 1, "{action}: {found:?}");
    }
    for action in ["exported", "read_memories"] {
        let [one] = of(action)[..] else { panic!("{action}: {found:?}") };
        assert!(one["actor"].as_str().unwrap().starts_with("uid:"), "a process has a user where nobody is named");
    }
    // No content, for any read.
    let trail = format!("{found:?}").to_lowercase();
    assert!(["endometriosis", "vértigo", "sertralina", "suicid"].iter().all(|word| !trail.contains(word)));
}

async fn a_chain_is_proved_by_a_head_that_was_stored_elsewhere_and_a_cut_tail_is_seen(engine: TestEngine) {
    let program = Program::on(engine).await;
    ingested(&program);
    let witness = program.folder.path().join("heads.ndjson");
    let verify = |more: &[&str]| {
        let args = ["audit", "verify", "--output", "json"].iter().chain(more);
        let output = program.command(&[]).args(args).output().unwrap();
        let reports = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        let reports: Vec<Value> = reports.map(Result::unwrap).collect();
        (output.status.code().unwrap(), reports)
    };
    std::fs::write(&witness, run(&program, &[], &["audit", "heads", "--output", "json"])).unwrap();
    let heads = ["--heads", witness.to_str().unwrap()];
    let (code, reports) = verify(&[]);
    assert_eq!((code, &reports[0]["verdict"]), (3, &json!("unanchored")), "{reports:?}");
    let (code, reports) = verify(&heads);
    assert_eq!((code, &reports[0]["verdict"]), (0, &json!("witnessed")), "{reports:?}");
    // More is written and sealed: the old head still proves the earlier entries.
    let of = of_patient();
    let context: Vec<&str> = ["context"].into_iter().chain(of.iter().map(String::as_str)).collect();
    run(&program, &[], &context);
    std::fs::write(&witness, run(&program, &[], &["audit", "heads", "--output", "json"])).unwrap();
    assert_eq!(verify(&heads).0, 0);

    // The last block and its entries are deleted: the rest is consistent, but does not match the head.
    tamper(&program, &[
        "DELETE FROM action_audit WHERE block = (SELECT max(number) FROM audit_block WHERE org_id = action_audit.org_id)",
        "DELETE FROM audit_block WHERE number = (SELECT max(b.number) FROM audit_block AS b WHERE b.org_id = audit_block.org_id)",
    ])
    .await;
    let (code, reports) = verify(&[]);
    assert_eq!(code, 3, "without a head nobody can know: {reports:?}");
    let (code, reports) = verify(&heads);
    assert_eq!((code, &reports[0]["verdict"]), (5, &json!("diverged")), "{reports:?}");
    assert_eq!(reports[0]["findings"][0]["fault"], json!("head_missing"));
    // And one entry that is changed is named.
    tamper(&program, &["UPDATE action_audit SET action = 'read_profile' WHERE action = 'document_stored'"]).await;
    let (code, reports) = verify(&heads);
    assert_eq!((code, &reports[0]["verdict"]), (1, &json!("invalid")), "{reports:?}");
    let faults: Vec<&Value> =
        reports[0]["findings"].as_array().unwrap().iter().map(|finding| &finding["fault"]).collect();
    assert!(
        faults.contains(&&json!("entries_changed")) && faults.contains(&&json!("entry_not_authentic")),
        "{faults:?}"
    );
}

/// As a person who may write every table and has no key: on a server its administrator.
async fn tamper(program: &Program, statements: &[&str]) {
    if let Some(server) = &program.server {
        let mut connection = server.administrator().await;
        for sql in statements {
            let sql = format!("SET session_replication_role = replica; SET search_path = anamnesis; {sql}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        }
        return;
    }
    let store = program.store().await;
    let mut tx = store.db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
    for trigger in ["action_audit_kept", "action_audit_unchanged", "audit_block_kept"] {
        tx.execute(&leaked(format!("DROP TRIGGER IF EXISTS {trigger}")), Vec::new()).await.unwrap();
    }
    for sql in statements {
        tx.execute(&leaked((*sql).to_owned()), Vec::new()).await.unwrap();
    }
    tx.commit().await.unwrap();
    store.close().await;
}

fn leaked(sql: String) -> Sql {
    Sql::new(Box::leak(sql.into_boxed_str()))
}

/// A document with a risk, a consent, a switch of ephemeral mode, and a memory that a clinician verified.
fn verified(program: &Program) {
    ingested(program);
    let permit = json!({"organization_id": ORG, "patient_id": PATIENT, "scope": "research", "provision": "deny",
        "from": "2026-06-01T00:00:00Z", "until": null, "recorded_by": Uuid::from_u128(7)});
    let switch = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "ephemeral_off",
        "actor": {"id": Uuid::from_u128(7), "role": "patient"}, "issued_at": "2026-06-20T12:00:00Z"});
    let more =
        [event("c-1", "anamnesis.consent.recorded.v1", &permit), event("e-1", "anamnesis.memory.command.v1", &switch)];
    assert_eq!(counts(&program.ingest(&bodies(&more), &[]))["stored"], json!(2));
    let of = of_patient();
    let list: Vec<&str> =
        ["memory", "list", "--output", "json"].into_iter().chain(of.iter().map(String::as_str)).collect();
    let listed: Vec<Value> = serde_json::from_str(&run(program, &[], &list)).unwrap();
    let memory = listed[0]["memory_id"].as_str().unwrap();
    let by = Uuid::from_u128(7).to_string();
    let verify: Vec<&str> = ["memory", "verify", memory, "--by", &by, "--role", "clinician"]
        .into_iter()
        .chain(of.iter().map(String::as_str))
        .collect();
    run(program, &[], &verify);
}

async fn what_was_said_cannot_be_turned_round_unseen(engine: TestEngine) {
    let program = Program::on(engine).await;
    verified(&program);
    let mut day: chrono::NaiveDate = "2026-07-01".parse().unwrap();
    let mut reconciled = || reconcile(&program, &mut day);
    let calm = reconciled();
    assert_eq!((figure(&calm, "forged_rows"), figure(&calm, "uncovered_rows")), (0, 0), "{calm}");
    // The trail is complete for later entries.
    let later = [("ANAMNESIS__PIPELINE__NOW", "2026-07-02T13:00:00Z")];
    let note = document(9, 1, "2026-07-01T10:00:00Z", "Toma ramipril 5 mg al día.");
    assert_eq!(counts(&program.ingest(&bodies(&[note]), &later))["stored"], json!(1));
    for (turned, back) in [
        ("UPDATE risk_flag SET denied = 1 - denied", "UPDATE risk_flag SET denied = 1 - denied"),
        ("UPDATE risk_flag SET at = at + 1", "UPDATE risk_flag SET at = at - 1"),
        ("UPDATE extracted_findings SET negated = 1 - negated", "UPDATE extracted_findings SET negated = 1 - negated"),
        (
            "UPDATE extracted_findings SET asserted_at = asserted_at - 1",
            "UPDATE extracted_findings SET asserted_at = asserted_at + 1",
        ),
        ("UPDATE consent SET provision = 'permit'", "UPDATE consent SET provision = 'deny'"),
        ("UPDATE consent SET from_at = from_at - 1", "UPDATE consent SET from_at = from_at + 1"),
        ("UPDATE ephemeral_mode SET is_on = 1", "UPDATE ephemeral_mode SET is_on = 0"),
        ("UPDATE extracted_findings SET live = 0", "UPDATE extracted_findings SET live = 1"),
        ("UPDATE documents SET current = 0, retired_at = 1", "UPDATE documents SET current = 1, retired_at = NULL"),
        (
            "UPDATE memory_event SET source = 'patient' WHERE derived = 0",
            "UPDATE memory_event SET source = 'clinician' WHERE derived = 0",
        ),
        // A source that looks removed.
        (
            "UPDATE documents SET retention_state = 'summary_only', retention_state_at = 1785600000000000 \
             WHERE occurred_at > 1782800000000000",
            "UPDATE documents SET retention_state = NULL, retention_state_at = NULL",
        ),
        ("UPDATE documents SET risks = risks + 1", "UPDATE documents SET risks = risks - 1"),
        ("UPDATE documents SET language = 'en'", "UPDATE documents SET language = 'es'"),
        (
            "UPDATE extracted_findings SET tombstone_of = id WHERE asserted_at > 1782800000000000",
            "UPDATE extracted_findings SET tombstone_of = NULL",
        ),
    ] {
        tamper(&program, &[turned]).await;
        let report = reconciled();
        assert!(figure(&report, "forged_rows") > 0, "{turned}: {report}");
        tamper(&program, &[back]).await;
        // Memories that were projected from it meanwhile are projected correctly again.
        reconciled();
        let report = reconciled();
        assert_eq!(figure(&report, "forged_rows"), 0, "{back}: {report}");
    }
    // A row that lost its hash is no row of an older version.
    tamper(&program, &["UPDATE risk_flag SET denied = 1 - denied, mac = NULL"]).await;
    let report = reconciled();
    assert!(figure(&report, "forged_rows") > 0 && figure(&report, "uncovered_rows") == 0, "{report}");
}

async fn what_is_made_of_what_was_said_is_made_right_and_what_was_deleted_is_missed(engine: TestEngine) {
    let program = Program::on(engine).await;
    verified(&program);
    let mut day: chrono::NaiveDate = "2026-07-01".parse().unwrap();
    let mut reconciled = || reconcile(&program, &mut day);
    assert_eq!(figure(&reconciled(), "forged_rows"), 0);
    // Rows that derive from the log are repaired and counted.
    for (turned, counted) in [
        ("UPDATE memory SET state = 'resolved' WHERE state = 'active' AND kind <> 'raw'", "memories"),
        ("UPDATE memory SET negated = 1 - negated WHERE kind <> 'raw'", "memories"),
        ("UPDATE memory SET experiencer = 'family' WHERE kind <> 'raw'", "memories"),
        ("UPDATE memory SET trust = 5 WHERE kind <> 'raw'", "memories"),
        ("UPDATE memory SET last_confirmed_at = 1 WHERE kind <> 'raw'", "memories"),
        ("UPDATE memory SET ends_at = 1 WHERE kind <> 'raw'", "memories"),
        ("UPDATE memory SET content_sealed = NULL WHERE kind <> 'raw'", "memories"),
        ("UPDATE medications SET status = 'stopped'", "clinical_rows"),
        ("UPDATE medications SET until = 1", "clinical_rows"),
        ("UPDATE medications SET since = 1", "clinical_rows"),
    ] {
        tamper(&program, &[turned]).await;
        let report = reconciled();
        assert!(figure(&report, counted) > 0, "{turned}: {report}");
        assert_eq!(figure(&reconciled(), counted), 0, "{turned}: it is right again");
    }
    // So is the day on which a source is removed.
    let org = ORG.to_string();
    for turned in [
        "UPDATE documents SET retention_due_at = NULL",
        "UPDATE documents SET retention_due_at = retention_due_at + 900000000000000",
    ] {
        let calm = reconciled();
        let (as_of, now) = (calm["as_of"].as_str().unwrap(), format!("{}T12:00:00Z", calm["as_of"].as_str().unwrap()));
        let retention = ["job", "run", "retention", "--org", &org, "--as-of", as_of];
        run(&program, &[("ANAMNESIS__PIPELINE__NOW", now.as_str())], &retention);
        assert_eq!(figure(&reconciled(), "due_days"), 0);
        tamper(&program, &[turned]).await;
        assert!(figure(&reconciled(), "due_days") > 0, "{turned}");
        assert_eq!(figure(&reconciled(), "due_days"), 0, "{turned}: it is found anew");
    }
    // Deleted rows, and an act that is changed to look like one of the projection, leave their entries.
    for (gone, forged) in [
        ("DELETE FROM risk_flag", 1),
        ("UPDATE memory_event SET derived = 1 WHERE derived = 0", 2),
        // With its findings and its raw capture.
        ("DELETE FROM documents", 3),
    ] {
        tamper(&program, &[gone]).await;
        reconciled();
        assert_eq!(figure(&reconciled(), "forged_rows"), forged, "{gone}");
    }
}

/// A run of reconciliation on the day after, over all patients.
fn reconcile(program: &Program, day: &mut chrono::NaiveDate) -> Value {
    *day = day.succ_opt().unwrap();
    let (org, as_of) = (ORG.to_string(), day.to_string());
    let args = ["job", "run", "reconciliation", "--org", &org, "--as-of", &as_of, "--output", "json"];
    let now = format!("{as_of}T12:00:00Z");
    let printed = run(program, &[("ANAMNESIS__PIPELINE__NOW", now.as_str())], &args);
    serde_json::from_str::<Value>(printed.lines().next_back().unwrap()).unwrap()
}

fn figure(report: &Value, name: &str) -> u64 {
    find(report, name).unwrap_or_else(|| panic!("{name}: {report}"))
}

/// A patient with a profile, two consents, a switched ephemeral mode, a released hold and one in force, an erased
/// document, and a quarantined message.
fn acted_upon(program: &Program) {
    let (patient, by) = (PATIENT.to_string(), Uuid::from_u128(7).to_string());
    let profile = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(7), "recorded_at": "2026-06-19T10:00:00Z",
        "cognitive_state": 80.0, "region": "ES-MD", "privacy_tier": "cold_archive", "emergency_contacts": [{"reference": "c-1"}]});
    let consent = |provision: &str, scope: &str| {
        json!({"organization_id": ORG, "patient_id": PATIENT, "scope": scope, "provision": provision,
            "from": "2026-06-01T00:00:00Z", "recorded_by": PATIENT})
    };
    let switch = |command: &str, at: &str| {
        json!({"organization_id": ORG, "patient_id": PATIENT, "command": command,
            "actor": {"id": PATIENT, "role": "patient"}, "issued_at": at})
    };
    let consented = "anamnesis.consent.recorded.v1";
    let commanded = "anamnesis.memory.command.v1";
    let lines = [
        document(1, 1, "2026-06-20T10:00:00Z", TEXT),
        document(2, 1, "2026-06-21T10:00:00Z", "Refiere insomnio."),
        document(4, 1, "2026-06-21T10:00:00Z", "Refiere cefalea."),
        event("p-1", "anamnesis.profile.updated.v1", &profile),
        event("c-1", consented, &consent("permit", "memory")),
        event("c-2", consented, &consent("deny", "research")),
        event("e-1", commanded, &switch("ephemeral_on", "2026-06-22T10:00:00Z")),
        event("e-2", commanded, &switch("ephemeral_off", "2026-06-22T11:00:00Z")),
    ];
    let done = counts(&program.ingest(&bodies(&lines), &[]));
    assert_eq!(done["stored"], json!(8), "{done}");
    let org = ORG.to_string();
    let of = ["--org", &org, "--patient", &patient];
    let verb = |args: &[&str]| run(program, &[], &[args, &of].concat());
    let set = verb(&["hold", "set", "--by", &by, "--output", "json"]);
    let hold = serde_json::from_str::<Value>(&set).unwrap();
    let hold = hold["hold_id"].as_str().unwrap_or_else(|| panic!("{set}")).to_owned();
    verb(&["hold", "lift", &hold, "--by", &by]);
    for erased in [2, 4] {
        verb(&["erase", "--document", &Uuid::from_u128(erased).to_string(), "--by", &by]);
    }
    let kept = Uuid::from_u128(1).to_string();
    verb(&["hold", "set", "--document", &kept, "--by", &by]);
    run(program, &[], &["org", "set", "--org", &org, "--country", "ES", "--consent-required", "true"]);
}

async fn what_people_did_and_set_cannot_be_turned_round_unseen(engine: TestEngine) {
    let program = Program::on(engine).await;
    acted_upon(&program);
    let mut day: chrono::NaiveDate = "2026-07-01".parse().unwrap();
    let calm = reconcile(&program, &mut day);
    assert_eq!((figure(&calm, "forged_rows"), figure(&calm, "uncovered_rows")), (0, 0), "{calm}");
    let wrong = bodies(&[document(3, 1, "2036-06-20T10:00:00Z", "Refiere vértigo.")]);
    let afterwards = [("ANAMNESIS__PIPELINE__NOW", "2026-07-02T13:00:00Z")];
    assert_eq!(counts(&program.ingest(&wrong, &afterwards))["quarantined"], json!(1));
    let pairs = [
        // A hold is released by no one, another one loses its release, or covers another document than before.
        (
            "UPDATE legal_hold SET lifted_at = 1782000000000000, lifted_by = set_by WHERE lifted_at IS NULL",
            "UPDATE legal_hold SET lifted_at = NULL, lifted_by = NULL WHERE lifted_at = 1782000000000000",
        ),
        ("UPDATE legal_hold SET set_at = set_at - 1", "UPDATE legal_hold SET set_at = set_at + 1"),
        (
            "UPDATE legal_hold SET lifted_at = lifted_at - 900000000000",
            "UPDATE legal_hold SET lifted_at = lifted_at + 900000000000",
        ),
        ("UPDATE erasure SET what = 'memory'", "UPDATE erasure SET what = 'document'"),
        ("UPDATE erasure SET requested_at = requested_at - 1", "UPDATE erasure SET requested_at = requested_at + 1"),
        ("UPDATE quarantine SET state = 'retried'", "UPDATE quarantine SET state = 'open'"),
        ("UPDATE quarantine SET state = 'dropped'", "UPDATE quarantine SET state = 'open'"),
        ("UPDATE documents SET document_type = 'chat_message'", "UPDATE documents SET document_type = 'clinical_note'"),
        ("UPDATE documents SET occurred_at = occurred_at - 1", "UPDATE documents SET occurred_at = occurred_at + 1"),
        ("UPDATE profile_statement SET cognitive_state = 10", "UPDATE profile_statement SET cognitive_state = 80"),
        ("UPDATE patient_profile SET cognitive_state = 10", "UPDATE patient_profile SET cognitive_state = 80"),
        (
            "UPDATE patient_profile SET privacy_tier = 'drop_source'",
            "UPDATE patient_profile SET privacy_tier = 'cold_archive'",
        ),
        ("UPDATE patient_profile SET country = 'US'", "UPDATE patient_profile SET country = 'ES'"),
        ("UPDATE patient_profile SET ephemeral = 1", "UPDATE patient_profile SET ephemeral = 0"),
        ("UPDATE organization SET consent_required = 0", "UPDATE organization SET consent_required = 1"),
        ("UPDATE organization SET country = 'US'", "UPDATE organization SET country = 'ES'"),
        // A run that failed looks done, one is made to last for ever, and one is made up so that it is never run.
        ("UPDATE job_run SET state = 'failed'", "UPDATE job_run SET state = 'done'"),
        ("UPDATE job_run SET wake_at = 9000000000000000", "UPDATE job_run SET wake_at = NULL"),
        (
            "INSERT INTO job_run (org_id, job, as_of, cutoff_at, state, owner, fence, attempts, started_at, finished_at, created_at, \
             updated_at) SELECT org_id, 'reconciliation', '2027-01-01', cutoff_at, 'done', owner, 1, 0, 1, 1, 1, 1 FROM job_run \
             WHERE as_of = '2026-07-02'",
            "DELETE FROM job_run WHERE as_of = '2027-01-01'",
        ),
    ];
    for (turned, back) in pairs {
        tamper(&program, &[turned]).await;
        // A run that is made up keeps the job from running: workers see it without one.
        let seen = program.store().await.stats().collect_stats().await.unwrap().forged_rows;
        assert_eq!(seen > 0, turned.contains("job_run"), "{turned}: {seen}");
        let report = reconcile(&program, &mut day);
        assert!(figure(&report, "forged_rows") > 0, "{turned}: {report}");
        tamper(&program, &[back]).await;
        let report = reconcile(&program, &mut day);
        assert_eq!(figure(&report, "forged_rows"), 0, "{back}: {report}");
    }
    // Rows that are deleted leave the entries of the acts that made them; a hash that was taken away is of no older version.
    for gone in [
        "UPDATE quarantine SET created_at = 0",
        "UPDATE patient_profile SET emergency_contacts_sealed = region_sealed",
        "DELETE FROM legal_hold WHERE lifted_at IS NULL",
        "DELETE FROM erasure WHERE id = (SELECT id FROM erasure ORDER BY id LIMIT 1)",
        "DELETE FROM consent WHERE provision = 'deny'",
        "DELETE FROM ephemeral_mode WHERE is_on = 1",
        "UPDATE legal_hold SET mac = NULL",
        "UPDATE documents SET mac = NULL",
        "UPDATE profile_statement SET mac = NULL",
        "UPDATE organization SET mac = NULL",
        "UPDATE erasure SET counts = 'none', mac = NULL",
    ] {
        let before = figure(&reconcile(&program, &mut day), "forged_rows");
        tamper(&program, &[gone]).await;
        let report = reconcile(&program, &mut day);
        assert!(figure(&report, "forged_rows") > before, "{gone}: {before}, {report}");
        assert_eq!(figure(&report, "uncovered_rows"), 0, "{gone}: {report}");
    }
}

/// Entries that expire are no forgery: neither for acts, nor for state that is older than they are.
async fn what_the_term_of_the_trail_takes_is_no_forgery_and_a_hold_outlives_it(engine: TestEngine) {
    let program = Program::on(engine).await;
    acted_upon(&program);
    // Its first block.
    run(&program, &[], &["audit", "heads"]);
    let mut day: chrono::NaiveDate = "2026-07-01".parse().unwrap();
    assert_eq!(figure(&reconcile(&program, &mut day), "forged_rows"), 0);
    for year in [2027, 2029, 2031] {
        day = chrono::NaiveDate::from_ymd_opt(year, 7, 1).unwrap();
        assert_eq!(figure(&reconcile(&program, &mut day), "forged_rows"), 0, "{year}");
    }
    let org = ORG.to_string();
    let later = [("ANAMNESIS__PIPELINE__NOW", "2032-08-01T12:00:00Z")];
    run(&program, &later, &["audit", "heads"]);
    run(&program, &later, &["job", "run", "upkeep", "--org", &org, "--as-of", "2032-08-01"]);
    let store = program.store().await;
    let erased = "SELECT count(*) FROM action_audit WHERE action = 'erase' AND outcome = 'done'";
    assert_eq!(count(&store, erased).await, 0, "the entries are past their term");
    assert_eq!(count(&store, "SELECT count(*) FROM erasure").await, 2, "the receipts are not");
    store.close().await;
    day = "2032-08-02".parse().unwrap();
    let calm = reconcile(&program, &mut day);
    assert_eq!((figure(&calm, "forged_rows"), figure(&calm, "uncovered_rows")), (0, 0), "{calm}");
    tamper(&program, &["DELETE FROM legal_hold WHERE lifted_at IS NULL"]).await;
    let report = reconcile(&program, &mut day);
    assert!(figure(&report, "forged_rows") > 0, "{report}");
}

async fn an_account_that_is_written_again_or_goes_is_no_forgery(engine: TestEngine) {
    let program = Program::on(engine).await;
    let lines: Vec<Value> =
        (1..=6u128).map(|n| document(n, 1, &format!("2026-06-{:02}T10:00:00Z", 7 + 3 * n), TEXT)).collect();
    assert_eq!(counts(&program.ingest(&bodies(&lines), &[]))["stored"], json!(6));
    let org = ORG.to_string();
    let job = |name: &str, as_of: &str| {
        let next = as_of.parse::<chrono::NaiveDate>().unwrap().succ_opt().unwrap();
        let now = format!("{next}T12:00:00Z");
        run(
            &program,
            &[("ANAMNESIS__PIPELINE__NOW", now.as_str())],
            &["job", "run", name, "--org", &org, "--as-of", as_of],
        );
    };
    job("summaries", "2026-07-02");
    let store = program.store().await;
    let accounts = "SELECT count(*) FROM documents WHERE document_type = 'analysis' AND current = 1";
    let written = count(&store, accounts).await;
    assert!(written > 0);
    store.close().await;
    let mut day: chrono::NaiveDate = "2026-07-02".parse().unwrap();
    assert_eq!(figure(&reconcile(&program, &mut day), "forged_rows"), 0);
    // Late statements move the end of a summary; forgetting removes summaries.
    let late = [document(7, 1, "2026-06-27T18:00:00Z", "Refiere cefalea intensa. Toma ibuprofeno 400 mg.")];
    let settings = [("ANAMNESIS__PIPELINE__NOW", "2026-07-04T12:00:00Z")];
    assert_eq!(counts(&program.ingest(&bodies(&late), &settings))["stored"], json!(1));
    job("summaries", "2026-07-05");
    assert_eq!(figure(&reconcile(&program, &mut day), "forged_rows"), 0);
    let of = of_patient();
    let list: Vec<&str> =
        ["memory", "list", "--output", "json"].into_iter().chain(of.iter().map(String::as_str)).collect();
    let listed: Vec<Value> = serde_json::from_str(&run(&program, &settings, &list)).unwrap();
    let ids = listed.iter().filter_map(|memory| memory["memory_id"].as_str());
    let by = Uuid::from_u128(7).to_string();
    let forget: Vec<&str> = ["memory", "forget", "--by", &by, "--role", "clinician"]
        .into_iter()
        .chain(of.iter().map(String::as_str))
        .chain(ids)
        .collect();
    run(&program, &settings, &forget);
    job("summaries", "2026-07-06");
    let store = program.store().await;
    assert!(count(&store, accounts).await < written, "accounts went");
    store.close().await;
    let report = reconcile(&program, &mut day);
    assert_eq!(figure(&report, "forged_rows"), 0, "{report}");
}

async fn a_policy_that_was_changed_outside_the_program_is_not_made_its_own_unseen(engine: TestEngine) {
    let program = Program::on(engine).await;
    acted_upon(&program);
    tamper(&program, &["UPDATE organization SET consent_required = 0"]).await;
    let org = ORG.to_string();
    let set = ["org", "set", "--org", &org, "--time-zone", "Europe/Madrid"];
    let output = program.command(&[]).args(set).output().unwrap();
    assert!(!output.status.success() && printed(&output).contains("--seen"), "{}", printed(&output));
    let mut day: chrono::NaiveDate = "2026-07-01".parse().unwrap();
    assert!(figure(&reconcile(&program, &mut day), "forged_rows") > 0);
    // Nor one whose hash was taken away.
    tamper(&program, &["UPDATE organization SET mac = NULL"]).await;
    let output = program.command(&[]).args(set).output().unwrap();
    assert!(!output.status.success() && printed(&output).contains("--seen"), "{}", printed(&output));
    run(&program, &[], &[&set[..], &["--consent-required", "true", "--seen"]].concat());
    assert_eq!(figure(&reconcile(&program, &mut day), "forged_rows"), 0);
}

/// A figure of a report, however deep it lies.
fn find(report: &Value, name: &str) -> Option<u64> {
    match report {
        Value::Object(fields) => {
            fields.get(name).and_then(Value::as_u64).or_else(|| fields.values().find_map(|below| find(below, name)))
        }
        Value::Array(items) => items.iter().find_map(|below| find(below, name)),
        _ => None,
    }
}

async fn a_worker_seals_what_was_written_and_keeps_the_heads_elsewhere(engine: TestEngine) {
    let program = Program::on(engine).await;
    ingested(&program);
    let heads = program.folder.path().join("witness.ndjson");
    let settings = [("ANAMNESIS__AUDIT__HEAD_FILE", heads.to_str().unwrap()), ("ANAMNESIS__AUDIT__SEAL_SECONDS", "5")];
    let worker = Running::start(&program, &settings).await;
    until("the trail is sealed", async || heads.exists()).await;
    let metrics = worker.get("/metrics").await.unwrap().1;
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find(|line| line.split_whitespace().next().is_some_and(|series| series == name));
        line.unwrap_or_else(|| panic!("{name}")).split_whitespace().last().unwrap().parse().unwrap()
    };
    assert!(value("anamnesis_audit_entries_sealed_total") >= 1.0);
    assert_eq!(value("anamnesis_audit_entries_not_authentic_total"), 0.0);
    let shown = run(&program, &[], &["audit", "heads"]);
    let gauge = shown.lines().find_map(|line| line.strip_prefix("anamnesis_audit_head ")).unwrap();
    assert_eq!(value("anamnesis_audit_head"), gauge.parse::<f64>().unwrap(), "the gauge is the head");
    assert_eq!(worker.end(), Some(0));
    let org = ORG.to_string();
    let events =
        ["events", "list", "--state", "all", "--org", &org, "--type", "anamnesis.audit.sealed.v1", "--output", "json"];
    let announced = run(&program, &[], &events);
    assert_eq!(announced.matches("audit.sealed").count(), 1, "one event for the blocks of an hour: {announced}");
    assert_eq!(
        run(&program, &[], &["audit", "verify", "--heads", heads.to_str().unwrap()]).matches("witnessed").count(),
        1
    );
    // The daily check of a worker finds changes in a sealed block.
    tamper(&program, &["UPDATE action_audit SET action = 'read_profile' WHERE action = 'document_stored'"]).await;
    let worker = Running::start(&program, &settings).await;
    until("the change is found", async || worker.metric("anamnesis_audit_faults").await > 0.0).await;
    assert_eq!(worker.end(), Some(0));
}

async fn an_erased_entry_names_no_one_and_the_chain_is_whole(engine: TestEngine) {
    let program = Program::on(engine).await;
    ingested(&program);
    let of = of_patient();
    let args = |verb: &[&str], more: &[&str]| -> Vec<String> {
        verb.iter()
            .map(|word| (*word).to_owned())
            .chain(of.clone())
            .chain(more.iter().map(|word| (*word).to_owned()))
            .collect()
    };
    let run_all = |settings: &[(&str, &str)], args: Vec<String>| {
        run(&program, settings, &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    run_all(&[], args(&["context"], &["--reader", "dr-perez"]));
    let witness = program.folder.path().join("heads.ndjson");
    std::fs::write(&witness, run(&program, &[], &["audit", "heads", "--output", "json"])).unwrap();
    let officer = Uuid::from_u128(9).to_string();
    let url = program.server.as_ref().map(|server| server.url(Some("test_audit"))).unwrap_or_default();
    let as_officer = [("ANAMNESIS__STORE__URL", url.as_str())];
    let erased = run_all(&as_officer, args(&["audit", "erase"], &["--by", &officer, "--output", "json"]));
    let erased: Value = serde_json::from_str(&erased).unwrap();
    assert!(erased["erased"].as_u64().unwrap() >= 2, "{erased}");
    assert_eq!(entries(&program), Vec::<Value>::new(), "nothing names the patient");
    let org = ORG.to_string();
    let all = run(&program, &[], &["audit", "list", "--org", &org, "--output", "json"]);
    // To ask for the entries of the patient is a further read.
    let all: Vec<Value> = serde_json::from_str(&all).unwrap();
    let all = format!("{:?}", all.iter().filter(|entry| entry["action"] != "read_audit").collect::<Vec<_>>());
    assert!(!all.contains("dr-perez") && !all.contains(&PATIENT.to_string()), "{all}");
    assert!(all.contains("audit_erased") && all.contains(&officer), "{all}");
    let verified = run(&program, &[], &["audit", "verify", "--heads", witness.to_str().unwrap()]);
    assert!(verified.contains("witnessed"), "{verified}");
    // An entry that is made to look erased is seen: nothing says that it was.
    tamper(
        &program,
        &["UPDATE action_audit SET erased_by = (SELECT a.id FROM action_audit AS a WHERE a.action = 'audit_erased'), \
         leaf = salt WHERE action = 'audit_erased'"],
    )
    .await;
    let output = program.command(&[]).args(["audit", "verify"]).output().unwrap();
    assert!(!output.status.success(), "{}", printed(&output));
}

async fn entries_go_after_their_term_and_never_before(engine: TestEngine) {
    let program = Program::on(engine).await;
    ingested(&program);
    let witness = program.folder.path().join("heads.ndjson");
    std::fs::write(&witness, run(&program, &[], &["audit", "heads", "--output", "json"])).unwrap();
    let org = ORG.to_string();
    let later = [("ANAMNESIS__PIPELINE__NOW", "2032-08-01T12:00:00Z")];
    let soon = [("ANAMNESIS__PIPELINE__NOW", "2026-07-02T12:00:00Z")];
    let upkeep = |settings: &[(&str, &str)], as_of: &str| {
        run(&program, settings, &["job", "run", "upkeep", "--org", &org, "--as-of", as_of, "--output", "json"])
    };
    let store = program.store().await;
    let held = async || count(&store, "SELECT count(*) FROM action_audit WHERE action = 'document_stored'").await;
    upkeep(&soon, "2026-07-01");
    assert_eq!(held().await, 1, "its term has not run");
    upkeep(&later, "2032-08-01");
    assert_eq!(held().await, 0, "six years and more");
    let verify = ["audit", "verify", "--heads", witness.to_str().unwrap()];
    assert!(run(&program, &later, &verify).contains("witnessed"), "the block's hash is still in the chain");
    // Read as of today, the same rows are removed too early.
    let output = program.command(&[]).args(verify).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(printed(&output).contains("purged_too_early"), "{}", printed(&output));
}

async fn the_jobs_have_a_role_of_their_own_that_cannot_change_what_came_in(engine: TestEngine) {
    let program = Program::on(engine).await;
    let lines = bodies(&[document(1, 1, "2026-06-30T10:00:00Z", TEXT)]);
    assert_eq!(counts(&program.ingest(&lines, &[]))["stored"], json!(1));
    let Some(server) = &program.server else { return };
    let url = server.url(Some("test_jobs"));
    let settings = [("ANAMNESIS__STORE__JOBS_URL", url.as_str()), ("ANAMNESIS__PIPELINE__NOW", "2026-10-02T12:00:00Z")];
    let org = ORG.to_string();
    let job = ["job", "run", "expiry", "--org", &org, "--as-of", "2026-09-01", "--output", "json"];
    let report: Value = serde_json::from_str(run(&program, &settings, &job).lines().next_back().unwrap()).unwrap();
    assert!(find(&report, "changed").unwrap() > 0, "{report}");
    // The same job under a role that may not change memories: the role is the one that is named.
    let read = server.url(Some("test_read"));
    let refused = program
        .command(&[("ANAMNESIS__STORE__JOBS_URL", read.as_str()), ("ANAMNESIS__PIPELINE__NOW", "2026-10-02T12:00:00Z")])
        .args(["job", "run", "expiry", "--org", &org, "--as-of", "2026-10-01"])
        .output()
        .unwrap();
    assert!(!refused.status.success(), "{}", printed(&refused));
}

async fn a_read_without_a_reader_is_refused_where_the_configuration_asks_for_one(engine: TestEngine) {
    let program = Program::on(engine).await;
    ingested(&program);
    let of = of_patient();
    let strict = [("ANAMNESIS__AUDIT__REQUIRE_READER", "true"), ("ANAMNESIS__AUDIT__READS", "before")];
    let context = |more: &[&str]| program.command(&strict).arg("context").args(&of).args(more).output().unwrap();
    let refused = context(&[]);
    assert_eq!(refused.status.code(), Some(2), "{}", printed(&refused));
    assert!(!printed(&refused).contains("endometriosis"));
    let read = context(&["--reader", "dr-perez", "--purpose", "treatment"]);
    assert!(read.status.success() && printed(&read).contains("endometriosis"), "{}", printed(&read));
    let asked: Vec<Value> = entries(&program).into_iter().filter(|entry| entry["action"] == "read_context").collect();
    assert_eq!((asked.len(), &asked[0]["outcome"]), (1, &json!("asked")));
    // Where the trail cannot be written, nothing is shown.
    if let Some(server) = &program.server {
        let mut connection = server.administrator().await;
        let revoke = "REVOKE INSERT ON anamnesis.action_audit FROM anamnesis_app";
        sqlx::raw_sql(sqlx::AssertSqlSafe(revoke)).execute(&mut connection).await.unwrap();
        let unwritten = context(&["--reader", "dr-perez", "--purpose", "treatment"]);
        assert!(
            !unwritten.status.success() && !printed(&unwritten).contains("endometriosis"),
            "{}",
            printed(&unwritten)
        );
    }
}

async fn an_entry_that_is_written_outside_the_program_is_seen_before_it_is_sealed(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    let org = scope().org();
    let forged = "INSERT INTO action_audit (org_id, patient_id, id, at, actor, action, outcome, salt, created_at, updated_at) \
                  SELECT org_id, patient_id, $2, at, 'dr-perez', 'read_context', 'done', salt, created_at, updated_at \
                  FROM action_audit WHERE org_id = $1 AND action = 'document_stored'";
    let mut tx = store.db().begin(Access::Organization(org)).await.unwrap();
    tx.execute(&Sql::new(forged), vec![org.0.into(), Uuid::from_u128(0xf0).into()]).await.unwrap();
    tx.commit().await.unwrap();
    let sealed = store.audit_trail().seal_audit(org).await.unwrap();
    assert_eq!((sealed.entries, sealed.not_authentic), (2, 1));
    let report = store.audit_trail().check_audit(org, &[], DateTime::UNIX_EPOCH).await.unwrap();
    assert_eq!((report.verdict, report.findings[0].fault), (ChainVerdict::Invalid, ChainFault::EntryNotAuthentic));
}

/// Random changes of stored rows, each made, searched and undone: 300, or 10,000 in the long tests.
#[tokio::test(flavor = "multi_thread")]
async fn no_change_of_the_trail_stays_unseen() {
    let clinic = Clinic::on(TestEngine::File).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let org = scope().org();
    for some in 0..3 {
        let notes: Vec<Value> = (1..=6).map(|n| document(10 * some + n, 1, "2026-06-20T10:00:00Z", TEXT)).collect();
        feed(&pipeline, &bodies(&notes), 6).await;
        let done = AuditedAction::to(scope(), "read_context");
        store.audit_trail().audit(&anamnesis_core::audit::Actor::program("dr-perez"), done).await.unwrap();
        store.audit_trail().seal_audit(org).await.unwrap();
    }
    let heads = store.audit_trail().audit_heads(&[org], store.clock().now()).await.unwrap();
    let check =
        async |store: &Store| store.audit_trail().check_audit(org, &heads, DateTime::UNIX_EPOCH).await.unwrap().verdict;
    assert_eq!(check(store).await, ChainVerdict::Witnessed);
    let mut tx = store.db().begin(Access::Organization(org)).await.unwrap();
    for trigger in ["action_audit_kept", "action_audit_unchanged", "audit_block_kept"] {
        tx.execute(&leaked(format!("DROP TRIGGER {trigger}")), Vec::new()).await.unwrap();
    }
    tx.commit().await.unwrap();
    let long = std::env::var_os("ANAMNESIS_TEST_LONG").is_some();
    let mut random = SplitMix(0x5eed);
    for _ in 0..if long { 10_000 } else { 300 } {
        let change = ChangedRow::any(&mut random, store).await;
        change.make(store).await;
        let verdict = check(store).await;
        assert!(matches!(verdict, ChainVerdict::Invalid | ChainVerdict::Diverged), "{change:?}: {verdict}");
        change.take_back(store).await;
    }
    assert_eq!(check(store).await, ChainVerdict::Witnessed, "each was taken back");
}

/// SplitMix64.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap()
    }
}

const ENTRY: &[&str] = &[
    "org_id",
    "patient_id",
    "id",
    "at",
    "actor",
    "role",
    "purpose",
    "reason",
    "action",
    "subject_id",
    "outcome",
    "salt",
    "block",
];
const BLOCK: &[&str] = &["org_id", "number", "entries", "sealed_at", "leaves", "previous", "hash"];

/// One row before and after.
#[derive(Debug)]
struct ChangedRow {
    table: &'static str,
    columns: &'static [&'static str],
    before: Vec<anamnesis_sql::SqlValue>,
    /// `None`: the row is deleted.
    after: Option<Vec<anamnesis_sql::SqlValue>>,
    /// The row is added, and the one before stays.
    added: bool,
}

impl ChangedRow {
    async fn any(random: &mut SplitMix, store: &Store) -> Self {
        use anamnesis_sql::SqlValue;
        let (table, columns, sql) = if random.below(4) == 0 {
            ("audit_block", BLOCK, "SELECT org_id, number, entries, sealed_at, leaves, previous, hash FROM audit_block")
        } else {
            (
                "action_audit",
                ENTRY,
                "SELECT org_id, patient_id, id, at, actor, role, purpose, reason, action, subject_id, outcome, salt, block \
                 FROM action_audit",
            )
        };
        let all: Vec<Row> = rows(store, sql).await;
        let before = all[random.below(all.len())].0.clone();
        if random.below(5) == 0 {
            return Self { table, columns, before, after: None, added: false };
        }
        let mut after = before.clone();
        // An added row has a new key.
        let added = table == "action_audit" && random.below(6) == 0;
        let place = if added { 2 } else { 1 + random.below(columns.len() - 1) };
        after[place] = match &before[place] {
            SqlValue::Null => SqlValue::Text("x".to_owned()),
            SqlValue::I64(v) if *v == 0 => SqlValue::I64(7),
            // A block that is there keeps its number.
            SqlValue::I64(v) if columns[place] == "number" => SqlValue::I64(v + 1_000),
            SqlValue::I64(v) => SqlValue::I64(v + 1 + i64::try_from(random.below(3)).unwrap()),
            SqlValue::F64(v) => SqlValue::F64(v + 1.0),
            SqlValue::Text(v) => SqlValue::Text(format!("{v}x")),
            SqlValue::Blob(v) => {
                let mut bytes = v.clone();
                let (at, bit) = (random.below(bytes.len()), random.below(8));
                bytes[at] ^= 1 << bit;
                SqlValue::Blob(bytes)
            }
        };
        if matches!((columns[place], &after[place]), ("subject_id", SqlValue::Text(_))) {
            after[place] = SqlValue::Blob(vec![1; 16]);
        }
        Self { table, columns, before, after: Some(after), added }
    }

    async fn make(&self, store: &Store) {
        if !self.added {
            self.delete(store, &self.before).await;
        }
        if let Some(after) = &self.after {
            self.insert(store, after).await;
        }
    }

    async fn take_back(&self, store: &Store) {
        if let Some(after) = &self.after {
            self.delete(store, after).await;
        }
        if !self.added {
            self.insert(store, &self.before).await;
        }
    }

    async fn delete(&self, store: &Store, row: &[anamnesis_sql::SqlValue]) {
        let key = if self.table == "audit_block" { "number" } else { "id" };
        let place = self.columns.iter().position(|column| *column == key).unwrap();
        let mut tx = store.db().begin(Access::Organization(scope().org())).await.unwrap();
        let sql = leaked(format!("DELETE FROM {} WHERE {key} = $1", self.table));
        assert_eq!(tx.execute(&sql, vec![arg(&row[place])]).await.unwrap(), 1);
        tx.commit().await.unwrap();
    }

    async fn insert(&self, store: &Store, row: &[anamnesis_sql::SqlValue]) {
        let places: Vec<String> = (1..=self.columns.len()).map(|n| format!("${n}")).collect();
        let (times, values) =
            if self.table == "audit_block" { ("", "") } else { (", created_at, updated_at", ", 0, 0") };
        let sql = leaked(format!(
            "INSERT INTO {} ({}{times}) VALUES ({}{values})",
            self.table,
            self.columns.join(", "),
            places.join(", ")
        ));
        let mut tx = store.db().begin(Access::Organization(scope().org())).await.unwrap();
        tx.execute(&sql, row.iter().map(arg).collect()).await.unwrap();
        tx.commit().await.unwrap();
    }
}

fn arg(cell: &anamnesis_sql::SqlValue) -> Arg {
    use anamnesis_sql::SqlValue;
    match cell {
        SqlValue::Null => Arg::Null,
        SqlValue::I64(v) => (*v).into(),
        SqlValue::F64(v) => (*v).into(),
        SqlValue::Text(v) => v.as_str().into(),
        SqlValue::Blob(v) => v.clone().into(),
    }
}
