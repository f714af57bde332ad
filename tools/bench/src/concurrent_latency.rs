//! How long a small batch of documents takes from bytes to commit, alone and while something else works on the same store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use tokio::task::JoinHandle;

use anamnesis_core::ids::{OrgId, derive};
use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};

/// Documents of one batch, each of another patient.
const BATCH: u64 = 4;
/// Patients that the documents are about, in turn.
const PATIENTS: u64 = 40;

/// Times of the batches, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct BatchLatency {
    pub(crate) batches: u64,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) max_ms: f64,
}

impl BatchLatency {
    fn from_times(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let last = times.len().saturating_sub(1);
            times.get((times.len() * percent / 100).min(last)).map_or(0.0, |took| took.as_secs_f64() * 1e3)
        };
        Self { batches: times.len() as u64, p50_ms: at(50), p95_ms: at(95), max_ms: at(100) }
    }
}

/// Some batch was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a document was not stored")]
pub(crate) struct NotStored;

/// So many batches, one after the other, beginning with this number.
///
/// # Errors
/// When one of them is not stored.
pub(crate) async fn alone(
    pipeline: &Pipeline,
    org: OrgId,
    first: u64,
    batches: u64,
) -> Result<BatchLatency, NotStored> {
    let mut times = Vec::new();
    for number in first..first + batches {
        times.push(batch(pipeline, org, number).await?);
    }
    Ok(BatchLatency::from_times(times))
}

/// Batches that go on in a task of their own until they are asked to stop.
pub(crate) struct BackgroundLoad {
    over: Arc<AtomicBool>,
    task: JoinHandle<Result<BatchLatency, NotStored>>,
}

impl BackgroundLoad {
    pub(crate) fn start(pipeline: Arc<Pipeline>, org: OrgId, first: u64) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let task = tokio::spawn(async move {
            let (mut times, mut number) = (Vec::new(), first);
            while !seen.load(Ordering::Relaxed) {
                times.push(batch(&pipeline, org, number).await?);
                number += 1;
            }
            Ok(BatchLatency::from_times(times))
        });
        Self { over, task }
    }

    /// # Errors
    /// When a batch was not stored.
    pub(crate) async fn stop(self) -> Result<BatchLatency, NotStored> {
        self.over.store(true, Ordering::Relaxed);
        self.task.await.unwrap_or(Err(NotStored))
    }
}

async fn batch(pipeline: &Pipeline, org: OrgId, number: u64) -> Result<Duration, NotStored> {
    let bodies: Vec<RawMessage> =
        (0..BATCH).map(|n| RawMessage::from_body(document(org, number * BATCH + n))).collect();
    let started = Instant::now();
    let done = pipeline.run(bodies).await;
    let took = started.elapsed();
    let stored = done.len() as u64 == BATCH && done.iter().all(|one| *one == Disposition::Stored);
    if stored { Ok(took) } else { Err(NotStored) }
}

fn document(org: OrgId, number: u64) -> Vec<u8> {
    let id = |kind: &str, n: u64| derive(kind, &[b"bench concurrent".as_slice(), n.to_be_bytes().as_slice()]);
    let body = json!({"organization_id": org, "patient_id": id("patient", number % PATIENTS),
        "document_id": id("document", number), "revision": 1, "document_type": "chat_message",
        "occurred_at": "2025-11-02T21:30:00Z", "language": "es",
        "text": format!("Esta noche he dormido mal y el trabajo me preocupa, por {number}.ª vez.")});
    body.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_no_time_are_zero_and_of_many_stand_at_their_places() {
        assert_eq!(BatchLatency::from_times(Vec::new()), BatchLatency::default());
        let times = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(
            BatchLatency::from_times(times),
            BatchLatency { batches: 100, p50_ms: 51.0, p95_ms: 96.0, max_ms: 100.0 }
        );
    }
}
