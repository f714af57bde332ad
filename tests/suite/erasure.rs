//! Erased data are nowhere: in no table, no quarantine, no file, under no key. Late messages about them are rejected.
//! Nothing remains after a crash, a hold, a batch in progress or a restored backup.

use anamnesis_core::ids::{DocumentId, MemoryId, PatientId};
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_pipeline::Disposition;
use anamnesis_pipeline::erasure::{ErasureError, ErasureOutcome, erase};
use anamnesis_sql::{Access, Sql};
use anamnesis_store::erasure::{ErasureRequest, ErasureSubject};
use anamnesis_store::read::{MemoryFilter, ReadInstant};
use anamnesis_store::records::{InboxEntry, MessageAct, OrgBatch};
use anamnesis_store::{Store, StoreError};
use serde_json::{Value, json};
use uuid::Uuid;

use super::canary::{search_files, search_server};
use super::spool::originals;
use super::support::{
    Clinic, ORG, PATIENT, TestEngine, bodies, count, document, event, feed, on_every_engine, on_every_program, samples,
    scope,
};
use super::support::{Program, counts};
use super::worker::{Running, until};

on_every_engine!(
    a_patient_who_is_erased_has_no_row_anywhere_and_others_keep_theirs,
    a_message_erases_as_the_verb_does_and_is_done_once,
    a_message_that_comes_late_is_refused_and_nothing_of_it_is_stored,
    what_waits_in_quarantine_goes_too,
    a_hold_blocks_and_the_command_can_be_offered_again,
    an_erasure_that_was_cut_off_goes_on,
    what_two_ways_ask_for_is_erased_once_and_both_receipts_end,
    a_part_that_went_with_its_patient_ends_and_holds_no_other_erasure_up,
    a_receipt_that_this_program_did_not_write_is_not_carried_out,
    a_batch_under_way_when_the_patient_is_erased_writes_nothing,
    words_of_an_erased_memory_leave_every_quote_and_other_memories_stay,
);
on_every_program!(
    no_word_of_an_erased_patient_is_in_any_file_of_store_log_or_backup,
    no_word_of_an_erased_patient_is_in_any_file_of_the_archive,
    no_word_of_an_erased_memory_is_in_the_archive_or_in_quarantine,
    a_backup_from_before_brings_nothing_back,
    a_hold_that_a_backup_brings_back_delays_an_erasure_and_loses_none,
);

const TEXT: &str = "Diagnosticada de endometriosis. Refiere vértigo desde ayer. Toma sertralina 50 mg al día.";

fn request(subject: ErasureSubject) -> ErasureRequest {
    ErasureRequest {
        scope: scope(),
        id: Uuid::from_u128(0xe1),
        subject,
        requested_by: Uuid::from_u128(7),
        requested_at: "2026-06-21T12:00:00Z".parse().unwrap(),
    }
}

fn command(more: &Value) -> Value {
    let mut data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "erase",
        "actor": {"id": Uuid::from_u128(7), "role": "clinician"}, "issued_at": "2026-06-21T12:00:00Z"});
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event(&Uuid::new_v5(&ORG, more.to_string().as_bytes()).to_string(), "anamnesis.memory.command.v1", &data)
}

