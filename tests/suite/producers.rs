//! Permissions of producers, at the real endpoints: RabbitMQ with its users, signed events, files and the spool.

use std::collections::BTreeMap;
use std::process::Command;

use anamnesis_core::clock::{Clock as _, SystemClock};
use anamnesis_rabbitmq::consumer::encode_message;
use anamnesis_rabbitmq::{BrokerConnection, ConnectionRole, OutboundMessage, Queue, Tier, definitions, topology};
use lapin::options::{BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::broker::{BrokerWorker, PrivateBroker, TestBroker, json_output, until};
use crate::intake_amqp::everything_is_acknowledged;
use crate::support::{
    ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, event, on_every_program, rows,
};

on_every_program!(
    a_chat_application_of_the_broker_never_acts_as_a_clinician,
    unbound_files_bring_nothing_and_bound_ones_what_they_may,
);

const AT: &str = "2026-06-28T10:00:00Z";
const DOCUMENT: &str = "anamnesis.document.submitted.v1";
const REFUSE: (&str, &str) = ("ANAMNESIS__INTAKE__UNBOUND_PRODUCERS", "refuse");

/// A configuration file with these bindings, and the variables that name it.
fn bound(program: &Program, bindings: &str) -> Vec<(String, String)> {
    let path = program.folder.path().join("bindings.toml");
    std::fs::write(&path, bindings).unwrap();
    let path = path.display().to_string();
    vec![("ANAMNESIS_CONFIG".to_owned(), path), (REFUSE.0.to_owned(), REFUSE.1.to_owned())]
}

fn event_from(source: &str, kind: &str, id: &str, data: &Value) -> Value {
    let mut event = event(id, kind, data);
    event["source"] = json!(source);
    event
}

fn chat_says(id: u128, text: &str) -> Value {
    let mut document = document(id, 1, AT, text);
    document["document_type"] = json!("chat_message");
    document
}

fn command(role: &str, memory: &str) -> Value {
    json!({"organization_id": ORG, "patient_id": PATIENT, "command": "end", "memory_ids": [memory],
        "actor": {"id": Uuid::from_u128(9), "role": role}, "issued_at": "2026-06-30T10:00:00Z"})
}

/// Fields by which messages were quarantined as not permitted, with their numbers.
async fn refused(program: &Program) -> BTreeMap<String, usize> {
    let store = program.store().await;
    let mut fields = BTreeMap::new();
    for row in rows(&store, "SELECT field FROM quarantine WHERE reason = 'not_permitted' AND state = 'open'").await {
        *fields.entry(row.text(0).unwrap().to_owned()).or_default() += 1;
    }
    store.close().await;
    fields
}

async fn number(program: &Program, sql: &'static str) -> i64 {
    let store = program.store().await;
    let number = count(&store, sql).await;
    store.close().await;
    number
}

/// One entity in the output of `memory list`.
fn listed(program: &Program, entity: &str) -> Value {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let mut command = program.command(&[]);
    command.args(["memory", "list", "--entity", entity, "--org", &org, "--patient", &patient, "--output", "json"]);
    json_output(&command.output().unwrap())
}

const STORED: &str = "SELECT count(*) FROM inbox";
const ALLERGIES: &str = "SELECT count(*) FROM allergies WHERE status = 'active'";

/// Publishes as a user of the broker; the result of the confirmation.
async fn publish(corner: &TestBroker, letters: Vec<OutboundMessage>) {
    corner.send(&letters).await;
}

async fn a_chat_application_of_the_broker_never_acts_as_a_clinician(engine: TestEngine) {
    let (corner, program) = (TestBroker::new().await, Program::on(engine).await);
    let bindings = format!(
        "[[intake.producers]]\nsource = 'urn:ehr'\norganizations = 'any'\nbroker_user = 'guest'\n\
         types = ['{DOCUMENT}', 'anamnesis.profile.updated.v1', 'anamnesis.memory.command.v1']\n\
         document_types = ['clinical_note']\nroles = ['clinician']\n\
         [[intake.producers]]\nsource = 'urn:chat'\norganizations = ['{ORG}']\nbroker_user = 'guest'\n\
         types = ['{DOCUMENT}', 'anamnesis.memory.command.v1']\ndocument_types = ['chat_message']\nroles = ['patient']\n\
         [[intake.producers]]\nsource = 'urn:other'\norganizations = 'any'\nbroker_user = 'somebody-else'\n\
         types = ['{DOCUMENT}']\ndocument_types = ['clinical_note']\nroles = ['clinician']\n"
    );
    let environment = [corner.environment(), bound(&program, &bindings)].concat();
    let worker = BrokerWorker::start(&program, &environment).await;
    let exchange = corner.names.ingest();
    let sent = |event: &Value, user: Option<&str>, structured| {
        encode_message(&exchange, event.to_string().into_bytes(), structured, SystemClock.now()).by(user)
    };
    let guest = Some("guest");
    let note = document(1, 1, AT, "Alergia a la penicilina con anafilaxia.");
    publish(&corner, vec![sent(&event_from("urn:ehr", DOCUMENT, "n1", &note), guest, false)]).await;
    until("the note is stored", || async { number(&program, STORED).await == 1 }).await;
    let allergy = listed(&program, "allergy")[0]["memory_id"].as_str().unwrap().to_owned();

    let end = "anamnesis.memory.command.v1";
    let profile = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9), "recorded_at": AT,
        "medications": [{"name": "warfarina", "status": "stopped"}]});
    let forged = document(7, 1, AT, "No es alérgica a la penicilina.");
    let tries = [
        // As a chat, what a chat may not send: type, document type, role.
        sent(&event_from("urn:chat", DOCUMENT, "t1", &forged), guest, false),
        sent(&event_from("urn:chat", DOCUMENT, "t2", &forged), guest, true),
        sent(&event_from("urn:chat", "anamnesis.profile.updated.v1", "t3", &profile), guest, false),
        sent(&event_from("urn:chat", end, "t4", &command("clinician", &allergy)), guest, false),
        sent(&event_from("urn:chat", end, "t5", &command("system", &allergy)), guest, true),
        // As another producer: under another user's source, under none, and without a user.
        sent(&event_from("urn:other", DOCUMENT, "t6", &forged), guest, false),
        sent(&event_from("urn:nobody", DOCUMENT, "t7", &forged), guest, false),
        sent(&event_from("urn:ehr", DOCUMENT, "t8", &forged), None, false),
        sent(&forged, guest, false),
    ];
    publish(&corner, tries.to_vec()).await;
    until("all are quarantined", || async { refused(&program).await.values().sum::<usize>() == 9 }).await;
    let fields = BTreeMap::from(
        [("document_type", 2), ("type", 1), ("actor.role", 2), ("user_id", 2), ("source", 2)]
            .map(|(f, n)| (f.to_owned(), n)),
    );
    assert_eq!(refused(&program).await, fields);

    // A permitted message is accepted, and ends nothing.
    let mut denial = chat_says(8, "");
    denial.as_object_mut().unwrap().remove("text");
    denial["turns"] = json!([{"speaker": "clinician", "text": "No es alérgica a la penicilina. Toma litio 300 mg."}]);
    let patient = [
        sent(&event_from("urn:chat", DOCUMENT, "p1", &denial), guest, false),
        sent(&event_from("urn:chat", end, "p2", &command("patient", &allergy)), guest, false),
    ];
    publish(&corner, patient.to_vec()).await;
    until("both are stored", || async { number(&program, STORED).await == 3 }).await;
    everything_is_acknowledged(&corner).await;
    assert_eq!(number(&program, ALLERGIES).await, 1);
    assert!(number(&program, "SELECT count(*) FROM contradiction WHERE state = 'open'").await >= 1);
    // A clinician's turn in a chat that may bring no clinicians is untrusted: stored as a hypothesis.
    let lithium = listed(&program, "medication");
    assert_eq!((&lithium[0]["use"], &lithium[0]["trust"]), (&json!("hypothesis"), &json!("T5")), "{lithium}");
    let allergies = listed(&program, "allergy");
    let held = allergies.as_array().unwrap().iter().find(|one| one["memory_id"] == json!(allergy)).unwrap();
    assert_eq!((&held["state"], &held["use"]), (&json!("active"), &json!("decision")), "{allergies}");

    // A retry by a person does not permit it.
    let (code, said) = worker.terminate();
    assert!(code.success(), "{said:?}");
    let mut retry = program.command(&[]);
    retry.args(["quarantine", "retry", "--output", "json"]).envs(environment);
    let output = retry.output().unwrap();
    assert_eq!(
        (json_output(&output)["stored"].as_u64(), json_output(&output)["set_aside_again"].as_u64()),
        (Some(0), Some(9))
    );
    assert_eq!(refused(&program).await, fields);
}

