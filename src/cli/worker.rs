//! `worker`: the long-running role, embedded: watches a spool folder, ticks the nights, serves probes and metrics, and
//! drains when asked to end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::ingest;
use super::world::World;
use super::{Context, Exit, Failure};
use crate::http::{self, Check, Probes, Readiness};
use crate::intake::Limits;
use crate::intake::spool::Spool;
use crate::jobs::night::Night;
use crate::jobs::policy::Policies;
use crate::metrics::labels::Queue;
use crate::pipeline::Pipeline;
use crate::shutdown::{DRAIN, Shutdown};
use crate::store::Store;
use crate::store::engine::Access;
use crate::telemetry;

#[derive(Debug, clap::Args)]
pub struct Args {}

/// # Errors
/// When the configuration, the store or the listening address cannot be used.
pub fn run(_: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        let metrics = Arc::clone(&world.metrics);
        telemetry::on_panic(move || metrics.panics.inc());
        let shutdown = Shutdown::on_signals()?;
        work(world, &shutdown).await
    })
}

/// Runs until the shutdown begins, then finishes what is in hand.
///
/// # Errors
/// As [`run`].
pub async fn work(world: World, shutdown: &Shutdown) -> Result<Exit, Failure> {
    let pipeline = world.pipeline()?.fed_by(Queue::Spool);
    let draining = shutdown.draining();
    let listener = TcpListener::bind(world.settings.http.bind)
        .await
        .map_err(|_| Failure::usage("http.bind: the address is in use or not ours"))?;
    let address = listener.local_addr()?;
    let readiness = Arc::new(StoreReady { store: world.store.clone() });
    let probes = Probes { metrics: Arc::clone(&world.metrics), readiness, draining: draining.clone() };
    // Probes are answered until the very end: a draining process still lives.
    let over = CancellationToken::new();
    let serving =
        tokio::spawn(http::serve(listener, http::router(probes, world.settings.http.timeout()), over.clone()));
    let night = night(&world, draining.clone())?;
    tracing::info!(code = "started", %address, tick = world.settings.jobs.tick, "the worker takes work");
    let nights = async {
        if world.settings.jobs.tick {
            night.watch().await;
        } else {
            draining.cancelled().await;
        }
    };
    let watching = watch(&world, &pipeline, draining.clone());
    let drained = shutdown.drain(DRAIN, async { tokio::join!(nights, watching) }).await;
    over.cancel();
    let _ = serving.await;
    world.store.close().await;
    match drained {
        Ok(((), ())) => {
            tracing::info!(code = "ended", "everything in hand is finished");
            Ok(Exit::Done)
        }
        Err(_) => {
            tracing::warn!(code = "overdue", "work in hand was given up; it will be offered again");
            Ok(Exit::Partial)
        }
    }
}

/// The nights over this world.
///
/// # Errors
/// When a policy cannot be read.
pub fn night(world: &World, shutdown: CancellationToken) -> Result<Arc<Night>, Failure> {
    let policies =
        Policies::load(world.settings.jobs.directory()).map_err(|error| Failure::usage(error.to_string()))?;
    let observer = Arc::clone(&world.metrics) as _;
    Ok(Arc::new(Night::over(&world.store, policies, observer, shutdown)))
}

/// Takes every finished file of the spool, oldest name first, until the process drains.
async fn watch(world: &World, pipeline: &Pipeline, draining: CancellationToken) {
    let config = &world.settings.worker;
    if config.spool.as_os_str().is_empty() {
        draining.cancelled().await;
        return;
    }
    let pause = Duration::from_millis(config.poll_ms.clamp(10, 60_000));
    let batch = (world.settings.pipeline.batch_documents, world.settings.pipeline.batch_bytes);
    let limits = Limits::from(&world.settings.intake);
    while !draining.is_cancelled() {
        for file in waiting(&config.spool) {
            if draining.is_cancelled() {
                return;
            }
            take(pipeline, &config.spool, &file, &limits, batch).await;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => return,
        }
    }
}

/// One file: read, worked, and moved out of the way once everything in it is stored or set aside. A kill in between
/// leaves it where it is, and what was stored already is known.
async fn take(pipeline: &Pipeline, folder: &Path, file: &Path, limits: &Limits, batch: (usize, usize)) {
    let Ok(spool) = Spool::find(std::slice::from_ref(&file.to_path_buf()), limits.max_body_bytes) else { return };
    match ingest::feed(pipeline, spool, batch).await {
        Ok(tally) if tally.of("retry") == 0 => {
            let done = folder.join("done");
            let moved = std::fs::create_dir_all(&done).and_then(|()| match file.file_name() {
                Some(name) => std::fs::rename(file, done.join(name)),
                None => Ok(()),
            });
            if moved.is_err() {
                tracing::warn!(code = "spool_not_movable", "a finished file cannot be moved to done/");
            }
            tracing::info!(
                code = "spool_file_done",
                messages = tally.total(),
                stored = tally.of("stored"),
                quarantined = tally.of("quarantined"),
                "a spool file is done"
            );
        }
        Ok(_) => tracing::warn!(code = "spool_retry", "a spool file will be offered again"),
        Err(_) => tracing::warn!(code = "spool_unreadable", "a spool file cannot be read"),
    }
}

/// Files of the spool itself, not of `done/`; names that begin with a dot are still being written.
fn waiting(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .filter(|path| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")))
        .filter(|path| path.extension().is_some_and(|e| ["ndjson", "jsonl", "json"].iter().any(|known| e == *known)))
        .collect();
    files.sort();
    files
}

/// Ready while the store answers.
struct StoreReady {
    store: Store,
}

#[async_trait]
impl Readiness for StoreReady {
    async fn check(&self) -> Vec<Check> {
        match self.store.db().read(Access::Platform).await {
            Ok(_) => vec![Check::ready("store")],
            Err(_) => vec![Check::failed("store", "store_unavailable")],
        }
    }
}
