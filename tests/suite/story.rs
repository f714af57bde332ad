//! One patient, and every right, as a story. The chat sends messages, the desk uses verbs; each text is read in Spanish
//! and in English.

use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{ORG, PATIENT, Program, TestEngine, bodies, counts, document, event, on_every_program};

on_every_program!(one_patient_goes_through_every_right_in_both_languages);

/// A patient at a desk and in a chat, at instants that only move forward.
struct Story<'p> {
    program: &'p Program,
    minutes: u32,
}

impl Story<'_> {
    /// A minute later.
    fn now(&mut self) -> String {
        self.minutes += 1;
        format!("2026-07-01T{:02}:{:02}:00Z", 10 + self.minutes / 60, self.minutes % 60)
    }

    /// The chat or the clinic sends a message; it ends so.
    fn sends(&mut self, message: &Value, ends: &str) {
        let now = self.now();
        let output = self.program.ingest(&bodies(std::slice::from_ref(message)), &[("ANAMNESIS__PIPELINE__NOW", &now)]);
        assert_eq!(counts(&output)[ends], json!(1), "{message}");
    }

    /// The patient writes in the chat.
    fn writes(&mut self, command: &str, more: &Value) {
        let at = format!("2026-07-01T{:02}:{:02}:30Z", 10 + self.minutes / 60, self.minutes % 60);
        let mut data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": command,
            "actor": {"id": PATIENT, "role": "patient"}, "issued_at": at});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let id = format!("chat-{}", self.minutes);
        self.sends(&event(&id, "anamnesis.memory.command.v1", &data), "stored");
    }

    /// A verb at the desk: its exit code and all that it prints.
    fn asks(&mut self, arguments: &[&str]) -> (i32, String) {
        let now = self.now();
        let (org, patient) = (ORG.to_string(), PATIENT.to_string());
        let output = self
            .program
            .command(&[("ANAMNESIS__PIPELINE__NOW", &now)])
            .args(arguments)
            .args(["--org", &org, "--patient", &patient])
            .output()
            .unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap(), printed)
    }

    /// A verb, read in both languages.
    fn reads(&mut self, arguments: &[&str], [english, spanish]: [&str; 2]) {
        for (language, text) in [("en", english), ("es", spanish)] {
            let (code, printed) = self.asks(&[arguments, &["--language", language]].concat());
            assert!(code == 0 && printed.contains(text), "{arguments:?} in {language}: {printed}");
        }
    }

    /// The newest answer of a kind, opened by the patient.
    fn opens(&mut self, kind: &str, texts: [&str; 2]) {
        let (_, listed) = self.asks(&["answer", "list", "--output", "json"]);
        let answers: Vec<Value> = serde_json::from_str(&listed).unwrap();
        let newest =
            answers.iter().filter(|one| one["kind"] == json!(kind)).max_by_key(|one| one["answered_at"].to_string());
        let newest = newest.unwrap_or_else(|| panic!("no {kind} among {listed}"));
        let id = newest["answer_id"].as_str().unwrap().to_owned();
        self.reads(&["answer", "show", "--id", &id, "--by", &PATIENT.to_string()], texts);
    }

    fn remembers(&mut self, word: &str) -> bool {
        let (_, listed) = self.asks(&["memory", "list", "--output", "json"]);
        listed.contains(word)
    }
}

async fn one_patient_goes_through_every_right_in_both_languages(engine: TestEngine) {
    let program = Program::on(engine).await;
    let mut story = Story { program: &program, minutes: 0 };
    reads_what_is_remembered_and_takes_a_copy(&mut story);
    forgets_recovers_and_speaks_without_being_kept(&mut story);
    consents_and_is_kept_by_a_court(&mut story);
    is_erased_and_what_comes_late_is_refused(&mut story);
    leaves_a_trail_without_words(&mut story);
}

fn reads_what_is_remembered_and_takes_a_copy(story: &mut Story<'_>) {
    let patient = PATIENT.to_string();
    // A note arrives from the clinic. The desk sees its redactions, without the values.
    let mut note = document(
        1,
        1,
        "2026-06-20T10:00:00Z",
        "Zuriñe Etxeandia refiere vértigo. Alérgica a la penicilina. Toma sertralina 50 mg al día.",
    );
    note["known_identities"] = json!([{"role": "patient", "names": ["Zuriñe Etxeandia"]}]);
    story.sends(&note, "stored");
    let (_, receipts) = story.asks(&["redact", "receipts", "--output", "json"]);
    assert!(receipts.contains("PERSON") && !receipts.contains("Zuri"), "{receipts}");

    // «/privacidad»: what is remembered of me?
    story.writes("privacy_report", &json!({}));
    story.opens("privacy_report", ["What is remembered about you:", "Lo que se recuerda de usted:"]);
    story.reads(&["privacy", "--by", &patient], ["clinical notes", "notas clínicas"]);

    // «/exportar»: a copy of all of it.
    story.writes("export", &json!({}));
    story.opens(
        "export",
        ["This is a copy of all that is held about you", "Esta es una copia de todo lo que se guarda sobre usted"],
    );
    let (_, exported) = story.asks(&["export"]);
    assert!(exported.contains("penicilina") && !exported.contains("Zuri"), "{exported}");
}

