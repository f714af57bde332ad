//! The worker's probes for Kubernetes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::gate::KeyGate;
use super::spool::SpoolStatus;
use crate::http::{Check, Readiness};
use anamnesis_rabbitmq::consumer::ConsumerStatus;
use anamnesis_sql::{Access, DbError, Location, SchemaState, schema_state};
use anamnesis_store::Store;

/// Longest time for one check; all run concurrently, so that the answer names the hanging ones and is still in time.
const EACH: Duration = Duration::from_millis(1_500);
/// Probes that follow each other closer than this share one write.
const FRESH: Duration = Duration::from_secs(1);
/// A write that waits for a long transaction of another program is no failure until this long after the last success.
const BUSY: Duration = Duration::from_secs(30);

/// Ready while the store is there, has the schema that this program knows and takes writes, the right key store answers and, where a
/// broker is configured, its messages are consumed. Dead when messages wait and nothing is done about them.
pub(crate) struct WorkerReadiness {
    pub(crate) store: Store,
    pub(crate) gate: Arc<KeyGate>,
    pub(crate) location: Location,
    /// Of a worker that watches a spool.
    pub(crate) spool: Option<Arc<SpoolStatus>>,
    pub(crate) consumer: Option<Arc<ConsumerStatus>>,
    /// When a write last succeeded.
    pub(crate) written: Mutex<Option<Instant>>,
}

impl WorkerReadiness {
    async fn read(&self) -> Check {
        let asked = async {
            drop(self.store.db().read(Access::Platform).await?);
            self.store.db().durable().await
        };
        match tokio::time::timeout(EACH, asked).await {
            Ok(Ok(())) => Check::ready("store"),
            Ok(Err(DbError::NotDurable(_))) => Check::failed("store", "not_durable"),
            Ok(Err(_)) => Check::failed("store", "store_unavailable"),
            Err(_) => Check::failed("store", "timeout"),
        }
    }

    async fn write(&self) -> Check {
        let since = |limit| self.last().is_some_and(|at| at.elapsed() < limit);
        if since(FRESH) {
            return Check::ready("write");
        }
        match tokio::time::timeout(EACH, self.store.intake().probe_write()).await {
            Ok(Ok(())) => {
                *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                Check::ready("write")
            }
            Ok(Err(_)) => Check::failed("write", "not_writable"),
            Err(_) if since(BUSY) => Check::ready("write"),
            Err(_) => Check::failed("write", "timeout"),
        }
    }

    fn last(&self) -> Option<Instant> {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn keys(&self) -> Check {
        match tokio::time::timeout(EACH, self.gate.keys_unavailable()).await {
            Ok(true) => Check::failed("keys", "keys_unavailable"),
            // A store that does not answer says nothing of its keys, and has its own check.
            Ok(false) => Check::ready("keys"),
            Err(_) => Check::failed("keys", "timeout"),
        }
    }

    /// An embedded store was migrated when it was opened; the schema of a server may change while a program runs.
    async fn schema(&self) -> Check {
        if !matches!(self.location, Location::Postgres(_)) {
            return Check::ready("schema");
        }
        match tokio::time::timeout(EACH, schema_state(&self.location)).await {
            Ok(Ok(SchemaState::Current)) => Check::ready("schema"),
            Ok(Ok(SchemaState::Behind(_))) => Check::failed("schema", "behind"),
            Ok(Ok(SchemaState::Newer(_))) => Check::failed("schema", "newer"),
            Ok(Ok(SchemaState::Changed(_))) => Check::failed("schema", "changed"),
            Ok(Err(_)) => Check::failed("schema", "store_unavailable"),
            Err(_) => Check::failed("schema", "timeout"),
        }
    }
}

#[async_trait]
impl Readiness for WorkerReadiness {
    async fn check(&self) -> Vec<Check> {
        let (store, write, schema, keys) = tokio::join!(self.read(), self.write(), self.schema(), self.keys());
        let broker = self.consumer.as_ref().map(|status| match status.trouble() {
            None => Check::ready("broker"),
            Some(code) => Check::failed("broker", code),
        });
        let spool = self.spool.as_ref().map(|status| status.check());
        [store, write, schema, keys].into_iter().chain(spool).chain(broker).collect()
    }

    fn dead(&self) -> Option<&'static str> {
        self.consumer.as_ref().and_then(|status| status.dead())
    }
}
