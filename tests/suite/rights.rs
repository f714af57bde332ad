//! Requests of people about their memory: by message and by verb, in Spanish and in English. Answers are stored sealed
//! for a term and announced by a reference.

use anamnesis_core::ids::PatientId;
use anamnesis_core::scope::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

use super::canary::search_files;
use super::support::{
    ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, event, on_every_program, scope,
};

on_every_program!(
    a_request_by_message_is_answered_sealed_and_announced_by_a_reference,
    what_a_message_would_forget_is_shown_before_it_is_forgotten,
    what_a_patient_asks_for_by_a_message_is_answered_in_words_when_it_is_done,
    an_answer_says_what_was_done_and_not_what_was_asked_for,
    commands_that_undo_each_other_are_answered_by_what_is_so_now,
    an_answer_goes_after_its_term_and_with_an_erasure,
    rights_are_spoken_of_in_the_patients_language,
    a_receipt_of_redaction_counts_what_was_taken_and_holds_no_value,
);

const AT: &str = "2026-06-20T10:00:00Z";
const TEXT: &str = "Alérgica a la penicilina: anafilaxia. Toma sertralina 50 mg al día.";

fn verb(program: &Program, more: &[(&str, &str)], arguments: &[&str]) -> String {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let of = ["--org", &org, "--patient", &patient];
    let output = program.command(more).args(arguments).args(of).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn asks(id: &str, command: &str) -> Value {
    let data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": command,
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": "2026-06-21T12:00:00Z"});
    event(id, "anamnesis.memory.command.v1", &data)
}

fn answers(program: &Program, more: &[(&str, &str)]) -> Vec<Value> {
    serde_json::from_str(&verb(program, more, &["answer", "list", "--output", "json"])).unwrap()
}

fn id_of(answers: &[Value], kind: &str) -> String {
    let one = answers.iter().find(|one| one["kind"] == json!(kind)).unwrap();
    one["answer_id"].as_str().unwrap().to_owned()
}

async fn asked(engine: TestEngine) -> Program {
    let program = Program::on(engine).await;
    let sent = [document(1, 1, AT, TEXT), asks("r-1", "privacy_report"), asks("r-2", "export")];
    let output = program.ingest(&bodies(&sent), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    program
}

async fn a_request_by_message_is_answered_sealed_and_announced_by_a_reference(engine: TestEngine) {
    let program = asked(engine).await;
    // The same messages again have their answers already.
    program.ingest(&bodies(&[asks("r-1", "privacy_report"), asks("r-2", "export")]), &[]);
    let all = answers(&program, &[]);
    assert_eq!(all.len(), 2, "{all:?}");
    let (report, export) = (id_of(&all, "privacy_report"), id_of(&all, "export"));
    let by = ["--by", &PATIENT.to_string()];
    let show =
        |id: &str, more: &[&str]| verb(&program, &[], &[&["answer", "show", "--id", id], &by[..], more].concat());
    let spanish = show(&report, &["--language", "es"]);
    assert!(spanish.contains("Lo que se recuerda de usted:") && spanish.contains("notas clínicas"), "{spanish}");
    let english = show(&report, &["--language", "en"]);
    assert!(english.contains("What is remembered about you:") && english.contains("clinical notes"), "{english}");
    let whole: Value = serde_json::from_str(&show(&report, &["--output", "json"])).unwrap();
    assert_eq!(whole["content"]["report"]["documents"][0]["count"], json!(1), "what came in its batch counts: {whole}");
    let exported = show(&export, &["--language", "es"]);
    assert!(exported.starts_with("Esta es una copia de todo") && exported.contains("anafilaxia"), "{exported}");

    let store = program.store().await;
    let sent = "SELECT count(*) FROM outbox WHERE event_type = 'anamnesis.rights.answered.v1'";
    assert_eq!(count(&store, sent).await, 2, "each is announced once");
    let other = Scope::new(scope().org(), PatientId(Uuid::from_u128(0xbeef))).unwrap();
    let foreign = store.intake().open_answer(other, export.parse().unwrap(), PATIENT).await.unwrap();
    assert!(foreign.is_none(), "nobody reads the answer of another patient");
    store.close().await;
    if engine == TestEngine::File {
        // The ingested file is still where its sender put it.
        std::fs::remove_file(program.folder.path().join("messages.ndjson")).unwrap();
        let words = ["anafilaxia".to_owned(), "se recuerda de usted".to_owned()];
        assert!(search_files(program.folder.path(), &words) > 2, "no file holds it in clear");
    }
}

async fn what_a_message_would_forget_is_shown_before_it_is_forgotten(engine: TestEngine) {
    let program = Program::on(engine).await;
    let about = |id: &str, topic: &str, preview: bool| {
        let mut command = asks(id, "forget");
        command["data"]["topic"] = json!(topic);
        command["data"]["preview"] = json!(preview);
        command
    };
    program.ingest(&bodies(&[document(1, 1, AT, TEXT)]), &[]);
    program.ingest(&bodies(&[about("f-1", "sertralina", true), about("f-2", "insulina", true)]), &[]);
    let by = PATIENT.to_string();
    let shown: Vec<String> = answers(&program, &[])
        .iter()
        .map(|one| {
            verb(
                &program,
                &[],
                &["answer", "show", "--id", one["answer_id"].as_str().unwrap(), "--by", &by, "--language", "es"],
            )
        })
        .collect();
    assert_eq!(shown.len(), 2);
    assert!(shown.iter().any(|text| text.contains("50 mg") && text.contains("Se olvidaría 1 recuerdo.")), "{shown:?}");
    assert!(shown.iter().any(|text| text.contains("No se ha cambiado nada.")), "{shown:?}");
    let listed = || verb(&program, &[], &["memory", "list", "--entity", "medication", "--output", "json"]);
    assert!(listed().contains("sertraline"), "a preview changes nothing: {}", listed());
    program.ingest(&bodies(&[about("f-3", "sertralina", false)]), &[]);
    assert!(!listed().contains("\"active\""), "{}", listed());
}

async fn what_a_patient_asks_for_by_a_message_is_answered_in_words_when_it_is_done(engine: TestEngine) {
    let program = Program::on(engine).await;
    program.ingest(&bodies(&[document(1, 1, AT, TEXT)]), &[]);
    let about = |id: &str, command: &str, topic: &str| {
        let mut command = asks(id, command);
        command["data"]["topic"] = json!(topic);
        command
    };
    let consents = |id: &str, scope: &str, by: Uuid| {
        let data = json!({"organization_id": ORG, "patient_id": PATIENT, "scope": scope, "provision": "deny",
            "from": "2026-06-21T12:00:00Z", "recorded_by": by});
        event(id, "anamnesis.consent.recorded.v1", &data)
    };
    let other = Uuid::from_u128(9);
    let mut of_clinician = about("w-8", "forget", "penicilina");
    of_clinician["data"]["actor"] = json!({"id": other, "role": "clinician"});
    let sent = [
        about("w-1", "forget", "sertralina"),
        about("w-2", "forget", "insulina"),
        asks("w-4", "ephemeral_on"),
        consents("w-6", "research", PATIENT),
        // Acts of others in a patient's name are answered where they act.
        consents("w-7", "research", other),
        of_clinician,
    ];
    let done = counts(&program.ingest(&bodies(&sent), &[]));
    assert_eq!(done["stored"], json!(6), "{done}");
    let mut off = asks("w-5", "ephemeral_off");
    off["data"]["issued_at"] = json!("2026-06-21T12:30:00Z");
    program.ingest(&bodies(&[off]), &[]);
    let mut later = about("w-3", "recover", "sertralina");
    later["data"]["issued_at"] = json!("2026-06-21T13:00:00Z");
    program.ingest(&bodies(&[later]), &[]);
    // The same message again is answered already.
    program.ingest(&bodies(&[asks("w-4", "ephemeral_on")]), &[]);
    let all = answers(&program, &[]);
    let kinds: Vec<&str> = all.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "forget").count(), 2, "{kinds:?}");
    assert_eq!(all.len(), 6, "{kinds:?}");
    let by = PATIENT.to_string();
    let said = |kind: &str, language: &str| -> String {
        let of_kind = all.iter().filter(|one| one["kind"] == json!(kind));
        let show = |one: &Value| {
            let id = one["answer_id"].as_str().unwrap();
            verb(&program, &[], &["answer", "show", "--id", id, "--by", &by, "--language", language])
        };
        of_kind.map(show).collect()
    };
    let (forgotten, english) = (said("forget", "es"), said("forget", "en"));
    assert!(forgotten.contains("Se ha olvidado 1 recuerdo. Puede recuperarlo durante 30 días"), "{forgotten}");
    assert!(forgotten.contains("Nada de lo que se recuerda habla de eso."), "{forgotten}");
    assert!(english.contains("1 memory was forgotten. You can take it back for 30 days"), "{english}");
    for (kind, language, text) in [
        ("recover", "es", "Se vuelve a recordar 1 recuerdo."),
        ("recover", "en", "1 memory is remembered again."),
        ("ephemeral_on", "es", "Desde ahora no se guarda nada de lo que diga."),
        ("ephemeral_on", "en", "From now on nothing that you say is kept."),
        ("ephemeral_off", "es", "Desde ahora se vuelve a recordar lo que diga."),
        ("ephemeral_off", "en", "From now on what you say is remembered again."),
        ("consent", "es", "Que se le cuente en estadísticas: usted no lo permite."),
        ("consent", "en", "That you are counted in statistics: you do not permit it."),
    ] {
        let said = said(kind, language);
        assert!(said.contains(text), "{kind}: {said}");
    }
    let store = program.store().await;
    let announced = "SELECT count(*) FROM outbox WHERE event_type = 'anamnesis.rights.answered.v1'";
    assert_eq!(count(&store, announced).await, 6, "each is announced once");
    store.close().await;
}