fn forgets_recovers_and_speaks_without_being_kept(story: &mut Story<'_>) {
    let patient = PATIENT.to_string();
    // «/olvidar sertralina»: first a preview, then done, then recovered.
    story.writes("forget", &json!({"topic": "sertralina", "preview": true}));
    story.opens(
        "preview",
        [
            "1 memory would be forgotten. Nothing was changed yet.",
            "Se olvidaría 1 recuerdo. Todavía no se ha cambiado nada.",
        ],
    );
    assert!(story.remembers("sertralin"));
    story.writes("forget", &json!({"topic": "sertralina"}));
    assert!(!story.remembers("sertralin"));
    story.writes("recover", &json!({"topic": "sertralina"}));
    assert!(story.remembers("sertralin"));
    let nothing = ["memory", "forget", "--topic", "insulina", "--by", &patient, "--role", "patient"];
    story.reads(&nothing, ["Nothing that is remembered speaks of it.", "Nada de lo que se recuerda habla de eso."]);

    // «/efimero»: from here nothing is stored; a note with a disease leaves no trace.
    story.reads(&["ephemeral", "status"], ["What you say is being remembered.", "Se está recordando lo que dice."]);
    story.writes("ephemeral_on", &json!({}));
    story.reads(
        &["ephemeral", "status"],
        ["Nothing that you say is being kept.", "No se está guardando nada de lo que dice."],
    );
    let during = format!("2026-07-01T{:02}:{:02}:45Z", 10 + story.minutes / 60, story.minutes % 60);
    story.sends(&document(2, 1, &during, "Diagnosticada de asma."), "ephemeral");
    story.writes("ephemeral_off", &json!({}));
    assert!(!story.remembers("asma"));
}

fn consents_and_is_kept_by_a_court(story: &mut Story<'_>) {
    let patient = PATIENT.to_string();
    let officer = Uuid::from_u128(7).to_string();
    // Consent: counted in statistics, no; stored, yes.
    for (scope, provision) in [("research", "deny"), ("memory", "permit")] {
        let (code, printed) =
            story.asks(&["consent", "record", "--scope", scope, "--provision", provision, "--by", &patient]);
        assert_eq!(code, 0, "{printed}");
    }
    story.reads(
        &["consent", "show"],
        [
            "That you are counted in statistics: you do not permit it.",
            "Que se le cuente en estadísticas: usted no lo permite.",
        ],
    );
    story.reads(
        &["consent", "show"],
        ["That what you say is kept: you permit it.", "Que se guarde lo que dice: usted lo permite."],
    );

    // A court keeps the record: nothing can be erased, and it is said why.
    let (code, held) = story.asks(&["hold", "set", "--by", &officer, "--reference", "case 12/26", "--output", "json"]);
    assert_eq!(code, 0, "{held}");
    for (language, text) in [("en", "It cannot be erased now"), ("es", "No se puede borrar ahora")] {
        let (code, printed) = story.asks(&["erase", "--by", &officer, "--language", language]);
        assert!(code != 0 && printed.contains(text), "{printed}");
    }
    let hold = serde_json::from_str::<Value>(held.lines().next().unwrap()).unwrap();
    let hold = hold["hold_id"].as_str().unwrap().to_owned();
    let (code, printed) = story.asks(&["hold", "lift", &hold, "--by", &officer]);
    assert_eq!(code, 0, "{printed}");
}

fn is_erased_and_what_comes_late_is_refused(story: &mut Story<'_>) {
    let officer = Uuid::from_u128(7).to_string();
    // «/borrar»: one document, and then everything. Late messages are rejected.
    story.sends(&document(3, 1, "2026-06-22T10:00:00Z", "Diagnosticada de migraña."), "stored");
    let third = Uuid::from_u128(3).to_string();
    let (_, spanish) = story.asks(&["erase", "--document", &third, "--by", &officer, "--language", "es"]);
    assert!(spanish.contains("El documento y lo que se obtuvo de él se han borrado para siempre."), "{spanish}");
    assert!(!story.remembers("migra"));
    story.writes("erase", &json!({}));
    let (_, again) = story.asks(&["erase", "--by", &officer, "--language", "en"]);
    assert!(again.contains("Everything about you was erased for good."), "{again}");
    let (_, again) = story.asks(&["erase", "--by", &officer, "--language", "es"]);
    assert!(again.contains("Se ha borrado para siempre todo lo suyo."), "{again}");
    story.sends(&document(4, 1, "2026-06-23T10:00:00Z", "Diagnosticada de anemia."), "quarantined");
    let (_, receipts) = story.asks(&["erase", "--receipts", "--output", "json"]);
    let receipts: Vec<Value> = serde_json::from_str(receipts.lines().next().unwrap()).unwrap();
    assert_eq!(receipts.iter().map(|one| one["what"].as_str().unwrap()).collect::<Vec<_>>(), ["document", "patient"]);
}

fn leaves_a_trail_without_words(story: &mut Story<'_>) {
    // No entry of the trail contains a statement.
    let (_, trail) = story.asks(&["audit", "list", "--limit", "1000", "--output", "json"]);
    for action in [
        "document_stored",
        "read_redaction_receipts",
        "answered",
        "answer_shown",
        "exported",
        "forgotten",
        "recovered",
        "ephemeral_on",
        "consent_deny",
        "hold_set",
        "hold_lifted",
        "erase",
    ] {
        assert!(trail.contains(&format!("\"{action}\"")), "{action}: {trail}");
    }
    for word in ["sertralin", "penicilin", "vértigo", "Zuri"] {
        assert!(!trail.contains(word), "{word}");
    }
}
