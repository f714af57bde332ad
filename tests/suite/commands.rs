//! Commands on memories: corrections and answers result in the same memory on every engine, and no one overrules what
//! they may not.

use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::{SetBy, State};
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_search as recall;
use anamnesis_store::read::{LineageDirection, Memory, MemoryFilter, ReadInstant};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    Clinic, ORG, PATIENT, Program, TestEngine, bodies, count, document, event, feed, on_every_engine, scope,
};

on_every_engine!(
    a_clinicians_correction_replaces_the_value_and_its_words_are_in_the_lineage,
    a_patients_correction_of_what_a_clinician_set_is_a_question_that_an_answer_settles,
    an_answer_that_it_is_over_ends_it_and_one_that_it_holds_begins_a_new_cycle,
    a_correction_without_known_concepts_ends_what_it_corrects,
);

fn command(id: &str, role: &str, verb: &str, memory: MemoryId, at: &str, text: Option<&str>) -> Value {
    let mut data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": verb, "memory_ids": [memory],
        "actor": {"id": Uuid::from_u128(9), "role": role}, "issued_at": at});
    if let Some(text) = text {
        data["text"] = json!(text);
    }
    event(id, "anamnesis.memory.command.v1", &data)
}

async fn send(pipeline: &Pipeline, messages: &[Value]) -> Vec<Disposition> {
    feed(pipeline, &bodies(messages), 4).await
}

/// All memories of one entity, newest first.
async fn all(pipeline: &Pipeline, entity: EntityType) -> Vec<Memory> {
    let filter = MemoryFilter { entities: vec![entity], ..MemoryFilter::default() };
    pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
}

async fn active(pipeline: &Pipeline, entity: EntityType) -> Memory {
    let mut all = all(pipeline, entity).await;
    all.retain(|m| m.status.state == State::Active && !m.contested);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

fn dose(memory: &Memory) -> &str {
    memory.words.as_ref().unwrap().dose.as_deref().unwrap_or("")
}

const SAID: &str = "2026-06-28T10:00:00Z";
const LATER: &str = "2026-06-29T10:00:00Z";
const LAST: &str = "2026-06-30T10:00:00Z";

/// The clinic is held for as long as its store is used.
async fn with_sertraline(engine: TestEngine) -> (Clinic, Pipeline) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let reported = document(1, 1, SAID, "Toma sertralina 50 mg al día.");
    assert_eq!(send(&pipeline, &[reported]).await, [Disposition::Stored]);
    (clinic, pipeline)
}

async fn a_clinicians_correction_replaces_the_value_and_its_words_are_in_the_lineage(engine: TestEngine) {
    let (_clinic, pipeline) = with_sertraline(engine).await;
    let old = active(&pipeline, EntityType::Medication).await;
    assert_eq!(dose(&old), "50 mg");
    let correct = command("c1", "clinician", "correct", old.id, LATER, Some("100 mg al día"));
    assert_eq!(send(&pipeline, &[correct.clone(), correct]).await, [Disposition::Stored, Disposition::Duplicate]);

    let new = active(&pipeline, EntityType::Medication).await;
    assert_eq!((dose(&new), new.supersedes), ("100 mg", Some(old.id)));
    let old = pipeline.store().read().memory(scope(), old.id, ReadInstant::Now).await.unwrap().unwrap();
    assert_eq!((old.status.state, old.superseded_by), (State::Superseded, Some(new.id)));
    assert!(new.evidence.unwrap().text.contains("100 mg"));
    let lineage = recall::trace(pipeline.store(), scope(), new.id, LineageDirection::Up).await.unwrap().unwrap();
    let kinds: Vec<&str> = lineage.children.iter().map(|child| child.kind.as_str()).collect();
    assert!(kinds.contains(&"raw") && kinds.contains(&"note"), "its own words and what it replaced: {kinds:?}");
    let active = "SELECT count(*) FROM medications WHERE status = 'active'";
    assert_eq!(count(pipeline.store(), active).await, 1);
    let kind = "SELECT count(*) FROM inbox WHERE message_type = 'anamnesis.memory.command.v1'";
    assert_eq!(count(pipeline.store(), kind).await, 1);
}