fn erased(ended: ErasureOutcome) -> anamnesis_store::erasure::ErasureReceipt {
    match ended {
        ErasureOutcome::Erased(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

async fn memories(store: &Store) -> Vec<String> {
    let found = store.read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap();
    found.into_iter().filter_map(|memory| Some(memory.words?.concept)).collect()
}

async fn a_patient_who_is_erased_has_no_row_anywhere_and_others_keep_theirs(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &samples(), 16).await;
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    let other = Scope::new(scope().org(), PatientId(Uuid::from_u128(0xbeef))).unwrap();
    let mut theirs = document(2, 1, "2026-06-20T10:00:00Z", TEXT);
    theirs["patient_id"] = json!(other.patient());
    feed(&pipeline, &bodies(&[theirs]), 1).await;
    let (before, untouched) = (
        store.erasure().rows_of_patient(scope()).await.unwrap(),
        store.erasure().rows_of_patient(other).await.unwrap(),
    );
    assert!(before.len() > 8, "{before:?}");

    let receipt = erased(erase(store, &request(ErasureSubject::Patient)).await.unwrap());
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
    assert_eq!(store.erasure().rows_of_patient(other).await.unwrap(), untouched);
    let expected: Vec<(&str, u64)> = before.into_iter().collect();
    let counted: Vec<(&str, u64)> = receipt.counts.iter().map(|(table, count)| (table.as_str(), *count)).collect();
    assert_eq!(counted, expected, "the receipt counts what was there");
    assert!(receipt.done_at.is_some());
    let read = store.read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await;
    assert_eq!(read.unwrap_err(), StoreError::Erased);
    assert!(
        matches!(erase(store, &request(ErasureSubject::Patient)).await.unwrap(), ErasureOutcome::Before(_)),
        "twice is once"
    );
    assert_eq!(count(store, "SELECT count(*) FROM outbox WHERE event_type LIKE '%erasure.completed%'").await, 1);
}

async fn a_message_erases_as_the_verb_does_and_is_done_once(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let note = |n, text| document(n, 1, "2026-06-20T10:00:00Z", text);
    let other = "Diagnosticada de migraña.";
    feed(&pipeline, &bodies(&[note(1, TEXT), note(2, other)]), 2).await;
    let document_ids = command(&json!({"document_ids": [Uuid::from_u128(1)]}));
    assert_eq!(feed(&pipeline, &bodies(std::slice::from_ref(&document_ids)), 1).await, [Disposition::Stored]);
    assert_eq!(feed(&pipeline, &bodies(&[document_ids]), 1).await, [Disposition::Duplicate]);
    assert_eq!(
        memories(store).await.iter().filter(|concept| !concept.is_empty()).count(),
        1,
        "{:?}",
        memories(store).await
    );
    // In one batch with the erased subject, before and after it.
    let all = [note(3, TEXT), command(&json!({})), note(4, TEXT)];
    let done = feed(&pipeline, &bodies(&all), 3).await;
    assert!(done.iter().all(|one| *one == Disposition::Stored), "{done:?}");
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
    assert_eq!(feed(&pipeline, &bodies(&[command(&json!({}))]), 1).await, [Disposition::Duplicate]);
    let kinds: Vec<&str> =
        store.erasure().erasures(scope()).await.unwrap().iter().map(|one| one.request.subject.code()).collect();
    assert_eq!(kinds, ["document", "patient"]);
}

async fn a_message_that_comes_late_is_refused_and_nothing_of_it_is_stored(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let note = |n, revision| document(n, revision, "2026-06-20T10:00:00Z", TEXT);
    feed(&pipeline, &bodies(&[note(1, 1), note(2, 1)]), 2).await;
    erased(erase(store, &request(ErasureSubject::Document(DocumentId(Uuid::from_u128(1))))).await.unwrap());
    let refused = [Disposition::Quarantined(Reason::ErasedSubject)];
    assert_eq!(feed(&pipeline, &bodies(&[note(1, 1)]), 1).await, refused, "the same once more");
    assert_eq!(feed(&pipeline, &bodies(&[note(1, 2)]), 1).await, refused, "another revision");
    assert_eq!(
        feed(&pipeline, &bodies(&[note(3, 1)]), 1).await,
        [Disposition::Stored],
        "the same words elsewhere are learned"
    );
    let whole = ErasureRequest { id: Uuid::from_u128(0xe2), ..request(ErasureSubject::Patient) };
    erased(erase(store, &whole).await.unwrap());
    assert_eq!(feed(&pipeline, &bodies(&[note(9, 1)]), 1).await, refused);
    let mut broken = note(10, 1);
    broken["text"] = json!(5);
    feed(&pipeline, &bodies(&[broken]), 1).await;
    assert_eq!(count(store, "SELECT count(*) FROM quarantine").await, 4);
    assert_eq!(count(store, "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL").await, 0);
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
}

async fn what_waits_in_quarantine_goes_too(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let mut broken = document(1, 1, "2026-06-20T10:00:00Z", TEXT);
    broken["text"] = json!(5);
    let mut later = document(2, 1, "2031-06-20T10:00:00Z", TEXT);
    // Before the patient was known: the platform's key seals it, and an erasure has to read it.
    let mut early = document(3, 1, "2026-06-20T10:00:00Z", TEXT);
    early["text"] = json!(6);
    feed(&pipeline, &bodies(&[early]), 1).await;
    let mut theirs = broken.clone();
    theirs["patient_id"] = json!(Uuid::from_u128(0xbeef));
    feed(&pipeline, &bodies(&[broken, later.take(), theirs]), 3).await;
    let open = "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL";
    assert_eq!(count(store, open).await, 4);
    let receipt = erased(erase(store, &request(ErasureSubject::Patient)).await.unwrap());
    assert_eq!(receipt.counts.get("quarantine"), Some(&3), "{receipt:?}");
    assert_eq!(count(store, open).await, 1, "another patient's stays");
}

async fn a_hold_blocks_and_the_command_can_be_offered_again(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    let before = store.read().digest(None).await.unwrap().without(&["action_audit", "legal_hold", "quarantine"]);
    let document = DocumentId(Uuid::from_u128(1));
    let hold = store.erasure().set_hold(scope(), Some(document), None, Uuid::from_u128(8)).await.unwrap().unwrap();
    let held = [Disposition::Quarantined(Reason::LegalHold)];
    assert_eq!(feed(&pipeline, &bodies(&[command(&json!({}))]), 1).await, held);
    let memory = store.read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap().remove(0).id;
    for subject in [ErasureSubject::Patient, ErasureSubject::Document(document), ErasureSubject::Memory(memory)] {
        assert_eq!(erase(store, &request(subject)).await.unwrap(), ErasureOutcome::Held, "{subject:?}");
    }
    assert_eq!(store.read().digest(None).await.unwrap().without(&["action_audit", "legal_hold", "quarantine"]), before);
    assert!(store.erasure().lift_hold(scope(), hold, Uuid::from_u128(8)).await.unwrap());
    assert_eq!(feed(&pipeline, &bodies(&[command(&json!({}))]), 1).await, [Disposition::Stored]);
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
}

async fn an_erasure_that_was_cut_off_goes_on(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    // The state after a process died after its first step.
    store.erasure().open_erasure(&request(ErasureSubject::Patient)).await.unwrap();
    assert!(!store.erasure().rows_of_patient(scope()).await.unwrap().is_empty());
    let refused = [Disposition::Quarantined(Reason::ErasedSubject)];
    assert_eq!(feed(&pipeline, &bodies(&[document(2, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await, refused);
    let open = store.erasure().open_erasures(scope().org()).await.unwrap();
    assert_eq!(
        open.iter().map(|one| (one.request.id, one.done_at)).collect::<Vec<_>>(),
        [(Uuid::from_u128(0xe1), None)]
    );
    erased(erase(store, &open[0].request).await.unwrap());
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
    store.erasure().end_erasure_of_files(&open[0].request).await.unwrap();
    assert!(store.erasure().open_erasures(scope().org()).await.unwrap().is_empty());
}

async fn what_two_ways_ask_for_is_erased_once_and_both_receipts_end(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    let begun = request(ErasureSubject::Patient);
    store.erasure().open_erasure(&begun).await.unwrap();
    let other = ErasureRequest { id: Uuid::from_u128(0xe2), ..begun };
    erased(erase(store, &other).await.unwrap());
    let open = || async {
        let all = store.erasure().open_erasures(scope().org()).await.unwrap();
        all.iter().filter(|one| one.done_at.is_none()).count()
    };
    assert_eq!(open().await, 1, "the first one is still in work");
    assert!(matches!(erase(store, &begun).await.unwrap(), ErasureOutcome::Before(_)));
    assert_eq!(open().await, 0);
    let ends = "SELECT count(*) FROM action_audit WHERE action = 'erase' AND outcome = 'done'";
    assert_eq!(count(store, ends).await, 2);
}

async fn a_part_that_went_with_its_patient_ends_and_holds_no_other_erasure_up(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    // Each in the state after a process died after its first step.
    let part = ErasureRequest {
        id: Uuid::from_u128(0xe7),
        ..request(ErasureSubject::Document(DocumentId(Uuid::from_u128(1))))
    };
    let whole = request(ErasureSubject::Patient);
    store.erasure().open_erasure(&part).await.unwrap();
    store.erasure().open_erasure(&whole).await.unwrap();
    assert!(
        matches!(erase(store, &part).await, Err(ErasureError::Store(StoreError::Erased))),
        "not before its patient"
    );
    erased(erase(store, &whole).await.unwrap());
    assert!(matches!(erase(store, &part).await.unwrap(), ErasureOutcome::Before(_)));
    let open = store.erasure().open_erasures(scope().org()).await.unwrap();
    assert!(open.iter().all(|one| one.done_at.is_some()), "{open:?}");
    let other = ErasureSubject::Document(DocumentId(Uuid::from_u128(2)));
    let later = ErasureRequest { id: Uuid::from_u128(0xe8), ..request(other) };
    assert!(matches!(erase(store, &later).await, Err(ErasureError::Store(StoreError::Erased))), "asked for afterwards");
}

async fn a_receipt_that_this_program_did_not_write_is_not_carried_out(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    store.erasure().open_erasure(&request(ErasureSubject::Document(DocumentId(Uuid::from_u128(1))))).await.unwrap();
    let mut tx = store.db().begin(Access::Organization(scope().org())).await.unwrap();
    tx.execute(&Sql::new("UPDATE erasure SET what = 'patient', subject_id = NULL"), Vec::new()).await.unwrap();
    tx.commit().await.unwrap();
    let open = store.erasure().open_erasures(scope().org()).await.unwrap();
    assert_eq!(open.iter().map(|one| one.is_genuine).collect::<Vec<_>>(), [false]);
    assert!(store.key_binding().is_known(scope()).await.unwrap(), "nobody destroyed the key");
    // Nor is anything of the patient refused for it.
    let more = feed(&pipeline, &bodies(&[document(2, 1, "2026-06-21T10:00:00Z", TEXT)]), 1).await;
    assert_eq!(more, [Disposition::Stored]);
}

async fn words_of_an_erased_memory_leave_every_quote_and_other_memories_stay(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let notes = [(1, TEXT), (2, "Endometriosis conocida, revisa ginecología. Duerme bien.")];
    let notes = notes.map(|(n, text)| document(n, 1, "2026-06-20T10:00:00Z", text));
    feed(&pipeline, &bodies(&notes), 2).await;
    let held = store.read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap();
    let one = held
        .iter()
        .find(|memory| memory.words.as_ref().is_some_and(|words| words.concept.contains("endometriosis")))
        .unwrap()
        .id;
    let before = memories(store).await;
    let receipt = erased(erase(store, &request(ErasureSubject::Memory(one))).await.unwrap());
    assert!(receipt.counts["extracted_findings"] >= 1, "{receipt:?}");
    let after = memories(store).await;
    let kept: Vec<&String> = before.iter().filter(|concept| !concept.contains("endometriosis")).collect();
    assert!(kept.iter().all(|concept| after.contains(concept)), "{before:?} {after:?}");
    assert!(!after.iter().any(|concept| concept.contains("endometriosis")), "{after:?}");
    let ids = [1u128, 2].map(|id| DocumentId(Uuid::from_u128(id)));
    for revision in store.read().revisions(scope(), &ids).await.unwrap() {
        let text = revision.content.text.to_lowercase();
        assert!(!text.contains("endometriosis") && text.contains("[erased]"), "{text}");
    }
    for memory in store.read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap() {
        let quote = memory.evidence.map(|evidence| evidence.text.to_lowercase()).unwrap_or_default();
        assert!(!quote.contains("endometriosis"), "{quote}");
    }
    // Said again, it is learned again, and can be erased again.
    feed(&pipeline, &bodies(&[document(3, 1, "2026-06-21T10:00:00Z", TEXT)]), 1).await;
    assert!(memories(store).await.iter().any(|concept| concept.contains("endometriosis")));
    let again = ErasureRequest { id: Uuid::from_u128(0xe5), ..request(ErasureSubject::Memory(one)) };
    assert!(erased(erase(store, &again).await.unwrap()).counts["extracted_findings"] >= 1);
    assert!(matches!(erase(store, &again).await.unwrap(), ErasureOutcome::Before(_)));
    assert!(!memories(store).await.iter().any(|concept| concept.contains("endometriosis")));
    let unknown =
        ErasureRequest { id: Uuid::from_u128(0xe9), ..request(ErasureSubject::Memory(MemoryId(Uuid::from_u128(99)))) };
    assert_eq!(erased(erase(store, &unknown).await.unwrap()).counts, Default::default());
}

fn of_patient() -> [String; 4] {
    ["--org".to_owned(), ORG.to_string(), "--patient".to_owned(), PATIENT.to_string()]
}

fn erase_by_verb(program: &Program) -> Value {
    let by = Uuid::from_u128(7).to_string();
    let output =
        program.command(&[]).args(["erase", "--output", "json", "--by", &by]).args(of_patient()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Lays lines into the spool of a worker that keeps originals; the archive, and the one file in it.
async fn archived(program: &Program, lines: &[Vec<u8>]) -> (std::path::PathBuf, std::path::PathBuf) {
    let worker = Running::start(program, &[("ANAMNESIS__SPOOL__AFTER", "archive")]).await;
    worker.lay("notes.ndjson", lines);
    until("the file is done", async || originals(&worker.spool) == 0).await;
    let archive = worker.spool.join(".archive");
    assert_eq!(worker.end(), Some(0));
    let file = archive.read_dir().unwrap().next().unwrap().unwrap().path();
    (archive, file)
}

fn open_original(program: &Program, file: &std::path::Path) -> String {
    let output = program.command(&[]).args(["spool", "open"]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn no_word_of_an_erased_patient_is_in_any_file_of_the_archive(engine: TestEngine) {
    let program = Program::on(engine).await;
    let mut theirs = document(2, 1, "2026-06-20T10:00:00Z", "Refiere cefalea.");
    theirs["patient_id"] = json!(Uuid::from_u128(0xbeef));
    let lines = bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT), theirs]);
    let (archive, file) = archived(&program, &lines).await;
    let opened = || open_original(&program, &file);
    assert!(opened().contains("endometriosis"));
    let (by, folder) = (Uuid::from_u128(7).to_string(), archive.to_str().unwrap().to_owned());
    let settings = [("ANAMNESIS__SPOOL__ARCHIVE", folder.as_str())];
    let erased = program.command(&settings).args(["erase", "--by", &by]).args(of_patient()).output().unwrap();
    assert!(erased.status.success(), "{}", String::from_utf8_lossy(&erased.stderr));
    let left = opened();
    assert!(!left.contains("endometriosis") && left.contains("cefalea"), "{left}");
    let cage = ["endometriosis", "sertralina", "vértigo"].map(str::to_owned);
    search_files(&archive, &cage);
}

/// The original of the document that stated it is removed with the memory, and so is a later revision that was
/// rejected.
async fn no_word_of_an_erased_memory_is_in_the_archive_or_in_quarantine(engine: TestEngine) {
    let program = Program::on(engine).await;
    let other = document(2, 1, "2026-06-20T10:00:00Z", "Refiere cefalea.");
    let lines = bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT), other]);
    let (archive, file) = archived(&program, &lines).await;
    let opened = || open_original(&program, &file);
    assert!(opened().contains("endometriosis"));
    let mut refused = document(1, 2, "2026-06-20T10:00:00Z", TEXT);
    refused["document_type"] = json!("no such type");
    assert_eq!(counts(&program.ingest(&bodies(&[refused]), &[]))["quarantined"], json!(1));
    let list = program.command(&[]).args(["memory", "list", "--output", "json"]).args(of_patient()).output().unwrap();
    let list: Vec<Value> = serde_json::from_slice(&list.stdout).unwrap();
    let said = list.iter().find(|memory| memory.to_string().contains("endometriosis")).unwrap();
    let id = said["memory_id"].as_str().unwrap();
    let (by, folder) = (Uuid::from_u128(7).to_string(), archive.to_str().unwrap().to_owned());
    let settings = [("ANAMNESIS__SPOOL__ARCHIVE", folder.as_str())];
    let erase = ["erase", "--memory", id, "--by", &by];
    let erased = program.command(&settings).args(erase).args(of_patient()).output().unwrap();
    assert!(erased.status.success(), "{}", String::from_utf8_lossy(&erased.stderr));
    let left = opened();
    assert!(!left.contains("endometriosis") && left.contains("cefalea"), "{left}");
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL").await, 0);
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE state = 'dropped'").await, 1);
    store.close().await;
}

async fn a_backup_from_before_brings_nothing_back(engine: TestEngine) {
    let program = Program::on(engine).await;
    let lines = bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]);
    assert_eq!(counts(&program.ingest(&lines, &[]))["stored"], json!(1));
    let mut other = document(2, 1, "2026-06-20T10:00:00Z", TEXT);
    other["patient_id"] = json!(Uuid::from_u128(0xbeef));
    assert_eq!(counts(&program.ingest(&bodies(&[other]), &[]))["stored"], json!(1));
    let copy = program.folder.path().join("copy");
    let owner = program.server.as_ref().map(|server| server.url(Some("test_owner"))).unwrap_or_default();
    let run = |args: &[&str]| {
        let output = program.command(&[("ANAMNESIS__STORE__MIGRATE_URL", owner.as_str())]).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["backup", copy.to_str().unwrap()]);
    let receipt = erase_by_verb(&program);
    assert_eq!(receipt["outcome"], json!("erased"));
    let theirs = Uuid::from_u128(0xbeef).to_string();
    let (org, by, id) = (ORG.to_string(), Uuid::from_u128(7).to_string(), Uuid::from_u128(2).to_string());
    run(&["erase", "--org", &org, "--patient", &theirs, "--document", &id, "--by", &by]);

    let restored = run(&["restore", copy.to_str().unwrap(), "--replace", "--output", "json"]);
    let restored: Value = serde_json::from_str(&restored).unwrap();
    assert_eq!(restored["erased_again"], json!(2), "{restored}");
    // Acts on the whole store are in the platform's chain: the copy was made after its own snapshot.
    let trail = run(&["audit", "list", "--output", "json"]);
    assert!(trail.contains("\"restored\""), "{trail}");
    run(&["backup", program.folder.path().join("later").to_str().unwrap()]);
    let trail = run(&["audit", "list", "--output", "json"]);
    assert!(trail.contains("\"backed_up\""), "{trail}");
    let store = program.store().await;
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
    let other = Scope::new(scope().org(), PatientId(Uuid::from_u128(0xbeef))).unwrap();
    assert!(store.read().revisions(other, &[DocumentId(Uuid::from_u128(2))]).await.unwrap().is_empty());
}

/// A store that can no longer be read does not reveal the erasures since the backup: receipts stored elsewhere do.
#[tokio::test(flavor = "multi_thread")]
async fn receipts_stored_elsewhere_bring_a_backup_up_to_date_where_the_store_is_lost() {
    let program = Program::on(TestEngine::File).await;
    let notes =
        [(1, TEXT), (2, "Diagnosticada de asma.")].map(|(n, text)| document(n, 1, "2026-06-20T10:00:00Z", text));
    assert_eq!(counts(&program.ingest(&bodies(&notes), &[]))["stored"], json!(2));
    let (copy, receipts) = (program.folder.path().join("copy"), program.folder.path().join("receipts.ndjson"));
    let run = |args: &[&str]| {
        let output = program.command(&[]).args(args).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap(), said)
    };
    assert_eq!(run(&["backup", copy.to_str().unwrap()]).0, 0);
    let (org, patient, by, id) =
        (ORG.to_string(), PATIENT.to_string(), Uuid::from_u128(7).to_string(), Uuid::from_u128(1).to_string());
    assert_eq!(run(&["erase", "--org", &org, "--patient", &patient, "--document", &id, "--by", &by]).0, 0);
    let (code, listed) = run(&["report", "erasures", "--output", "json"]);
    assert!(code == 0 && listed.lines().count() == 1, "{listed}");
    std::fs::write(&receipts, &listed).unwrap();
    let path = program.environment().into_iter().find(|(key, _)| key == "ANAMNESIS__STORE__PATH").unwrap().1;
    let lose = || {
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{path}{ending}"));
        }
        std::fs::write(&path, "no store at all").unwrap();
    };
    let restore = ["restore", copy.to_str().unwrap(), "--replace", "--output", "json"];
    lose();
    let (code, said) = run(&restore);
    assert!(code == 3 && said.contains("\"receipts_known\":false") && said.contains("--receipts"), "{code}: {said}");
    lose();
    let (code, said) = run(&[&restore[..], &["--receipts", receipts.to_str().unwrap()]].concat());
    assert!(code == 3 && said.contains("\"erased_again\":1"), "{code}: {said}");
    // Decisions in it, such as a hold, are unknown.
    assert!(said.contains("\"decisions_lost\":null"), "{said}");
    let store = program.store().await;
    let left = store.read().revisions(scope(), &[1u128, 2].map(|id| DocumentId(Uuid::from_u128(id)))).await.unwrap();
    assert_eq!(left.len(), 1, "the one that was not erased");
    assert_eq!(count(&store, "SELECT count(*) FROM action_audit WHERE outcome = 'restored'").await, 1);
    store.close().await;
    std::fs::write(&receipts, "{\"what\": \"everything\"}").unwrap();
    let (code, said) = run(&[&restore[..], &["--receipts", receipts.to_str().unwrap()]].concat());
    assert!(code == 2 && said.contains("line 1 is no receipt"), "{code}: {said}");
}

