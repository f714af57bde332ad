//! Erasures that are not complete: begun by a process that died, asked for by a message while files of the archive still name
//! the patient, or of a patient of whom a restored backup brought rows back.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use crate::cli::erase;
use crate::cli::world::World;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(30);

/// Completes erasures until the process drains. What fails is tried again at the next look.
pub(super) async fn complete(world: &World, gate: &Gate, draining: CancellationToken) {
    let mut restored = true;
    loop {
        // A worker that begins takes messages first.
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = draining.cancelled() => return,
        }
        if !gate.is_shut().await {
            let done = tokio::select! {
                done = look(world, restored) => done,
                () = draining.cancelled() => return,
            };
            match done {
                Ok(0) => restored = false,
                Ok(erased) => tracing::info!(code = "erasure", erased, "erasures were completed"),
                Err(error) => tracing::warn!(code = "erasure", %error, "an erasure is not complete"),
            }
        }
    }
}

/// How many were completed.
async fn look(world: &World, restored: bool) -> Result<u64, erase::Incomplete> {
    let mut erased = 0;
    if restored {
        erased += erase::again_after_restore(world).await?;
    }
    Ok(erased + erase::complete(world).await?)
}
