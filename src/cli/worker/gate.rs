//! Holds work back while the right key store is missing, because work without it could not be undone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use anamnesis_observability::metrics::Metrics;
use anamnesis_store::{Store, StoreError};

/// Interval of checks for a missing key store.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a database that does not answer is asked again.
const UNASKED: u32 = 8;
/// How long one batch is held before its messages are offered again later: below the time after which a batch counts as
/// stuck, and far below the broker's limit on unacknowledged messages.
const LONGEST: u32 = 300;

/// Lets work through while the key store answers.
#[derive(Debug)]
pub(crate) struct KeyGate {
    store: Store,
    metrics: Arc<Metrics>,
    draining: CancellationToken,
    shut: AtomicBool,
}

impl KeyGate {
    pub(crate) fn new(store: Store, metrics: Arc<Metrics>, draining: CancellationToken) -> Self {
        Self { store, metrics, draining, shut: AtomicBool::new(false) }
    }

    /// Whether the right key store is missing now; sets the gauge. Other checks detect a missing database.
    pub(crate) async fn keys_unavailable(&self) -> bool {
        self.check_keys().await.unwrap_or(false)
    }

    /// `None` where the database cannot be asked whose keys these are.
    async fn check_keys(&self) -> Option<bool> {
        let shut = match self.store.key_binding().check_keys().await {
            Err(StoreError::Key(error)) => {
                if !self.shut.load(Ordering::SeqCst) {
                    tracing::error!(code = "keys_unavailable", cause = error.code(), %error, "the key store is unavailable; intake stops");
                }
                true
            }
            Ok(()) => false,
            Err(_) => return None,
        };
        self.metrics.store.keys_unavailable.set(i64::from(shut));
        if self.shut.swap(shut, Ordering::SeqCst) && !shut {
            tracing::info!(code = "keys_recovered", "the key store is available again; intake continues");
        }
        Some(shut)
    }

    /// Waits for the key store. False: it is still missing, and the process drains or has waited long enough. After a
    /// broken database connection the owner of the keys is unknown, so it is checked again; a lasting outage fails the
    /// work anyway.
    pub(crate) async fn opens(&self) -> bool {
        let mut unasked = 0;
        for _ in 0..LONGEST {
            let pause = match self.check_keys().await {
                Some(false) => return true,
                None if unasked == UNASKED => return true,
                None => {
                    unasked += 1;
                    PAUSE / 4
                }
                Some(true) => PAUSE,
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.draining.cancelled() => return false,
            }
        }
        false
    }
}
