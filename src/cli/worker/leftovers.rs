//! Files that are past their term go, once an hour.

use std::time::Duration;

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use crate::cli::erase;
use crate::cli::leftovers;
use crate::cli::world::World;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(3_600);

/// Looks until the process drains.
pub(super) async fn end_terms(world: &World, draining: CancellationToken) {
    // An original is kept no longer than this: what was erased before it was sealed was never in it.
    let days = i64::from(world.settings.spool.archive_days.clamp(1, 36_500));
    let mut swept = world.clock.now() - TimeDelta::days(days);
    loop {
        let (settings, now) = (world.settings.clone(), world.clock.now());
        match erase::sweep_all(world, swept).await {
            // What is completed meanwhile is looked at again.
            Ok(()) => swept = now - TimeDelta::minutes(10),
            Err(error) => tracing::warn!(code = "erasure", %error, "the archive of originals may hold what was erased"),
        }
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
