//! Counts the store's contents from time to time, for the gauges.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::gate::KeyGate;
use crate::cli::app::App;
use crate::cli::{disks, leave_samples};
use anamnesis_core::memory::{Kind, State};
use anamnesis_observability::metrics::labels::Connection;
use anamnesis_pipeline::StoreOutage;
use anamnesis_store::stats::StoreStats;

/// Counts until the process drains.
pub(super) async fn count(app: &App, gate: &KeyGate, outage: &StoreOutage, draining: CancellationToken) {
    let pause = Duration::from_secs(app.settings.worker.store_stats_interval_seconds.clamp(1, 86_400));
    while !draining.is_cancelled() {
        // Without intake and probes, this is the only check that detects missing keys.
        gate.keys_unavailable().await;
        let counted = tokio::select! {
            counted = app.store.stats().collect_stats() => counted,
            () = draining.cancelled() => return,
        };
        match counted {
            Ok(census) => {
                // Without intake, this is the only check that detects the store's return.
                outage.ended();
                show(app, &census);
                leave_samples(&app.store, &app.metrics).await;
                match app.store.stats().samples().await {
                    Ok(sums) => app.metrics.show(sums),
                    Err(error) => {
                        tracing::debug!(code = "store_stats", %error, "the counts of all processes could not be read")
                    }
                }
            }
            Err(error) => {
                outage.began(&error);
                tracing::debug!(code = "store_stats", %error, "the store could not be counted");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => return,
        }
    }
}

fn show(app: &App, census: &StoreStats) {
    let metrics = &app.metrics;
    for kind in Kind::ALL {
        for state in State::ALL {
            let held = census.memories.get(&(*kind, *state)).copied().unwrap_or(0);
            metrics.memory.held.with_labels((*kind, *state)).set(held);
        }
    }
    metrics.store.outbox_pending.set(census.outbox_pending);
    metrics.store.rows_forged_now.set(census.forged_rows);
    metrics.store.rows_repaired_now.set(census.repaired_rows);
    metrics.store.rows_compared_at.set(census.compared_at.unwrap_or_else(|| app.clock.now()).timestamp());
    metrics.memory.reconfirmations_due.set(census.reconfirmations_due);
    let (waiting, since) = census.quarantined;
    metrics.store.quarantine_waiting.set(waiting);
    let age = since.map_or(0, |since| (app.clock.now() - since).num_seconds().max(0));
    metrics.store.quarantine_oldest.set(age);
    for disk in disks::inspect(&app.settings) {
        metrics.store.disk_free.with_labels(disk.of).set(i64::try_from(disk.free).unwrap_or(i64::MAX));
        metrics.store.disk_size.with_labels(disk.of).set(i64::try_from(disk.size).unwrap_or(i64::MAX));
    }
    metrics.store.connections_limit.set(app.store.db().connections_limit());
    let (idle, used) = app.store.db().connections();
    metrics.store.connections.with_labels(Connection::Idle).set(idle);
    metrics.store.connections.with_labels(Connection::Used).set(used);
}
