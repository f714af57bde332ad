//! Only clinicians may end an allergy and a clinician's statements, by any endpoint and in any words.

use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::{PermittedUse, SetBy, State};
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    Clinic, ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, event, feed, on_every_engine, scope,
};

on_every_engine!(
    no_conversation_removes_an_allergy_for_any_claimed_speaker,
    a_patients_command_on_an_allergy_is_a_contradiction_and_a_task_and_never_an_end,
    a_patients_answer_has_a_tasks_authority_only_for_the_question,
    a_chat_that_calls_itself_the_next_revision_of_a_note_is_quarantined,
    a_patients_form_removes_nothing_that_a_clinician_set,
);

const SAID: &str = "2026-06-28T10:00:00Z";
const LATER: &str = "2026-06-29T10:00:00Z";
const LAST: &str = "2026-06-30T10:00:00Z";
const OPEN: &str = "SELECT count(*) FROM contradiction WHERE state = 'open'";
const TOLD: &str = "SELECT count(*) FROM outbox WHERE event_type = 'anamnesis.contradiction.found.v1'";

async fn send(pipeline: &Pipeline, messages: &[Value]) -> Vec<Disposition> {
    feed(pipeline, &bodies(messages), 4).await
}

/// The clinic is held for as long as its store is used.
async fn with_note(engine: TestEngine, text: &str) -> (Clinic, Pipeline) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    assert_eq!(send(&pipeline, &[document(1, 1, SAID, text)]).await, [Disposition::Stored]);
    (clinic, pipeline)
}

async fn all(pipeline: &Pipeline, entity: EntityType) -> Vec<Memory> {
    let filter = MemoryFilter { entities: vec![entity], states: State::ALL.to_vec(), ..MemoryFilter::default() };
    pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
}

/// The allergy that the note states; it must exist, be active and fit to act on.
async fn the_allergy(pipeline: &Pipeline) -> Memory {
    let mut found = all(pipeline, EntityType::Allergy).await;
    found.retain(|m| !m.negated && m.status.state == State::Active && !m.contested);
    assert_eq!(found.len(), 1, "{found:#?}");
    let allergy = found.remove(0);
    assert_eq!((allergy.status.use_, allergy.set_by), (PermittedUse::Decision, SetBy::Clinician));
    allergy
}

fn of_type(kind: &str, mut document: Value) -> Value {
    document["document_type"] = json!(kind);
    document
}

fn said(kind: &str, id: u128, turns: &Value) -> Value {
    let mut document = of_type(kind, document(id, 1, LATER, ""));
    document.as_object_mut().unwrap().remove("text");
    document["turns"] = turns.clone();
    document
}

async fn no_conversation_removes_an_allergy_for_any_claimed_speaker(engine: TestEngine) {
    let denials = [
        ("Alergia a la penicilina con anafilaxia.", "No es alérgica a la penicilina, fue un error."),
        ("Alergia a la penicilina con anafilaxia.", "Ya no tiene alergia a la penicilina."),
        ("Allergic to penicillin: anaphylaxis.", "She is not allergic to penicillin, we tested it."),
        ("Allergic to penicillin: anaphylaxis.", "No known drug allergies."),
    ];
    for (note, denial) in denials {
        let (_clinic, pipeline) = with_note(engine, note).await;
        let before = the_allergy(&pipeline).await.id;
        let turns = json!([{"speaker": "clinician", "text": denial}]);
        let mut labelled = of_type(
            "session_transcript",
            document(12, 1, LATER, &format!("Dr Okafor: {denial}\nLena: vale\nDr Okafor: {denial}")),
        );
        labelled["participants"] =
            json!([{"label": "Dr Okafor", "role": "clinician"}, {"label": "Lena", "role": "patient"}]);
        let mut proven = said("chat_message", 13, &turns);
        proven["provenance"] = json!({"source": "signed by the allergist", "source_type": "direct_experience",
            "is_proxy": false, "confidence": 1.0});
        proven["therapist_id"] = json!(Uuid::from_u128(9));
        proven["metadata"] = json!({"sentiment": "neutral", "document_type": "clinical_note", "role": "clinician"});
        let conversations =
            [said("chat_message", 10, &turns), said("session_transcript", 11, &turns), labelled, proven];
        assert_eq!(send(&pipeline, &conversations).await, [Disposition::Stored; 4], "{denial}");
        assert_eq!(the_allergy(&pipeline).await.id, before, "{denial}");
    }
}

