//! Files that are past their term go, once an hour.

use std::time::Duration;

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use crate::cli::app::App;
use crate::cli::erase;
use crate::cli::leftovers;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(3_600);

/// Looks until the process drains.
pub(super) async fn end_terms(app: &App, draining: CancellationToken) {
    // An original is stored no longer than this: data that were erased before it was sealed were never in it.
    let days = i64::from(app.settings.spool.archive_days.clamp(1, 36_500));
    let mut swept = app.clock.now() - TimeDelta::days(days);
    loop {
        let (settings, now) = (app.settings.clone(), app.clock.now());
        match erase::sweep_all(app, swept).await {
            // Erasures that complete meanwhile are checked again.
            Ok(()) => swept = now - TimeDelta::minutes(10),
            Err(error) => tracing::warn!(code = "erasure", %error, "the archive of originals may hold what was erased"),
        }
        match tokio::task::spawn_blocking(move || leftovers::end_terms(&settings, now)).await {
            Ok(0) | Err(_) => {}
            Ok(files) => tracing::info!(code = "expired_files_removed", files, "files after their term were removed"),
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = draining.cancelled() => return,
        }
    }
}
