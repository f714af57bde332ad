//! A store that rejects writes for any time: messages of a real broker go round through the retry queues, none is
//! quarantined, and all are stored once the store accepts them. Messages that fail for another reason are still given
//! up after so many attempts.

use std::time::{Duration, Instant};

use anamnesis_core::clock::{Clock as _, SystemClock};
use lapin::types::AMQPValue;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _};

use crate::broker::{BrokerWorker, PrivateBroker, TestBroker, until};
use crate::intake_amqp::{documents, everything_is_acknowledged, everything_is_stored};
use crate::support::{Program, TestEngine, count};

/// One counted attempt: with it a message would be given up immediately.
const RETRIES: (&str, &str) = ("ANAMNESIS__BROKER__MAX_RETRIES", "0");
const MESSAGES: usize = 2;
/// Rounds of every message through the tiers: as many as hours, in the tiers that ship.
const ROUNDS: usize = 3;

fn fires(code: &str) -> (String, String) {
    (
        format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON documents FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
        ),
        "DROP TRIGGER refuse ON documents; DROP FUNCTION refuse()".to_owned(),
    )
}

/// A broker with retry delays of a moment, because minutes of waiting prove no more.
fn hasty() -> PrivateBroker {
    let broker = PrivateBroker::start("");
    let quick = ["ctl", "-q", "set_policy", "quick", "\\.retry\\.", "{\"message-ttl\": 200}", "--apply-to", "queues"];
    broker.script(&quick);
    broker
}

async fn corner_at(broker: &PrivateBroker) -> TestBroker {
    let corner = TestBroker::at(&broker.url);
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    corner
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_refuses_for_hours_quarantines_no_message() {
    let (broker, program) = (hasty(), Program::on(TestEngine::Postgres).await);
    let corner = corner_at(&broker).await;
    let mut administrator = program.server.as_ref().unwrap().administrator().await;
    let rights = (
        "REVOKE INSERT ON documents FROM anamnesis_app".to_owned(),
        "GRANT INSERT ON documents TO anamnesis_app".to_owned(),
    );
    let mut environment = corner.environment();
    environment.push((RETRIES.0.to_owned(), RETRIES.1.to_owned()));
    let worker = BrokerWorker::start(&program, &environment).await;
    let store = program.store().await;
    // Both log texts of a batch that is retried.
    let tried = || worker.log().matches("will be retried").count();
    // Without a right, with a full disk, and with an unknown error; attempts and quarantine can be written meanwhile.
    for (n, (refuse, take)) in [rights, fires("53100"), fires("P0001")].into_iter().enumerate() {
        sqlx::raw_sql(AssertSqlSafe(refuse.clone())).execute(&mut administrator).await.unwrap();
        let before = tried();
        corner.publish(&documents(1 + 100 * n as u128, MESSAGES as u128)).await;
        let enough = before + ROUNDS * MESSAGES;
        let begun = Instant::now();
        while tried() < enough {
            assert!(begun.elapsed() < Duration::from_secs(60), "{refuse}: {} of {enough}\n{}", tried(), worker.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let quarantined = count(&store, "SELECT count(*) FROM quarantine").await;
        assert_eq!(quarantined, 0, "{refuse}: quarantined as {:?}", reasons(&store).await);
        sqlx::raw_sql(AssertSqlSafe(take)).execute(&mut administrator).await.unwrap();
        everything_is_stored(&program, MESSAGES * (n + 1)).await;
    }
    everything_is_acknowledged(&corner).await;
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0);
    assert_eq!(count(&store, "SELECT count(*) FROM attempt").await, 0);
    administrator.close().await.unwrap();
}

async fn reasons(store: &anamnesis_store::Store) -> Vec<String> {
    let rows = crate::support::rows(store, "SELECT reason FROM quarantine").await;
    rows.iter().map(|row| row.text(0).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_store_neither_counts_nor_forgives_what_counted_before() {
    let (broker, program) = (hasty(), Program::on(TestEngine::Postgres).await);
    let corner = corner_at(&broker).await;
    let mut environment = corner.environment();
    // Embedding is unreachable: two failures count, and the third is the last.
    environment.push(("ANAMNESIS__EMBEDDING__URL".to_owned(), "http://127.0.0.1:9/v1".to_owned()));
    environment.push(("ANAMNESIS__EMBEDDING__RETRY__ATTEMPTS".to_owned(), "1".to_owned()));
    environment.push(("ANAMNESIS__BROKER__MAX_RETRIES".to_owned(), "2".to_owned()));
    corner.publish(&documents(1, 1)).await;
    let _worker = BrokerWorker::start(&program, &environment).await;
    let store = program.store().await;
    until("it is quarantined", || async { count(&store, "SELECT count(*) FROM quarantine").await == 1 }).await;
    assert_eq!(json!(reasons(&store).await), json!(["transient_exhausted"]));
    everything_is_acknowledged(&corner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_producer_can_neither_spend_nor_lengthen_the_tries_of_a_message() {
    let (broker, program) = (hasty(), Program::on(TestEngine::Postgres).await);
    let corner = corner_at(&broker).await;
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__EMBEDDING__URL".to_owned(), "http://127.0.0.1:9/v1".to_owned()));
    environment.push(("ANAMNESIS__EMBEDDING__RETRY__ATTEMPTS".to_owned(), "1".to_owned()));
    environment.push(("ANAMNESIS__BROKER__MAX_RETRIES".to_owned(), "2".to_owned()));
    // One message a batch, so that each attempt is logged separately.
    environment.push(("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS".to_owned(), "1".to_owned()));
    // A counter that says "given up long ago", one that never ends, each with and without a proof that is not ours.
    let forged = [(i64::from(u32::MAX), None), (99, Some("00".repeat(32))), (-5, Some("ab".repeat(32)))];
    let mut letters = Vec::new();
    for (line, (count, proof)) in documents(1, forged.len() as u128).into_iter().zip(forged) {
        let mut letter =
            anamnesis_rabbitmq::consumer::encode_message(&corner.names.ingest(), line, false, SystemClock.now());
        let mut headers = letter.properties.headers().clone().unwrap_or_default();
        headers.insert("x-anamnesis-retries".into(), AMQPValue::LongLongInt(count));
        if let Some(proof) = proof {
            headers.insert("x-anamnesis-retries-proof".into(), AMQPValue::LongString(proof.into()));
        }
        letter.properties = letter.properties.with_headers(headers);
        letters.push(letter);
    }
    corner.send(&letters).await;
    let worker = BrokerWorker::start(&program, &environment).await;
    let store = program.store().await;
    let quarantined = || async { count(&store, "SELECT count(*) FROM quarantine").await == letters.len() as i64 };
    until("all are quarantined", quarantined).await;
    // Each failed once, and again at each of its two retries, whatever its headers said.
    assert_eq!(worker.log().matches("will be retried").count(), 3 * letters.len(), "{}", worker.log());
    assert_eq!(reasons(&store).await, ["transient_exhausted"; 3]);
    everything_is_acknowledged(&corner).await;
}