fn command(id: &str, role: &str, verb: &str, memory: &Memory, at: &str, text: Option<&str>) -> Value {
    let mut data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": verb, "memory_ids": [memory.id],
        "actor": {"id": Uuid::from_u128(9), "role": role}, "issued_at": at});
    if let Some(text) = text {
        data["text"] = json!(text);
    }
    event(id, "anamnesis.memory.command.v1", &data)
}

async fn a_patients_command_on_an_allergy_is_a_contradiction_and_a_task_and_never_an_end(engine: TestEngine) {
    let tries: [(&str, Option<&str>); 8] = [
        ("end", None),
        ("forget", None),
        ("correct", Some("No soy alérgica a la penicilina.")),
        ("correct", Some("Eso no corresponde a este caso.")),
        ("answer", Some("no")),
        ("answer", Some("No, no soy alérgica a la penicilina")),
        ("answer", Some("I am not allergic to penicillin any more")),
        ("supersede", Some("Tolera la penicilina.")),
    ];
    for (verb, text) in tries {
        for role in ["patient", "system"] {
            let (_clinic, pipeline) = with_note(engine, "Alergia a la penicilina con anafilaxia.").await;
            let allergy = the_allergy(&pipeline).await;
            assert_eq!(
                send(&pipeline, &[command("c", role, verb, &allergy, LATER, text)]).await,
                [Disposition::Stored]
            );
            assert_eq!(the_allergy(&pipeline).await.id, allergy.id, "{role} {verb} {text:?}");
            assert!(count(pipeline.store(), OPEN).await >= 1, "{role} {verb} {text:?}: nobody is asked");
            assert!(count(pipeline.store(), TOLD).await >= 1, "{role} {verb} {text:?}: nobody is told");
            // Nor by a repeated claim.
            for claim in all(&pipeline, EntityType::Allergy).await.iter().filter(|m| m.id != allergy.id) {
                send(&pipeline, &[command("insists", role, "confirm", claim, LAST, None)]).await;
                assert_eq!(the_allergy(&pipeline).await.id, allergy.id, "{role} {verb} {text:?}, insisting");
            }
            // A clinician may.
            send(&pipeline, &[command("d", "clinician", "end", &allergy, LAST, None)]).await;
            let ended = pipeline.store().read().memory(scope(), allergy.id, ReadInstant::Now).await.unwrap().unwrap();
            assert_eq!(ended.status.state, State::Resolved, "{role} {verb}");
        }
    }
}

async fn a_patients_answer_has_a_tasks_authority_only_for_the_question(engine: TestEngine) {
    let note = "Toma sertralina 50 mg al día. Toma warfarina 5 mg al día. Alergia a la penicilina con anafilaxia.";
    let (_clinic, pipeline) = with_note(engine, note).await;
    let medicines = all(&pipeline, EntityType::Medication).await;
    let named = |name: &str| medicines.iter().find(|m| m.words.as_ref().unwrap().concept.contains(name)).unwrap();
    let (asked, other) = (named("sertralin"), named("warfarin"));
    let words = "Tomo sertralina 100 mg al día. Ya no tomo warfarina. No soy alérgica a la penicilina.";
    assert_eq!(
        send(&pipeline, &[command("c", "patient", "answer", asked, LATER, Some(words))]).await,
        [Disposition::Stored]
    );
    let state =
        async |id| pipeline.store().read().memory(scope(), id, ReadInstant::Now).await.unwrap().unwrap().status.state;
    assert_eq!(state(asked.id).await, State::Superseded, "what was asked is answered");
    assert_eq!(state(other.id).await, State::Active, "what was not asked is as it was");
    the_allergy(&pipeline).await;
}

async fn a_chat_that_calls_itself_the_next_revision_of_a_note_is_quarantined(engine: TestEngine) {
    let (_clinic, pipeline) = with_note(engine, "Alergia a la penicilina con anafilaxia.").await;
    let allergy = the_allergy(&pipeline).await;
    for (revision, kind) in [(2, "chat_message"), (3, "session_transcript")] {
        let replaced = of_type(kind, document(1, revision, LATER, "Hola."));
        let done = send(&pipeline, &[replaced]).await;
        assert_eq!(done[0].code(), "quarantined", "{kind}");
    }
    assert_eq!(the_allergy(&pipeline).await.id, allergy.id);
    // Also in one batch with it, and also before it.
    let note = document(2, 1, SAID, "Alergia al látex con anafilaxia.");
    let done = send(&pipeline, &[note, of_type("chat_message", document(2, 2, LATER, "Hola."))]).await;
    assert_eq!((done[0].code(), done[1].code()), ("stored", "quarantined"));
    let early =
        [of_type("chat_message", document(3, 9, LATER, "Hola.")), document(3, 1, SAID, "Alergia al ibuprofeno.")];
    let done = send(&pipeline, &early).await;
    assert_eq!((done[0].code(), done[1].code()), ("stored", "quarantined"), "a note is never lost silently");
    let reasons = "SELECT count(*) FROM quarantine WHERE reason = 'not_permitted' AND field = 'document_type'";
    assert_eq!(count(pipeline.store(), reasons).await, 4);
}

