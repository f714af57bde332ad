//! Faults of the broker.

use std::process::{Command, Output, Stdio};

use anamnesis_rabbitmq::{Queue, event_message};
use lapin::options::{QueueDeclareOptions, QueueDeleteOptions, QueuePurgeOptions};
use lapin::types::FieldTable;
use secrecy::ExposeSecret as _;

use super::{DoctorCase, codes, finds, finds_nothing, run};
use crate::broker::{PrivateBroker, TestBroker};
use crate::support::{Program, TestEngine, bodies, document, free_port};

/// A program whose broker is a corner, with a producer that is bound.
struct ProducerSetup {
    program: Program,
    environment: Vec<(String, String)>,
}

impl ProducerSetup {
    async fn to(corner: &TestBroker) -> Self {
        let program = Program::on(TestEngine::File).await;
        let file = program.folder.path().join("clinic.toml");
        let producer = "[[intake.producers]]\nsource = \"urn:test\"\norganizations = \"any\"\nbroker_user = \"guest\"\n\
            types = [\"anamnesis.document.submitted.v1\"]\ndocument_types = [\"clinical_note\"]\nroles = [\"clinician\"]\n";
        std::fs::write(&file, producer).unwrap();
        let mut environment = program.environment();
        environment.extend(corner.environment());
        let own = [
            ("ANAMNESIS__PIPELINE__NOW", ""),
            ("ANAMNESIS__WORKER__SPOOL", ""),
            ("ANAMNESIS__INTAKE__UNBOUND_PRODUCERS", "refuse"),
        ];
        environment.extend(own.map(|(key, value)| (key.to_owned(), value.to_owned())));
        environment.push(("ANAMNESIS_CONFIG".to_owned(), file.display().to_string()));
        Self { program, environment }
    }