async fn an_answer_says_what_was_done_and_not_what_was_asked_for(engine: TestEngine) {
    let program = Program::on(engine).await;
    let about = |id: &str, topic: &str| {
        let mut command = asks(id, "forget");
        command["data"]["topic"] = json!(topic);
        command
    };
    let consent = |id: &str, provision: &str, from: &str| {
        let data = json!({"organization_id": ORG, "patient_id": PATIENT, "scope": "research", "provision": provision,
            "from": from, "recorded_by": PATIENT});
        event(id, "anamnesis.consent.recorded.v1", &data)
    };
    // The words and the request to forget them come together, and the request first.
    let together = [
        about("x-1", "sertralina"),
        about("x-2", "penicilina"),
        document(1, 1, AT, TEXT),
        consent("x-3", "deny", "2026-06-10T00:00:00Z"),
    ];
    let done = counts(&program.ingest(&bodies(&together), &[]));
    assert_eq!(done["stored"], json!(4), "{done}");
    // Permitted from next month on, it is not permitted now.
    program.ingest(&bodies(&[consent("x-4", "permit", "2026-08-01T00:00:00Z")]), &[]);
    // Already forgotten, and of no patient.
    let mut twice = asks("x-5", "forget");
    let listed =
        verb(&program, &[], &["memory", "list", "--entity", "medication", "--state", "inactive", "--output", "json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    twice["data"]["memory_ids"] = json!([listed[0]["memory_id"], listed[0]["memory_id"]]);
    program.ingest(&bodies(&[twice]), &[]);
    let all = answers(&program, &[]);
    let by = PATIENT.to_string();
    let texts: Vec<String> = all
        .iter()
        .map(|one| {
            let id = one["answer_id"].as_str().unwrap();
            verb(&program, &[], &["answer", "show", "--id", id, "--by", &by, "--language", "es"])
        })
        .collect();
    let said = |text: &str| texts.iter().filter(|said| said.contains(text)).count();
    assert_eq!(said("Se ha olvidado 1 recuerdo."), 1, "the words of the same batch: {texts:?}");
    assert_eq!(said("es de una alergia: se conserva hasta que decida un profesional."), 1, "{texts:?}");
    assert_eq!(said("Nada de lo que se recuerda habla de eso."), 1, "{texts:?}");
    assert_eq!(said("Que se le cuente en estadísticas: usted no lo permite."), 2, "{texts:?}");
    let allergies = verb(&program, &[], &["memory", "list", "--entity", "allergy", "--output", "json"]);
    assert!(allergies.contains("\"active\""), "{allergies}");
    // The verb says the same, before and after.
    let forget = ["memory", "forget", "--topic", "penicilina", "--by", &by, "--role", "patient", "--language", "en"];
    let kept = "1 memory is of an allergy: it is kept until a clinician decides.";
    let preview = verb(&program, &[], &[&forget[..], &["--preview"]].concat());
    assert!(preview.contains(kept) && !preview.contains("would be forgotten"), "{preview}");
    let after = verb(&program, &[], &forget);
    assert!(after.contains(kept) && !after.contains("forgotten."), "{after}");
}

/// The answer of a request that `ask` makes, in English.
fn answered_to(program: &Program, ask: impl FnOnce()) -> String {
    let before = answers(program, &[]);
    ask();
    let all = answers(program, &[]);
    let new = all.iter().filter(|one| !before.contains(one)).map(|one| one["answer_id"].as_str().unwrap());
    let by = PATIENT.to_string();
    new.map(|id| verb(program, &[], &["answer", "show", "--id", id, "--by", &by, "--language", "en"])).collect()
}

async fn commands_that_undo_each_other_are_answered_by_what_is_so_now(engine: TestEngine) {
    let program = Program::on(engine).await;
    program.ingest(&bodies(&[document(1, 1, AT, TEXT)]), &[]);
    let id_of_first = |entity: &str| -> Value {
        let listed = verb(&program, &[], &["memory", "list", "--entity", entity, "--output", "json"]);
        serde_json::from_str::<Vec<Value>>(&listed).unwrap()[0]["memory_id"].clone()
    };
    let id = id_of_first("medication");
    let at = |id: &str, command: &str, at: &str| {
        let mut one = asks(id, command);
        one["data"]["issued_at"] = json!(at);
        one
    };
    let with = |mut one: Value, id: &Value| {
        one["data"]["memory_ids"] = json!([id]);
        one
    };
    // Forgotten and recovered in one batch, it is remembered; a late switch has no effect.
    let both = [
        with(at("y-2", "forget", "2026-06-22T11:00:00Z"), &id),
        with(at("y-3", "recover", "2026-06-22T12:00:00Z"), &id),
        at("y-4", "ephemeral_off", "2026-06-22T12:00:00Z"),
    ];
    let late = answered_to(&program, || {
        assert_eq!(counts(&program.ingest(&bodies(&both), &[]))["stored"], json!(3));
        program.ingest(&bodies(&[at("y-5", "ephemeral_on", "2026-06-22T11:00:00Z")]), &[]);
    });
    assert!(late.contains("1 memory is kept: it was said or taken back since."), "{late}");
    assert_eq!(late.matches("1 memory is remembered again.").count(), 1, "{late}");
    assert!(late.contains("What you say is being remembered."), "{late}");
    assert!(!late.contains("nothing that you say is kept"), "{late}");
    // A memory that was never forgotten cannot be recovered.
    let never = with(at("z-1", "recover", "2026-06-23T12:00:00Z"), &id_of_first("allergy"));
    let said = answered_to(&program, || drop(program.ingest(&bodies(&[never]), &[])));
    assert!(said.contains("Nothing that is remembered speaks of it."), "{said}");
}

async fn an_answer_goes_after_its_term_and_with_an_erasure(engine: TestEngine) {
    let program = asked(engine).await;
    let org = ORG.to_string();
    let upkeep = |now: &str, date: &str| {
        let run = program
            .command(&[("ANAMNESIS__PIPELINE__NOW", now)])
            .args(["job", "run", "upkeep", "--as-of", date, "--org", &org])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    };
    upkeep("2026-07-30T12:00:00Z", "2026-07-29");
    assert_eq!(answers(&program, &[]).len(), 2, "before its term it stays");
    upkeep("2026-08-05T12:00:00Z", "2026-08-04");
    assert_eq!(answers(&program, &[]).len(), 0);
    program.ingest(&bodies(&[asks("r-3", "export")]), &[]);
    let store = program.store().await;
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap().get("rights_answer"), Some(&1));
    store.close().await;
    let erased = verb(&program, &[], &["erase", "--by", &PATIENT.to_string(), "--language", "es"]);
    assert!(erased.contains("Se ha borrado para siempre todo lo suyo."), "{erased}");
    let store = program.store().await;
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
}

async fn rights_are_spoken_of_in_the_patients_language(engine: TestEngine) {
    let program = Program::on(engine).await;
    program.ingest(&bodies(&[document(1, 1, AT, TEXT)]), &[]);
    let patient = PATIENT.to_string();
    let by = ["--by", &patient, "--role", "patient"];
    let say = |arguments: &[&str], language: &str, now: &str| {
        let more = [("ANAMNESIS__PIPELINE__NOW", now)];
        verb(&program, &more, &[arguments, &["--language", language]].concat())
    };
    let now = "2026-07-01T12:00:00Z";
    let about = [&["memory", "forget", "--topic", "sertralina"][..], &by].concat();
    let preview = say(&[&about[..], &["--preview"]].concat(), "es", now);
    assert!(preview.contains("Se olvidaría 1 recuerdo. Todavía no se ha cambiado nada."), "{preview}");
    let forgotten = say(&about, "es", now);
    assert!(forgotten.contains("Se ha olvidado 1 recuerdo. Puede recuperarlo durante 30 días"), "{forgotten}");
    let nothing = say(&about, "en", "2026-07-01T12:05:00Z");
    assert!(nothing.contains("Nothing that is remembered speaks of it."), "{nothing}");
    let recover = [&["memory", "recover", "--topic", "sertralina"][..], &by].concat();
    let recovered = say(&recover, "en", "2026-07-01T12:10:00Z");
    assert!(recovered.contains("1 memory is remembered again."), "{recovered}");
    let later = "2026-07-01T13:00:00Z";
    assert!(say(&["ephemeral", "status"], "es", later).contains("Se está recordando lo que dice."));
    let on = say(&[&["ephemeral", "on"][..], &by].concat(), "es", later);
    assert!(on.contains("Desde ahora no se guarda nada de lo que diga."), "{on}");
    assert!(say(&["ephemeral", "status"], "en", later).contains("Nothing that you say is being kept."));
    let ephemeral = document(2, 1, "2026-07-01T13:05:00Z", "Diagnosticada de asma.");
    program.ingest(&bodies(&[ephemeral]), &[("ANAMNESIS__PIPELINE__NOW", "2026-07-01T13:10:00Z")]);
    let off = say(&[&["ephemeral", "off"][..], &by].concat(), "en", "2026-07-01T14:00:00Z");
    assert!(off.contains("From now on what you say is remembered again."), "{off}");
    let listed = say(&["privacy", "--by", &patient], "es", "2026-07-01T14:05:00Z");
    assert!(listed.contains("   1  notas clínicas"), "what was said meanwhile was not kept: {listed}");
    let deny = ["consent", "record", "--scope", "research", "--provision", "deny", "--by", &patient];
    let consent = say(&deny, "es", "2026-07-01T15:00:00Z");
    assert!(consent.contains("Que se le cuente en estadísticas: usted no lo permite."), "{consent}");
    assert!(consent.contains("Que se guarde lo que dice: no consta nada."), "{consent}");
}

async fn a_receipt_of_redaction_counts_what_was_taken_and_holds_no_value(engine: TestEngine) {
    let program = Program::on(engine).await;
    let mut note = document(1, 1, AT, "Paciente Zuriñe Etxeandia, teléfono 612 345 678. Toma sertralina.");
    note["known_identities"] = json!([{"role": "patient", "names": ["Zuriñe Etxeandia"]}]);
    program.ingest(&bodies(&[note]), &[]);
    let printed = verb(&program, &[], &["redact", "receipts", "--output", "json"]);
    let receipts: Vec<Value> = serde_json::from_str(&printed).unwrap();
    assert_eq!(receipts.len(), 1, "{printed}");
    assert!(receipts[0]["redacted_by"].as_str().unwrap().contains("safe_harbor"), "{printed}");
    assert_eq!((&receipts[0]["taken"]["PERSON"], &receipts[0]["taken"]["PHONE"]), (&json!(1), &json!(1)), "{printed}");
    assert_eq!(receipts[0]["recognizers"].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>(), 2);
    for value in ["Zuriñe", "Etxeandia", "612"] {
        assert!(!printed.contains(value), "{value}: {printed}");
    }
}