async fn a_patients_correction_of_what_a_clinician_set_is_a_question_that_an_answer_settles(engine: TestEngine) {
    let (_clinic, pipeline) = with_sertraline(engine).await;
    let kept = active(&pipeline, EntityType::Medication).await;
    assert_eq!(kept.set_by, SetBy::Clinician);
    send(&pipeline, &[command("c1", "patient", "correct", kept.id, LATER, Some("tomo 100 mg"))]).await;
    assert_eq!(active(&pipeline, EntityType::Medication).await.id, kept.id, "nothing changed");
    let claim = all(&pipeline, EntityType::Medication).await.into_iter().find(|m| m.contested).unwrap();
    assert_eq!(dose(&claim), "100 mg");
    let open = "SELECT count(*) FROM contradiction WHERE state = 'open'";
    assert_eq!(count(pipeline.store(), open).await, 1);

    send(&pipeline, &[command("c2", "clinician", "answer", claim.id, LAST, Some("Sí"))]).await;
    let now = active(&pipeline, EntityType::Medication).await;
    assert_eq!((now.id, now.supersedes), (claim.id, Some(kept.id)));
    assert_eq!(count(pipeline.store(), open).await, 0);
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM contradiction WHERE state = 'answered'").await, 1);
}

async fn an_answer_that_it_is_over_ends_it_and_one_that_it_holds_begins_a_new_cycle(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    send(&pipeline, &[document(1, 1, SAID, "Refiere náuseas."), document(2, 1, SAID, "Refiere cefalea.")]).await;
    let symptoms = all(&pipeline, EntityType::Symptom).await;
    assert_eq!(symptoms.len(), 2);
    let (holds, over) = (symptoms[0].id, symptoms[1].id);
    send(
        &pipeline,
        &[
            command("c1", "patient", "answer", holds, LATER, None),
            command("c2", "patient", "answer", over, LATER, Some("Ya no.")),
        ],
    )
    .await;
    let read = async |id| pipeline.store().read().memory(scope(), id, ReadInstant::Now).await.unwrap().unwrap();
    let (holds, over) = (read(holds).await, read(over).await);
    assert_eq!((holds.status.state, holds.cycle), (State::Active, 1));
    assert_eq!(holds.last_confirmed_at, Some(LATER.parse().unwrap()));
    assert_eq!((over.status.state, over.valid_to), (State::Resolved, Some(LATER.parse().unwrap())));
}

async fn a_correction_without_known_concepts_ends_what_it_corrects(engine: TestEngine) {
    let (_clinic, pipeline) = with_sertraline(engine).await;
    let wrong = active(&pipeline, EntityType::Medication).await;
    let words = "Eso no corresponde a este caso.";
    send(&pipeline, &[command("c1", "clinician", "correct", wrong.id, LATER, Some(words))]).await;
    let wrong = pipeline.store().read().memory(scope(), wrong.id, ReadInstant::Now).await.unwrap().unwrap();
    assert_eq!(wrong.status.state, State::Resolved);
    assert_eq!(wrong.valid_to, Some(LATER.parse().unwrap()));
}