/// A hold of the backup that was released since protects data that were erased since: the receipt is not lost, and a
/// worker completes it.
async fn a_hold_that_a_backup_brings_back_delays_an_erasure_and_loses_none(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert_eq!(
        counts(&program.ingest(&bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), &[]))["stored"],
        json!(1)
    );
    let copy = program.folder.path().join("copy");
    let owner = program.server.as_ref().map(|server| server.url(Some("test_owner"))).unwrap_or_default();
    let run = |args: &[&str]| {
        let output = program.command(&[("ANAMNESIS__STORE__MIGRATE_URL", owner.as_str())]).args(args).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap(), said)
    };
    let by = Uuid::from_u128(7);
    let store = program.store().await;
    let hold = store.erasure().set_hold(scope(), None, None, by).await.unwrap().unwrap();
    assert_eq!(run(&["backup", copy.to_str().unwrap()]).0, 0);
    assert!(store.erasure().lift_hold(scope(), hold, by).await.unwrap());
    store.close().await;
    let (org, patient, by, id) = (ORG.to_string(), PATIENT.to_string(), by.to_string(), Uuid::from_u128(1).to_string());
    assert_eq!(run(&["erase", "--org", &org, "--patient", &patient, "--document", &id, "--by", &by]).0, 0);
    let (code, said) = run(&["restore", copy.to_str().unwrap(), "--replace", "--output", "json"]);
    assert!(code == 3 && said.contains("\"held\":1") && said.contains("legal hold"), "{code}: {said}");
    let store = program.store().await;
    let open = store.erasure().open_erasures(scope().org()).await.unwrap();
    assert_eq!(open.len(), 1, "it waits");
    assert!(store.erasure().lift_hold(scope(), hold, Uuid::from_u128(7)).await.unwrap());
    erased(erase(&store, &open[0].request).await.unwrap());
    assert!(store.read().revisions(scope(), &[DocumentId(Uuid::from_u128(1))]).await.unwrap().is_empty());
}

