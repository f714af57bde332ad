//! Files that are past their term go, once an hour.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::cli::leftovers;
use crate::cli::world::World;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(3_600);

/// Looks until the process drains.
pub(super) async fn end_terms(world: &World, draining: CancellationToken) {
    loop {
        let (settings, now) = (world.settings.clone(), world.clock.now());
        match tokio::task::spawn_blocking(move || leftovers::end_terms(&settings, now)).await {
            Ok(0) | Err(_) => {}
            Ok(files) => tracing::info!(code = "leftovers", files, "files that are past their term were removed"),
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = draining.cancelled() => return,
        }
    }
}