/// `anamnesis memory …` of the patient as JSON, with its exit code.
fn memory(program: &Program, arguments: &[&str]) -> (i32, Value) {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let output = program
        .command(&[])
        .arg("memory")
        .args(arguments)
        .args(["--org", &org, "--patient", &patient, "--output", "json"])
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().unwrap(), value)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_shows_what_waits_and_acts_by_the_same_messages() {
    let program = Program::on(TestEngine::File).await;
    let reported = document(1, 1, "2026-06-28T10:00:00Z", "Toma sertralina 50 mg al día. Refiere cefalea.");
    program.ingest(&bodies(&[reported]), &[]);
    let (_, waiting) = memory(&program, &["review"]);
    assert_eq!((waiting[0]["cause"].as_str(), waiting[0]["entity"].as_str()), (Some("age"), Some("symptom")));
    let symptom = waiting[0]["memory_id"].as_str().unwrap().to_owned();
    let by = ["--by", "00000000-0000-4000-8000-000000000009"];
    let clinician = [&by[..], &["--role", "clinician"]].concat();

    let (code, done) = memory(&program, &[&["answer", symptom.as_str(), "--role", "patient"][..], &by[..]].concat());
    assert_eq!((code, done["disposition"].as_str()), (0, Some("stored")));
    assert_eq!(memory(&program, &["review"]).1, json!([]));

    let (_, medicines) = memory(&program, &["list", "--entity", "medication"]);
    let medicine = medicines[0]["memory_id"].as_str().unwrap().to_owned();
    let (_, source) = memory(&program, &["source", &medicine]);
    assert_eq!((source["derived_from"].as_u64(), source["is_orphan"].as_bool()), (Some(1), Some(false)));
    let (code, done) = memory(
        &program,
        &[&["correct", medicine.as_str(), "--text", "sertralina 100 mg al día"][..], &clinician[..]].concat(),
    );
    assert_eq!((code, done["memories"][0]["state"].as_str()), (0, Some("superseded")));
    let (_, sure) = memory(&program, &["uncertain"]);
    assert_eq!(sure, json!([]));
    let (_, unsure) = memory(&program, &["uncertain", "--threshold", "1.0"]);
    assert!(unsure.as_array().unwrap().len() <= 2);
    assert_eq!(memory(&program, &["orphans"]).1, json!([]));
    // A record of an older system without a source counts as one; a document's own statement does not.
    let record = program.folder.path().join("old.json");
    std::fs::write(&record, json!([{"memory_id": "m1", "memory": "Sale a pescar los domingos"}]).to_string()).unwrap();
    let imported = program
        .command(&[])
        .arg("import")
        .arg(&record)
        .args(["--org", &ORG.to_string(), "--patient", &PATIENT.to_string()])
        .args(by)
        .output()
        .unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let (_, orphans) = memory(&program, &["orphans"]);
    assert_eq!(orphans.as_array().unwrap().len(), 1, "{orphans}");
    let orphan = orphans[0]["memory_id"].as_str().unwrap().to_owned();
    let (_, source) = memory(&program, &["source", &orphan]);
    assert_eq!((source["source_type"].as_str(), source["is_orphan"].as_bool()), (Some("unknown"), Some(true)));
    let nobody = Uuid::from_u128(77).to_string();
    assert_eq!(memory(&program, &[&["verify", nobody.as_str()][..], &clinician[..]].concat()).0, 1, "no such memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_shows_who_signed_and_when_it_ends_and_trusts_as_the_rules_say() {
    let program = Program::on(TestEngine::File).await;
    let signer = Uuid::from_u128(0x51).to_string();
    let mut inferred = document(1, 1, "2026-07-01T11:00:00Z", "The patient has epilepsy.");
    inferred["document_type"] = json!("analysis");
    let mut signed = document(2, 1, "2026-07-01T11:00:00Z", "El paciente tiene asma.");
    signed["document_type"] = json!("analysis");
    signed["provenance"] = json!({"signed_by": signer, "expires_at": "2026-09-01T00:00:00Z"});
    program.ingest(&bodies(&[inferred, signed]), &[]);
    let (_, held) = memory(&program, &["list", "--entity", "condition"]);
    let by_trust = |trust: &str| held.as_array().unwrap().iter().find(|item| item["trust"] == trust).unwrap().clone();
    let (model, own) = (by_trust("T4"), by_trust("T1"));
    assert_eq!(
        (model["use"].as_str(), model["expires_at"].as_str()),
        (Some("hypothesis"), Some("2026-07-02T11:00:00Z"))
    );
    let id = own["memory_id"].as_str().unwrap();
    let (_, shown) = memory(&program, &["show", id]);
    assert_eq!(shown["memory"]["signed_by"].as_str(), Some(signer.as_str()), "{shown}");
    assert_eq!(shown["memory"]["ends_at"].as_str(), Some("2026-09-01T00:00:00Z"));
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let context = program.command(&[]).args(["context", "--org", &org, "--patient", &patient]).output().unwrap();
    let context = String::from_utf8_lossy(&context.stdout).into_owned();
    let plain: String = context.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("signed by") && plain.contains("ends 2026-07-02"), "{context}");

    let parent = model["memory_id"].as_str().unwrap();
    let by = ["--by", "00000000-0000-4000-8000-000000000009"];
    let add = |parent: &str, more: &[&str]| {
        let all = [&["add", "--text", "She tires easily.", "--derived-from", parent][..], more, &by[..]].concat();
        memory(&program, &all)
    };
    let (_, reported) = add(parent, &["--source", "told by Claire", "--role", "clinician"]);
    let (_, system) = add(parent, &["--role", "system"]);
    for made in [reported, system] {
        for item in made["memories"].as_array().unwrap() {
            assert_eq!((item["trust"].as_str(), item["use"].as_str()), (Some("T4"), Some("hypothesis")), "{item}");
        }
    }
    assert_eq!(add(&Uuid::from_u128(77).to_string(), &["--role", "clinician"]).0, 1, "no such parent");
    let reinforce = [&["reinforce", id, "--derived-from", parent, "--role", "clinician"][..], &by[..]].concat();
    assert_eq!(memory(&program, &reinforce).0, 1, "a model is no evidence");
    let mut rules = program.command(&[]);
    rules.arg("rules").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut rules = rules.spawn().unwrap();
    let question = json!({"rule": "trust", "source_type": "external", "is_proxy": false, "parents": ["T4"]});
    std::io::Write::write_all(&mut rules.stdin.take().unwrap(), format!("{question}\n").as_bytes()).unwrap();
    let answer: Value = serde_json::from_slice(&rules.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(answer["trust"].as_str(), Some("T4"), "{answer}");
}
