//! Where a scenario is played: the program with a store of its own, run as a process at the instant of each step.

use std::io::Write as _;
use std::process::{Command, Stdio};

use chrono::{DateTime, TimeZone as _, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::expect;
use crate::grammar::{Action, Reader, StepKind, Then};
use crate::server::TestDatabase;

const ORG: Uuid = Uuid::from_u128(0x0c11_0000_0000_4000_8000_0000_0000_0001);
const PATIENT: Uuid = Uuid::from_u128(0x0c11_0000_0000_4000_8000_0000_0000_0002);
const ACTOR: Uuid = Uuid::from_u128(0x0c11_0000_0000_4000_8000_0000_0000_0003);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    File,
    Postgres,
}

impl Engine {
    pub(crate) const ALL: [Engine; 2] = [Engine::File, Engine::Postgres];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::File => "on a file",
            Self::Postgres => "on PostgreSQL",
        }
    }
}

/// Files of a scenario come from a clinic that may say everything, on both engines.
const CONFIGURATION: &str = r#"
[intake.files]
source = "urn:scenario"

[[intake.producers]]
source = "urn:scenario"
organizations = "any"
types = [
  "anamnesis.document.submitted.v1", "anamnesis.health_signal.recorded.v1", "anamnesis.profile.updated.v1",
  "anamnesis.consent.recorded.v1", "anamnesis.memory.command.v1",
]
document_types = [
  "session_transcript", "analysis", "intake_form", "chat_message", "clinical_note", "uploaded_document",
]
roles = ["patient", "clinician", "family", "agent", "system"]
"#;

/// The exit status and the output of one run of the program.
struct CommandOutput {
    succeeded: bool,
    out: String,
    err: String,
}

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    server: Option<TestDatabase>,
    now: DateTime<Utc>,
    carried: Map<String, Value>,
    /// Documents by their labels, as they were sent last.
    documents: Map<String, Value>,
    sent: u32,
    /// Counts of the last `ingest`.
    last: Value,
    /// Variables that override keys of the configuration.
    settings: Vec<(String, String)>,
}