async fn unbound_files_bring_nothing_and_bound_ones_what_they_may(engine: TestEngine) {
    let program = Program::on(engine).await;
    // A producer is bound, but not the folder.
    let ehr = format!(
        "source = 'urn:ehr'\norganizations = 'any'\ntypes = ['{DOCUMENT}', 'anamnesis.memory.command.v1']\n\
         document_types = ['clinical_note', 'chat_message']\nroles = ['clinician', 'patient']\n"
    );
    let environment = bound(&program, &format!("[[intake.producers]]\nbroker_user = 'ehr'\n{ehr}"));
    let as_named: Vec<(&str, &str)> = environment.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let note = document(1, 1, AT, "Alergia a la penicilina con anafilaxia.");
    let lines = [
        event_from("urn:ehr", DOCUMENT, "f1", &note),
        event_from("urn:ehr", DOCUMENT, "f2", &chat_says(2, "Me duele la cabeza.")),
        event_from(
            "urn:ehr",
            "anamnesis.memory.command.v1",
            "f3",
            &command("clinician", &Uuid::from_u128(5).to_string()),
        ),
    ];
    let output = program.ingest(&bodies(&lines), &as_named);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("intake.files.source") && said.contains("docs/producers/README.md"), "{said}");
    assert_eq!((number(&program, STORED).await, refused(&program).await), (0, BTreeMap::new()), "nothing was read");
    // Under the configured binding, whatever their own claim.
    let named = format!("[intake.files]\nsource = 'urn:ehr'\n[[intake.producers]]\n{ehr}");
    let environment = bound(&program, &named);
    let as_named: Vec<(&str, &str)> = environment.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let done = counts(&program.ingest(&bodies(&[event_from("urn:any", DOCUMENT, "f4", &note)]), &as_named));
    assert_eq!(done["stored"], 1, "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_spool_of_a_worker_waits_until_its_source_is_bound() {
    let program = Program::on(TestEngine::File).await;
    let spool = program.folder.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    let note = document(1, 1, AT, "Alergia a la penicilina.");
    // The holder of the keys may send everything into a local store that no worker ever served.
    assert_eq!(counts(&program.ingest(&bodies(std::slice::from_ref(&note)), &[REFUSE]))["stored"], 1);
    let permit = json!({"organization_id": ORG, "patient_id": PATIENT, "scope": "memory", "provision": "permit",
        "from": AT, "recorded_by": PATIENT});
    let lines = [
        document(3, 1, AT, "Alergia al látex."),
        chat_says(2, "Me duele la cabeza."),
        event("s1", "anamnesis.consent.recorded.v1", &permit),
        event("s2", "anamnesis.memory.command.v1", &command("patient", &Uuid::from_u128(5).to_string())),
        event("s3", "anamnesis.memory.command.v1", &command("system", &Uuid::from_u128(5).to_string())),
    ];
    std::fs::write(spool.join("a.ndjson"), lines.each_ref().map(|line| format!("{line}\n")).concat()).unwrap();
    let begin = |bindings: &str| {
        let port = crate::support::free_port();
        let mut command =
            program.command(&[("ANAMNESIS__WORKER__POLL_MS", "20"), ("ANAMNESIS__JOBS__SCHEDULER", "false")]);
        command.arg("worker").env("ANAMNESIS__WORKER__SPOOL", &spool).envs(bound(&program, bindings));
        (command.env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}")).spawn().unwrap(), port)
    };
    let (mut worker, port) = begin("");
    until("the file is seen, and counted as one that nobody takes", || async {
        let page = crate::support::get(&format!("http://127.0.0.1:{port}/metrics")).await;
        page.is_some_and(|(_, text)| text.contains("anamnesis_spool_unknown_entries 1"))
    })
    .await;
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert!(spool.join("a.ndjson").exists(), "nothing took it, and it is not lost");
    assert_eq!((number(&program, STORED).await, refused(&program).await), (1, BTreeMap::new()));
    // Bound for patients' statements, the folder brings only these.
    let (mut worker, _) = begin(&format!(
        "[[intake.producers]]\nsource = 'urn:anamnesis:files'\norganizations = 'any'\ntypes = ['{DOCUMENT}']\n\
         document_types = ['chat_message']\nroles = ['patient']\n"
    ));
    until("all lines are worked", || async {
        number(&program, STORED).await == 2 && refused(&program).await.values().sum::<usize>() == 4
    })
    .await;
    worker.kill().unwrap();
    worker.wait().unwrap();
    let fields = BTreeMap::from([("document_type".to_owned(), 1), ("type".to_owned(), 3)]);
    assert_eq!(refused(&program).await, fields, "a folder brings no note, no permission and no command");
    // From now on others send to this store as well: a file by hand acts as a folder does.
    let output = program.ingest(&bodies(&[document(4, 1, AT, "Diagnosticada de asma.")]), &[REFUSE]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("intake.files.source"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_of_the_broker_does_not_start_without_a_bound_producer() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let unproven = format!(
        "[[intake.producers]]\nsource = 'urn:chat'\norganizations = 'any'\ntypes = ['{DOCUMENT}']\n\
         document_types = ['chat_message']\nroles = ['patient']\n"
    );
    for (bindings, problem) in [("", "no producer of the broker is bound"), (unproven.as_str(), "urn:chat")] {
        let environment = [corner.environment(), bound(&program, bindings)].concat();
        let output = program.command(&[]).arg("worker").envs(environment.clone()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(problem) && said.contains("broker_user") && said.contains("unbound_producers"), "{said}");
        // The check of the topology says so too.
        let check = Command::new(env!("CARGO_BIN_EXE_anamnesis"))
            .args(["topology", "check", "--output", "json"])
            .envs(environment)
            .output()
            .unwrap();
        assert!(json_output(&check)["open"].to_string().contains(problem), "{}", json_output(&check));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_event_is_its_producers_and_a_changed_or_old_one_is_nobodys() {
    use std::os::unix::fs::PermissionsExt as _;
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let key = program.folder.path().join("scribe.key");
    std::fs::write(&key, "a secret of the scribe\n").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let bindings = format!(
        "[[intake.producers]]\nsource = 'urn:scribe'\norganizations = 'any'\nkey_id = 'k1'\nkey_file = '{}'\n\
         types = ['{DOCUMENT}']\ndocument_types = ['clinical_note']\nroles = ['clinician']\n",
        key.display()
    );
    let signed = |id: &str, at: &str, n: u128| {
        let mut event = event_from("urn:scribe", DOCUMENT, id, &document(n, 1, AT, "Refiere insomnio — 3 €."));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/producers/sign.py");
        let mut child = Command::new("python3")
            .args([script, "k1", at])
            .env("KEY_FILE", &key)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        event = serde_json::from_slice(&output.stdout).unwrap();
        event
    };
    let now = crate::support::NOW;
    let good = [signed("s1", now, 1), signed("s2", now, 2)];
    let mut changed = signed("s3", now, 3);
    changed["data"]["text"] = json!("Alergia a todo.");
    let mut renamed = signed("s4", now, 4);
    renamed["id"] = json!("s5");
    let old = signed("s6", "2026-06-01T00:00:00Z", 6);
    let unsigned = event_from("urn:scribe", DOCUMENT, "s7", &document(7, 1, AT, "Refiere insomnio."));
    let exchange = corner.names.ingest();
    let sent = |event: &Value, structured| {
        encode_message(&exchange, event.to_string().into_bytes(), structured, SystemClock.now())
    };
    let letters = vec![
        sent(&good[0], false),
        sent(&good[1], true),
        sent(&changed, false),
        sent(&renamed, true),
        sent(&old, false),
        sent(&unsigned, false),
    ];
    let environment = [corner.environment(), bound(&program, &bindings)].concat();
    let _worker = BrokerWorker::start(&program, &environment).await;
    publish(&corner, letters).await;
    until("all are worked", || async {
        number(&program, STORED).await == 2 && refused(&program).await.values().sum::<usize>() == 4
    })
    .await;
    assert_eq!(refused(&program).await, BTreeMap::from([("signature".to_owned(), 3), ("signedat".to_owned(), 1)]));
}

/// The user of a producer in the shipped definitions: it may publish to the intake as itself, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn the_shipped_user_of_producers_reads_nothing_and_acts_for_no_one_else() {
    let broker = PrivateBroker::start("");
    let mut corner = TestBroker::at(&broker.url);
    topology::apply(&corner.config).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.json");
    std::fs::write(&file, definitions::users(&corner.names).to_string()).unwrap();
    broker.script(&["ctl", "-q", "import_definitions", file.to_str().unwrap()]);
    let prefix = corner.names.prefix().to_owned();
    let (producer, workers) = (format!("{prefix}-producer"), format!("{prefix}-worker"));
    let as_user = |user: &str| broker.url.replace("guest:guest", &format!("{user}:s3cret-{user}"));
    let config = |user: &str| anamnesis_config::BrokerConfig { url: as_user(user).into(), ..corner.config.clone() };
    assert!(
        BrokerConnection::open(&config(&producer), ConnectionRole::Publish).await.is_err(),
        "no password is shipped"
    );
    for user in [&producer, &workers] {
        broker.script(&["ctl", "-q", "change_password", user, &format!("s3cret-{user}")]);
    }

    let link = BrokerConnection::open(&config(&producer), ConnectionRole::Publish).await.unwrap();
    let queue = corner.names.queue(Queue::Bulk);
    let read = link.channel().await.unwrap().basic_get(queue.as_str().into(), BasicGetOptions::default()).await;
    assert!(read.unwrap_err().to_string().contains("ACCESS_REFUSED"), "it reads the intake");
    let channel = link.channel().await.unwrap();
    let made = channel.queue_declare("q".into(), QueueDeclareOptions::default(), FieldTable::default());
    assert!(made.await.unwrap_err().to_string().contains("ACCESS_REFUSED"), "it makes a queue");
    let note = event_from("urn:ehr", DOCUMENT, "u1", &document(1, 1, AT, "Refiere insomnio."));
    let note = encode_message(&corner.names.ingest(), note.to_string().into_bytes(), false, SystemClock.now());
    for (exchange, key, user, why) in [
        (corner.names.ingest(), note.routing_key.clone(), workers.as_str(), "PRECONDITION_FAILED"),
        (corner.names.events(), "x".to_owned(), producer.as_str(), "ACCESS_REFUSED"),
        (corner.names.retry(), "5s.bulk.x".to_owned(), producer.as_str(), "ACCESS_REFUSED"),
        (corner.names.ingest(), "5s.bulk.x".to_owned(), producer.as_str(), "ACCESS_REFUSED"),
    ] {
        let channel = link.channel().await.unwrap();
        channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
        let properties = note.clone().by(Some(user)).properties;
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let sent =
            channel.basic_publish(exchange.as_str().into(), key.as_str().into(), options, &note.body, properties);
        let ended = match sent.await {
            Ok(confirm) => confirm.await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(ended.unwrap_err().to_string().contains(why), "{exchange} {key} {user}");
    }
    link.close().await;
    assert_eq!(corner.ready(&queue).await, 0);

    // As itself it is accepted, by a worker that is no administrator either.
    let publishing = TestBroker { config: config(&producer), names: corner.names.clone() };
    publishing.send(&[note.by(Some(&producer))]).await;
    std::mem::forget(publishing); // it may remove nothing; the broker goes as a whole
    assert_eq!(corner.ready(&queue).await, 1);
    let program = Program::on(TestEngine::File).await;
    let bindings = format!(
        "[[intake.producers]]\nsource = 'urn:ehr'\norganizations = 'any'\nbroker_user = '{producer}'\ntypes = ['{DOCUMENT}']\n\
         document_types = ['clinical_note']\nroles = ['clinician']\n"
    );
    corner.config.url = as_user(&workers).into();
    let environment = [corner.environment(), bound(&program, &bindings)].concat();
    // While embedding fails it waits, published again by the worker, and is still the producer's.
    let away = ("ANAMNESIS__EMBEDDING__URL".to_owned(), "http://127.0.0.1:9/v1".to_owned());
    let first = BrokerWorker::start(&program, &[environment.clone(), vec![away]].concat()).await;
    let waits = corner.names.tier(Tier::ALL[0]);
    until("it waits in a tier", || async { corner.ready(&waits).await == 1 }).await;
    assert!(first.terminate().0.success());
    let mut worker = BrokerWorker::start(&program, &environment).await;
    until("it is stored", || async { number(&program, STORED).await == 1 }).await;
    everything_is_acknowledged(&corner).await;
    assert!(worker.running());
}