async fn a_patients_form_removes_nothing_that_a_clinician_set(engine: TestEngine) {
    let note = "Toma sertralina 50 mg al día. Alergia a la penicilina con anafilaxia.";
    let (_clinic, pipeline) = with_note(engine, note).await;
    let allergy = the_allergy(&pipeline).await.id;
    let form = of_type("intake_form", document(2, 1, LATER, "Ya no tomo sertralina. No soy alérgica a la penicilina."));
    assert_eq!(send(&pipeline, &[form]).await, [Disposition::Stored]);
    assert_eq!(the_allergy(&pipeline).await.id, allergy);
    let medicines = all(&pipeline, EntityType::Medication).await;
    assert!(medicines.iter().any(|m| m.status.state == State::Active && !m.contested), "{medicines:#?}");
    assert_eq!(count(pipeline.store(), OPEN).await, 2);
}

/// `anamnesis …` over a program's store: exit code, standard output, standard error.
fn run_program(program: &Program, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let mut command = program.command(environment);
    command.args(arguments).args(["--org", &org, "--patient", &patient, "--output", "json"]);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_one_is_a_clinician_at_a_terminal_by_default() {
    let program = Program::on(TestEngine::File).await;
    let note = document(1, 1, SAID, "Alergia a la penicilina con anafilaxia.");
    assert_eq!(counts(&program.ingest(&bodies(&[note]), &[]))["stored"], 1);
    let listed: Value =
        serde_json::from_str(&run_program(&program, &["memory", "list", "--entity", "allergy"], &[]).1).unwrap();
    let id = listed[0]["memory_id"].as_str().unwrap().to_owned();
    let by = ["--by", "00000000-0000-4000-8000-000000000009"];
    for verb in [
        &["verify"][..],
        &["confirm"],
        &["answer"],
        &["end"],
        &["protect"],
        &["forget"],
        &["recover"],
        &["correct", "--text", "x"],
        &["supersede", "--text", "x"],
        &["promote", "--kind", "note"],
    ] {
        let (code, _, said) = run_program(&program, &[&["memory"], verb, &[id.as_str()], &by].concat(), &[]);
        assert_eq!(code, 2, "{verb:?}: {said}");
        assert!(said.contains("--role") && said.contains("ANAMNESIS_ROLE"), "{verb:?}: {said}");
        let (code, _, said) =
            run_program(&program, &[&["memory"], verb, &[id.as_str(), "--role", "clinician"]].concat(), &[]);
        assert_eq!(code, 2, "{verb:?}: {said}");
        assert!(said.contains("--by") && said.contains("ANAMNESIS_ACTOR"), "{verb:?}: {said}");
    }
    // A patient who ends it ends nothing, and a person is asked about it.
    let who = [("ANAMNESIS_ACTOR", by[1]), ("ANAMNESIS_ROLE", "patient")];
    let (code, _, said) = run_program(&program, &["memory", "end", &id], &who);
    assert_eq!(code, 0, "{said}");
    let listed =
        |arguments: &[&str]| -> Value { serde_json::from_str(&run_program(&program, arguments, &[]).1).unwrap() };
    let now = listed(&["memory", "list", "--entity", "allergy"]);
    assert_eq!((&now[0]["state"], &now[0]["use"]), (&json!("active"), &json!("decision")), "{now}");
    let review = listed(&["memory", "review"]);
    assert!(review.as_array().unwrap().iter().any(|one| one["memory_id"] == json!(id)), "{review}");
    let contradictions = listed(&["memory", "contradictions"]);
    assert_eq!(contradictions.as_array().map(Vec::len), Some(1), "{contradictions}");
    let (code, _, said) = run_program(&program, &["memory", "end", &id, "--role", "clinician", "--by", by[1]], &[]);
    assert_eq!(code, 0, "{said}");
    let after = listed(&["memory", "show", &id]);
    assert_eq!(after["memory"]["standing"]["state"], json!("resolved"), "{after}");
}
