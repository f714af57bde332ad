//! The spool: a folder that is watched for finished files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use crate::cli::ingest;
use crate::cli::isolation::Isolation;
use crate::cli::world::World;
use crate::intake::Limits;
use crate::intake::spool::Spool;
use crate::pipeline::Pipeline;

/// Takes every finished file of the spool, oldest name first, until the process drains.
pub async fn watch(
    world: &World,
    (pipeline, isolation, gate): (&Pipeline, &Isolation, &Gate),
    draining: CancellationToken,
) {
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
            if !gate.opens().await {
                break;
            }
            take((pipeline, isolation), &config.spool, &file, &limits, batch).await;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => return,
        }
    }
}

/// One file: read, worked, and moved out of the way once everything in it is stored or set aside. A kill in between
/// leaves it where it is, and what was stored already is known.
async fn take(by: (&Pipeline, &Isolation), folder: &Path, file: &Path, limits: &Limits, batch: (usize, usize)) {
    let Ok(spool) = Spool::find(std::slice::from_ref(&file.to_path_buf()), limits.max_body_bytes) else { return };
    match ingest::feed(by.0, by.1, spool, batch).await {
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
