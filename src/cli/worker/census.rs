//! Counts what the store holds, now and then, for the gauges.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use crate::cli::world::World;
use crate::cli::{disks, leave_samples};
use anamnesis_core::memory::{Kind, State};
use anamnesis_observability::metrics::labels::Connection;
use anamnesis_pipeline::Outage;
use anamnesis_store::census::Census;

/// Counts until the process drains.
pub(super) async fn count(world: &World, gate: &Gate, outage: &Outage, draining: CancellationToken) {
    let pause = Duration::from_secs(world.settings.worker.census_seconds.clamp(1, 86_400));
    while !draining.is_cancelled() {
        // Where nothing is taken in and nobody probes, this is who notices that the keys are away.
        gate.is_shut().await;
        let counted = tokio::select! {
            counted = world.store.census() => counted,
            () = draining.cancelled() => return,
        };
        match counted {
            Ok(census) => {
                // Where nothing comes in, this is who notices that the store is back.
                outage.ended();
                show(world, &census);
                leave_samples(&world.store, &world.metrics).await;
                match world.store.samples().await {
                    Ok(sums) => world.metrics.show(sums),
                    Err(error) => {
                        tracing::debug!(code = "census", %error, "what all processes counted could not be read")
                    }
                }
            }
            Err(error) => {
                outage.began(&error);
                tracing::debug!(code = "census", %error, "the store could not be counted");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => return,
        }
    }
}

fn show(world: &World, census: &Census) {
    let metrics = &world.metrics;
    for kind in Kind::ALL {
        for state in State::ALL {
            let held = census.memories.get(&(*kind, *state)).copied().unwrap_or(0);
            metrics.memory.held.of((*kind, *state)).set(held);
        }
    }
    metrics.store.outbox_pending.set(census.outbox_pending);
    metrics.store.rows_forged_now.set(census.forged_rows);
    metrics.store.rows_repaired_now.set(census.repaired_rows);
    metrics.store.rows_compared_at.set(census.compared_at.unwrap_or_else(|| world.clock.now()).timestamp());
    metrics.memory.reconfirmations_due.set(census.reconfirmations_due);
    let (waiting, since) = census.quarantined;
    metrics.store.quarantine_waiting.set(waiting);
    let age = since.map_or(0, |since| (world.clock.now() - since).num_seconds().max(0));
    metrics.store.quarantine_oldest.set(age);
    for disk in disks::of(&world.settings) {
        metrics.store.disk_free.of(disk.of).set(i64::try_from(disk.free).unwrap_or(i64::MAX));
        metrics.store.disk_size.of(disk.of).set(i64::try_from(disk.size).unwrap_or(i64::MAX));
    }
    metrics.store.connections_limit.set(world.store.db().connections_limit());
    let (idle, used) = world.store.db().connections();
    metrics.store.connections.of(Connection::Idle).set(idle);
    metrics.store.connections.of(Connection::Used).set(used);
}
