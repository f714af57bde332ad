//! Incomplete erasures: started by a process that died, requested by a message while files of the archive still name
//! the patient, or of a patient whose rows a restored backup brought back.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::gate::KeyGate;
use crate::cli::app::App;
use crate::cli::erase;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(30);

/// Completes erasures until the process drains. What fails is tried again at the next look.
pub(super) async fn complete(app: &App, gate: &KeyGate, draining: CancellationToken) {
    let mut restored = true;
    loop {
        // A worker that begins takes messages first.
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = draining.cancelled() => return,
        }
        if !gate.keys_unavailable().await {
            let done = tokio::select! {
                done = complete_due(app, restored) => done,
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
async fn complete_due(app: &App, restored: bool) -> Result<u64, erase::IncompleteErasure> {
    let mut erased = 0;
    if restored {
        erased += erase::again_after_restore(app).await?;
    }
    Ok(erased + erase::complete(app).await?)
}