impl Stage {
    /// # Errors
    /// When the program cannot make its keys.
    pub(crate) fn new(engine: Engine) -> Result<Self, String> {
        let server = match engine {
            Engine::File => None,
            Engine::Postgres => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                Some(runtime.expect("a runtime").block_on(TestDatabase::new()))
            }
        };
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        std::fs::write(folder.path().join("anamnesis.toml"), CONFIGURATION).map_err(|error| error.to_string())?;
        let now = Utc.with_ymd_and_hms(2026, 1, 1, 9, 0, 0).single().expect("an instant");
        let (carried, documents, settings) = (Map::new(), Map::new(), Vec::new());
        let stage = Self { folder, server, now, carried, documents, sent: 0, last: Value::Null, settings };
        if stage.server.is_some() {
            stage.done(&["keys", "init"])?;
        }
        Ok(stage)
    }

    /// Does what a step says, or looks whether it holds.
    ///
    /// # Errors
    /// With what does not hold, and what is there.
    pub(crate) fn act(&mut self, action: &Action) -> Result<(), String> {
        if let Some(at) = action.at {
            if at < self.now && !matches!(action.kind, StepKind::Document { .. } | StepKind::Message { .. }) {
                return Err("a step may not lie before the one it follows".to_owned());
            }
            self.now = self.now.max(at);
        }
        let said_at = action.at.unwrap_or(self.now);
        match &action.kind {
            StepKind::Wait => Ok(()),
            StepKind::Carry(fields) => {
                self.carried = fields.clone();
                Ok(())
            }
            StepKind::Document { kind, label, text } => {
                let id = Uuid::new_v5(&ORG, label.as_bytes());
                let mut data = json!({"document_id": id, "revision": 1, "document_type": kind, "occurred_at": said_at});
                say(&mut data, text);
                for (path, value) in std::mem::take(&mut self.carried) {
                    set(&mut data, &path, value);
                }
                self.documents.insert(label.clone(), data.clone());
                self.send("anamnesis.document.submitted.v1", data)
            }
            StepKind::Revise { label, revision, text } => {
                let mut data = self.documents.get(label).cloned().ok_or("no such document was sent")?;
                set(&mut data, "revision", Value::from(*revision));
                say(&mut data, text);
                self.send("anamnesis.document.submitted.v1", data)
            }
            StepKind::Message { kind, data } => {
                let data = self.completed(kind, data.clone(), said_at);
                self.send(kind, data)
            }
            StepKind::Command { role, command, about, more } => {
                let mut data = json!({"actor": {"id": ACTOR, "role": role}, "command": command});
                if let Some(about) = about {
                    let forgotten = *command == "recover";
                    data["memory_ids"] = json!([self.memory_of(about, forgotten)?]);
                }
                data.as_object_mut().expect("an object").extend(more.clone());
                self.send("anamnesis.memory.command.v1", data)
            }
            StepKind::Jobs(Some(job)) => self.done(&["job", "run", job]).map(drop),
            StepKind::Jobs(None) => self.all_jobs(),
            StepKind::Verb { line, then } => self.verb(line, then),
            StepKind::Became(expected) => expect::became(&self.last, expected),
            StepKind::Memory { holds, rows } => {
                let memories = self.memories(false)?;
                rows.iter().try_for_each(|row| expect::row(&memories, row, *holds))
            }
            StepKind::Reader { reader, shows, words } => self.reader(reader, *shows, words),
            StepKind::File { name, text } => {
                std::fs::write(self.folder.path().join(name), text).map_err(|error| error.to_string())
            }
            StepKind::Setting { key, value } => {
                let variable = format!("ANAMNESIS__{}", key.to_uppercase().replace('.', "__"));
                self.settings.push((variable, value.clone()));
                Ok(())
            }
            StepKind::Rule { question, answer } => {
                let printed = self.run(&["rules"], Some(&question.to_string()))?;
                let given: Value = serde_json::from_str(&printed.out).map_err(|_| printed.err.clone())?;
                expect::answer(&given, answer)
            }
        }
    }

    /// Every job in the order of the list, which is that of their hours.
    fn all_jobs(&self) -> Result<(), String> {
        let listed = self.done(&["job", "list", "--output", "json"])?.out;
        let jobs = listed.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>();
        let jobs = jobs.map_err(|error| error.to_string())?;
        let names: Vec<&str> = jobs.iter().filter_map(|job| job["job"].as_str()).collect();
        names.iter().try_for_each(|name| self.done(&["job", "run", name]).map(drop))
    }

    fn completed(&self, kind: &str, mut data: Value, said_at: DateTime<Utc>) -> Value {
        let defaults = match kind {
            "anamnesis.profile.updated.v1" => json!({"actor": ACTOR, "recorded_at": said_at}),
            "anamnesis.health_signal.recorded.v1" => json!({"synced_at": said_at, "device": "watch"}),
            "anamnesis.consent.recorded.v1" => json!({"from": said_at, "recorded_by": ACTOR}),
            _ => json!({"actor": {"id": ACTOR, "role": "clinician"}}),
        };
        for (key, value) in defaults.as_object().into_iter().flatten() {
            if data.get(key).is_none() {
                data[key] = value.clone();
            }
        }
        data
    }

    /// Sends a message by `ingest -`, as a file or a queue would bring it.
    fn send(&mut self, kind: &str, mut data: Value) -> Result<(), String> {
        data["organization_id"] = json!(ORG);
        data["patient_id"] = json!(PATIENT);
        self.sent += 1;
        let event = json!({"specversion": "1.0", "id": format!("scenario-{}", self.sent), "source": "urn:scenario",
            "type": kind, "time": self.now, "data": data});
        let printed = self.run(&["ingest", "-", "--output", "json"], Some(&event.to_string()))?;
        self.last = serde_json::from_str(&printed.out).map_err(|_| printed.err)?;
        Ok(())
    }

    fn memories(&self, forgotten: bool) -> Result<Vec<Value>, String> {
        // Who checks what is held does so on a ground, whatever a patient denies.
        let mut arguments = vec!["memory", "list", "--purpose", "legal"];
        if forgotten {
            arguments.extend(["--state", "inactive"]);
        }
        let printed = self.of_patient(&arguments)?;
        serde_json::from_str(&printed.out).map_err(|_| printed.err)
    }

    /// The id of the one memory whose statement holds these words; of several, the one that is active.
    fn memory_of(&self, words: &str, forgotten: bool) -> Result<String, String> {
        let memories = self.memories(forgotten)?;
        let mut found: Vec<&Value> = memories.iter().filter(|memory| expect::speaks_of(memory, words)).collect();
        if found.len() > 1 {
            found.retain(|memory| memory["state"] == "active");
        }
        match found.as_slice() {
            [memory] => Ok(memory["memory_id"].as_str().unwrap_or_default().to_owned()),
            _ => Err(format!("{} memories speak of {words:?}\n{}", found.len(), expect::table(&memories))),
        }
    }

    fn verb(&self, line: &str, then: &Then) -> Result<(), String> {
        let mut line = line.to_owned();
        while let Some((before, rest)) = line.split_once("{memory of \"") {
            let (words, after) = rest.split_once("\"}").ok_or("{memory of \"words\"} must end")?;
            line = format!("{before}{}{after}", self.memory_of(words, false)?);
        }
        while let Some((before, rest)) = line.split_once("{document of \"") {
            let (label, after) = rest.split_once("\"}").ok_or("{document of \"label\"} must end")?;
            line = format!("{before}{}{after}", Uuid::new_v5(&ORG, label.as_bytes()));
        }
        let line = line.replace("{org}", &ORG.to_string()).replace("{patient}", &PATIENT.to_string());
        let line = line.replace("{actor}", &ACTOR.to_string());
        let arguments = split(&line);
        let printed = self.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), None)?;
        let all = format!("{}\n{}", printed.out, printed.err);
        let says = |words: &str| expect::holds(&all, words);
        match then {
            Then::Succeeds if printed.succeeded => Ok(()),
            Then::Fails(words) if !printed.succeeded && says(words) => Ok(()),
            Then::Shows(words) if printed.succeeded && says(words) => Ok(()),
            Then::Hides(words) if printed.succeeded && !says(words) => Ok(()),
            _ => Err(all),
        }
    }

    fn reader(&self, reader: &Reader, shows: bool, words: &str) -> Result<(), String> {
        let printed = match reader {
            Reader::Profile => self.of_patient(&["profile"])?.out,
            Reader::Context { question: None } => self.of_patient(&["context"])?.out,
            Reader::Context { question: Some(question) } => self.passages(question)?,
            Reader::Review => self.of_patient(&["memory", "review"])?.out,
            Reader::Contradictions => self.of_patient(&["memory", "contradictions"])?.out,
            Reader::Export => self.of_patient(&["export"])?.out,
            Reader::History { of } => self.of_patient(&["memory", "history", &self.memory_of(of, false)?])?.out,
            Reader::Sources { of } => self.of_patient(&["memory", "trace", &self.memory_of(of, false)?])?.out,
            Reader::Anywhere => return self.nowhere(words),
        };
        if expect::holds(&printed, words) == shows { Ok(()) } else { Err(printed) }
    }

    /// The passages that answer a question, without the question itself.
    fn passages(&self, question: &str) -> Result<String, String> {
        let context: Value = serde_json::from_str(&self.of_patient(&["context", "--query", question])?.out)
            .map_err(|error| error.to_string())?;
        Ok(context["passages"].to_string())
    }

    fn nowhere(&self, words: &str) -> Result<(), String> {
        let readers: [&[&str]; 5] = [
            &["profile"],
            &["context", "--query", words],
            &["memory", "list", "--purpose", "legal"],
            &["memory", "review", "--purpose", "legal"],
            &["export"],
        ];
        for arguments in readers {
            let printed = self.of_patient(arguments)?.out;
            let shown: Value = serde_json::from_str(&printed).unwrap_or(Value::from(printed));
            let shown = without_question(shown).to_string();
            if expect::holds(&shown, words) {
                return Err(format!("{arguments:?} shows it\n{shown}"));
            }
        }
        Ok(())
    }

    /// A verb about the patient, printed as JSON.
    fn of_patient(&self, arguments: &[&str]) -> Result<CommandOutput, String> {
        let (org, patient) = (ORG.to_string(), PATIENT.to_string());
        let of = ["--org", &org, "--patient", &patient];
        let format: &[&str] = if arguments == ["export"] { &[] } else { &["--output", "json"] };
        self.run(&[arguments, &of, format].concat(), None)
    }

    fn done(&self, arguments: &[&str]) -> Result<CommandOutput, String> {
        let printed = self.run(arguments, None)?;
        if printed.succeeded { Ok(printed) } else { Err(format!("{arguments:?}: {}{}", printed.out, printed.err)) }
    }

    fn run(&self, arguments: &[&str], input: Option<&str>) -> Result<CommandOutput, String> {
        let own = |name: &str| self.folder.path().join(name).display().to_string();
        let url = self.server.as_ref().map(|server| server.url(Some("test_app"))).unwrap_or_default();
        let mut child = Command::new(env!("CARGO_BIN_EXE_anamnesis"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("ANAMNESIS_CONFIG", own("anamnesis.toml"))
            .env("ANAMNESIS__STORE__PATH", own("store.db"))
            .env("ANAMNESIS__STORE__KEYS", own("keys"))
            .env("ANAMNESIS__STORE__URL", url)
            .env("ANAMNESIS__STORE__POSTGRES__ALLOW_NOT_DURABLE", "true")
            .env("ANAMNESIS__PIPELINE__NOW", self.now.to_rfc3339())
            // Scenarios are short texts, which rules read in both profiles.
            .env("ANAMNESIS__EXTRACTION__PROFILE", "fast")
            .envs(self.settings.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            stdin
                .write_all(input.as_bytes())
                .and_then(|()| stdin.write_all(b"\n"))
                .map_err(|error| error.to_string())?;
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        Ok(CommandOutput {
            succeeded: output.status.success(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

/// Text, or turns where every line begins with who speaks.
fn say(data: &mut Value, text: &str) {
    let turn = |line: &str| {
        let (speaker, words) = line.split_once(": ")?;
        let speaker = speaker.to_lowercase();
        let known = ["patient", "clinician", "family", "agent", "unknown"].contains(&speaker.as_str());
        known.then(|| json!({"speaker": speaker, "text": words}))
    };
    match text.lines().filter(|line| !line.trim().is_empty()).map(|line| turn(line.trim())).collect::<Option<Vec<_>>>()
    {
        Some(turns) => data["turns"] = Value::Array(turns),
        None => data["text"] = Value::from(text),
    }
}

/// Sets a field by its path (`provenance.source`).
fn set(data: &mut Value, path: &str, value: Value) {
    let place = path.split('.').fold(data, |place, key| &mut place[key]);
    *place = value;
}

fn without_question(mut shown: Value) -> Value {
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("query");
    }
    shown
}

/// Arguments as a shell would cut them; only double quotes are known.
fn split(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (number, part) in line.split('"').enumerate() {
        if number % 2 == 1 {
            all.push(part.to_owned());
        } else {
            all.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    all
}