/// As UTF-8, UTF-16, hexadecimal and base64, in every file: the store, its write-ahead log, keys, the program's log,
/// and a later backup. Quarantined messages are there too, and a second patient proves that the search works.
async fn no_word_of_an_erased_patient_is_in_any_file_of_store_log_or_backup(engine: TestEngine) {
    let program = Program::on(engine).await;
    let cage = ["zqborradaxkq", "zqapartadaxkq"].map(str::to_owned);
    let said = document(1, 1, "2026-06-20T10:00:00Z", &format!("{TEXT} Habló de {}.", cage[0]));
    let mut broken = document(2, 1, "2026-06-20T10:00:00Z", &format!("Habló de {}.", cage[1]));
    broken["document_type"] = json!("letter");
    let verbose = [("ANAMNESIS__LOG__FILTER", "debug")];
    let ingested = program.ingest(&bodies(&[said, broken]), &verbose);
    let printed = [ingested.stdout.as_slice(), &ingested.stderr].concat();
    std::fs::write(program.folder.path().join("log"), printed).unwrap();
    assert_eq!(counts(&ingested)["stored"], json!(1));
    std::fs::remove_file(program.folder.path().join("messages.ndjson")).unwrap();
    assert_eq!(erase_by_verb(&program)["outcome"], json!("erased"));
    let copy = program.folder.path().join("copy");
    let owner = program.server.as_ref().map(|server| server.url(Some("test_owner"))).unwrap_or_default();
    let backup = program
        .command(&[("ANAMNESIS__STORE__MIGRATE_URL", owner.as_str())])
        .args(["backup", copy.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(backup.status.success(), "{}", String::from_utf8_lossy(&backup.stderr));
    assert!(search_files(program.folder.path(), &cage) > 3, "store, keys, log and backup are searched");
    if let Some(server) = &program.server {
        search_server(server, &cage).await;
    }
}

/// A batch is admitted, the patient is erased, and then the batch is committed: as of two workers, one of which is slow.
async fn a_batch_under_way_when_the_patient_is_erased_writes_nothing(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]), 1).await;
    let keys = store.key_binding().ensure_keys(&[scope()]).await.unwrap().known;
    erased(erase(store, &request(ErasureSubject::Patient)).await.unwrap());
    let inbox = vec![InboxEntry {
        message: [7; 32],
        body: [8; 32],
        scope: scope(),
        message_type: "document.submitted",
        done: MessageAct::default(),
    }];
    let late = store.intake().commit(scope().org(), &OrgBatch { inbox, ..OrgBatch::default() }, &keys).await;
    assert_eq!(late.unwrap_err(), StoreError::Race);
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
}