    /// Certificates of tests live for days only.
    fn doctor(&self, change: &[(&str, &str)]) -> Output {
        let change = DoctorCase { arguments: vec!["--certificate-days", "0"], ..DoctorCase::with(change) };
        run(self.program.folder.path(), &self.environment, &change)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_broker_has_no_finding_and_each_address_and_binding_that_is_wrong_has_its_code() {
    let corner = TestBroker::new().await;
    let bound = ProducerSetup::to(&corner).await;
    finds_nothing(&bound.doctor(&[]));
    let url = corner.config.url.expose_secret();
    let place = url.split_once('@').unwrap().1;
    let host = place.split('/').next().unwrap();
    let away = format!("amqp://guest:{}@127.0.0.1:{}/%2f", super::SECRET, free_port());
    finds(&bound.doctor(&[("BROKER__URL", &away)]), "broker_unreachable");
    finds(&bound.doctor(&[("BROKER__URL", &format!("amqp://guest:{}@{host}/%2f", super::SECRET))]), "broker_refused");
    finds(&bound.doctor(&[("BROKER__URL", &format!("amqp://guest:guest@{host}/no-such"))]), "broker_vhost");
    finds(
        &bound.doctor(&[("BROKER__MANAGEMENT_URL", &format!("http://u:{}@127.0.0.1:{}", super::SECRET, free_port()))]),
        "broker_management",
    );
    finds(&bound.doctor(&[("INTAKE__PRODUCERS", "[]")]), "producers_unbound");
    let open = [("INTAKE__PRODUCERS", "[]"), ("INTAKE__UNBOUND_PRODUCERS", "allow")];
    finds(&bound.doctor(&open), "producers_open");
    let certificate = [("BROKER__CA_FILE", "no-such.pem")];
    assert!(codes(&bound.doctor(&certificate)).contains("broker_certificate"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topology_that_is_missing_or_other_has_its_code_and_is_not_declared() {
    let corner = TestBroker::new().await;
    let bound = ProducerSetup::to(&corner).await;
    let (link, name) = (corner.link().await, corner.names.quarantine());
    let channel = link.channel().await.unwrap();
    channel.queue_delete(name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    for _ in 0..2 {
        finds(&bound.doctor(&[]), "topology_missing");
    }
    let plain = QueueDeclareOptions::durable();
    channel.queue_declare(name.as_str().into(), plain, FieldTable::default()).await.unwrap();
    finds(&bound.doctor(&[]), "topology_differs");
    channel.queue_delete(name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    link.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_without_a_consumer_have_their_codes_and_stay_where_they_are() {
    let corner = TestBroker::new().await;
    let bound = ProducerSetup::to(&corner).await;
    let bulk = corner.names.queue(Queue::Bulk);
    corner.publish(&bodies(&[document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.")])).await;
    finds(&bound.doctor(&[]), "no_consumer");
    assert_eq!(corner.ready(&bulk).await, 1);
    corner.taken(&bulk).await;
    corner.send(&[event_message(corner.names.unrouted(), "any", &[], b"{}".to_vec())]).await;
    finds(&bound.doctor(&[]), "catch_all_waiting");
    corner.taken(&corner.names.catch_all()).await;
    // As many as the policy of limits keeps, but for a tenth.
    let many: Vec<_> =
        (0..90_000).map(|_| event_message(corner.names.unrouted(), "any", &[], b"{}".to_vec())).collect();
    corner.send(&many).await;
    finds(&bound.doctor(&[]), "catch_all_full");
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    channel.queue_purge(corner.names.catch_all().as_str().into(), QueuePurgeOptions::default()).await.unwrap();
    link.close().await;
    // The default exchange routes to the queue of that name.
    corner.send(&[event_message(String::new(), &corner.names.queue(Queue::Poison), &[], b"{}".to_vec())]).await;
    finds(&bound.doctor(&[]), "messages_dead_lettered");
    corner.taken(&corner.names.queue(Queue::Poison)).await;
    finds_nothing(&bound.doctor(&[]));
    for queue in corner.queues() {
        assert_eq!(corner.ready(&queue).await, 0, "doctor left a message in {queue}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_retired_queue_of_version_0_2_has_its_code_and_its_messages_another() {
    let corner = TestBroker::of_version_0_2().await;
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    let bound = ProducerSetup::to(&corner).await;
    finds(&bound.doctor(&[]), "queue_retired");
    let retired = corner.names.retired_poison();
    corner.send(&[event_message(String::new(), &retired, &[], b"{}".to_vec())]).await;
    let found = codes(&bound.doctor(&[]));
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["messages_dead_lettered", "queue_retired"]);
    corner.taken(&retired).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_that_are_not_those_shipped_and_a_user_who_may_not_publish_have_their_codes() {
    let broker = PrivateBroker::start("rabbitmq_management");
    let corner = TestBroker::at(&broker.url);
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    let bound = ProducerSetup::to(&corner).await;
    let management = broker.script(&["management"]);
    let seen = [("BROKER__MANAGEMENT_URL", management.as_str())];
    finds(&bound.doctor(&seen), "topology_policy");
    let shipped = anamnesis_rabbitmq::definitions::shipped(&corner.names);
    for policy in shipped["policies"].as_array().unwrap() {
        let text = |key: &str| policy[key].as_str().unwrap().to_owned();
        let definition = policy["definition"].to_string();
        broker.script(&[
            "ctl",
            "set_policy",
            &text("name"),
            &text("pattern"),
            &definition,
            "--apply-to",
            "queues",
            "--priority",
            "1",
        ]);
    }
    finds_nothing(&bound.doctor(&seen));
    let escaped = format!("^{}\\.", corner.names.prefix());
    broker.script(&["ctl", "add_user", "reader", "reader"]);
    broker.script(&["ctl", "set_permissions", "reader", &escaped, "^amq\\.default$", &escaped]);
    let url = broker.url.replace("guest:guest", "reader:reader");
    finds(&bound.doctor(&[("BROKER__URL", &url)]), "broker_publish");
    broker.script(&["ctl", "set_permissions", "reader", "^$", "^$", "^$"]);
    finds(&bound.doctor(&[("BROKER__URL", &url)]), "broker_forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_whose_certificate_proves_nothing_has_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/certificates.sh");
    assert!(
        Command::new(script).arg(folder.path()).arg("localhost").stderr(Stdio::inherit()).status().unwrap().success()
    );
    let broker = PrivateBroker::start_with_tls("", folder.path(), false);
    let mut corner = TestBroker::at(&broker.script(&["tls"]));
    corner.config.ca_file = folder.path().join("ca.pem");
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    let bound = ProducerSetup::to(&corner).await;
    finds_nothing(&bound.doctor(&[("BROKER__CA_FILE", &folder.path().join("ca.pem").display().to_string())]));
    finds(&bound.doctor(&[]), "broker_untrusted");
}
