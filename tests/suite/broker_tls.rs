//! `amqps` against a real RabbitMQ whose certificates are of an authority of the proof's own.

use std::path::Path;
use std::process::{Command, Stdio};

use anamnesis_config::BrokerConfig;
use anamnesis_rabbitmq::{BrokerConnection, BrokerError, ConnectionRole};
use serde_json::json;

use crate::broker::{BrokerWorker, PrivateBroker, TestBroker, json_output};
use crate::intake_amqp::{documents, everything_is_acknowledged, everything_is_stored};
use crate::support::{Program, TestEngine};

/// An authority and a certificate of it for `host`.
fn certificates(host: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/certificates.sh");
    let made = Command::new(script).arg(folder.path()).arg(host).stderr(Stdio::inherit()).status().unwrap();
    assert!(made.success(), "scripts/certificates.sh");
    folder
}

fn config(broker: &PrivateBroker, authority: Option<&Path>) -> BrokerConfig {
    let ca_file = authority.map(|folder| folder.join("ca.pem")).unwrap_or_default();
    BrokerConfig { url: broker.script(&["tls"]).into(), ca_file, ..BrokerConfig::default() }
}

async fn refused(config: &BrokerConfig) -> String {
    let error =
        BrokerConnection::open(config, ConnectionRole::Topology).await.err().expect("the connection is refused");
    assert!(matches!(error, BrokerError::Untrusted { .. }) && !error.is_transient(), "{error:?}");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_consumes_and_publishes_over_amqps() {
    let certificates = certificates("localhost");
    let broker = PrivateBroker::start_with_tls("", certificates.path(), false);
    let mut corner = TestBroker::at(&broker.script(&["tls"]));
    corner.config.ca_file = certificates.path().join("ca.pem");
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    corner.publish(&documents(1, 5)).await;
    let program = Program::on(TestEngine::File).await;
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__BROKER__CA_FILE".to_owned(), corner.config.ca_file.display().to_string()));
    let worker = BrokerWorker::start(&program, &environment).await;
    everything_is_stored(&program, 5).await;
    everything_is_acknowledged(&corner).await;
    let (status, _) = worker.terminate();
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_another_authority_or_for_another_host_is_refused_with_a_sentence() {
    let certificates = certificates("localhost");
    let broker = PrivateBroker::start_with_tls("", certificates.path(), false);
    let good = config(&broker, Some(certificates.path()));
    BrokerConnection::open(&good, ConnectionRole::Topology).await.unwrap().close().await;

    let unsigned =
        "the broker's certificate is refused: no authority of broker.ca_file or of this machine has signed it";
    assert_eq!(refused(&config(&broker, None)).await, unsigned);
    let foreign = self::certificates("localhost");
    assert_eq!(refused(&config(&broker, Some(foreign.path()))).await, unsigned);

    use secrecy::ExposeSecret as _;
    let elsewhere = good.url.expose_secret().replace("@localhost:", "@127.0.0.1:");
    let elsewhere = BrokerConfig { url: elsewhere.into(), ..good.clone() };
    assert_eq!(refused(&elsewhere).await, "the broker's certificate is refused: it is not for the host of broker.url");

    // Through the command line: a sentence, exit code 2, and no password.
    let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    command.args(["topology", "check"]).env("ANAMNESIS__BROKER__URL", good.url.expose_secret());
    command.env("ANAMNESIS__BROKER__CA_FILE", foreign.path().join("ca.pem"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(unsigned) && !said.contains("guest"), "{said}");

    let missing = BrokerConfig { ca_file: "no-such.pem".into(), ..good };
    let error = BrokerConnection::open(&missing, ConnectionRole::Topology).await.err().unwrap();
    assert_eq!(error.to_string(), "broker.ca_file cannot be read as PEM");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_asks_for_certificates_gets_the_configured_one() {
    let certificates = certificates("localhost");
    let broker = PrivateBroker::start_with_tls("", certificates.path(), true);
    let without = config(&broker, Some(certificates.path()));
    let error =
        BrokerConnection::open(&without, ConnectionRole::Topology).await.err().expect("no certificate, no connection");
    assert!(error.to_string().contains("the broker"), "{error}");
    let with = BrokerConfig {
        certificate_file: certificates.path().join("server.pem"),
        key_file: certificates.path().join("server.key"),
        ..without
    };
    BrokerConnection::open(&with, ConnectionRole::Topology).await.unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_management_api_is_asked_over_https_under_the_same_authority() {
    let certificates = certificates("localhost");
    let broker = PrivateBroker::start_with_tls("rabbitmq_management", certificates.path(), false);
    let corner = TestBroker::at(&broker.url);
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    let check = |authority: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.args(["topology", "check", "--output", "json"]).envs(corner.environment());
        command.env("ANAMNESIS__BROKER__MANAGEMENT_URL", broker.script(&["management-tls"]));
        command.env("ANAMNESIS__BROKER__CA_FILE", authority.join("ca.pem")).output().unwrap()
    };
    let seen = json_output(&check(certificates.path()));
    assert_eq!(seen["unseen"], json!([]), "{seen}");
    let foreign = self::certificates("localhost");
    let refused = check(foreign.path());
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("the management API"));
}
