//! The spool: a folder that is watched for finished files.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::gate::KeyGate;
use crate::cli::app::App;
use crate::cli::ingest::{self, FeedOptions, FeedResult, LastOffer};
use crate::cli::spool::{archive_folder, seal, sealed_name};
use crate::http::Check;
use anamnesis_config::spool::After;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::failpoints::{self, crash_at};
use anamnesis_core::reason::Reason;
use anamnesis_pipeline::intake::spool::Spool;
use anamnesis_pipeline::intake::spool_folder::{Claim, SpoolFolder};
use anamnesis_pipeline::isolation::Isolation;
use anamnesis_pipeline::{DispositionCounts, Pipeline, RawMessage};

/// The state of the spool for probes.
#[derive(Debug, Default)]
pub(crate) struct SpoolStatus {
    unusable: AtomicBool,
    unknown: AtomicU64,
}

impl SpoolStatus {
    /// Entries that no worker takes are for a person to inspect; they do not block others.
    pub(crate) fn check(&self) -> Check {
        if self.unusable.load(Ordering::Relaxed) {
            return Check::failed("spool", "spool_unusable");
        }
        let unknown = self.unknown.load(Ordering::Relaxed);
        Check { attention: (unknown > 0).then_some(unknown), ..Check::ready("spool") }
    }

    /// Notes whether the folder can be used; logs the first failure of several.
    fn note<T>(&self, outcome: std::io::Result<T>) -> Option<T> {
        let failed = outcome.is_err();
        if self.unusable.swap(failed, Ordering::Relaxed) != failed {
            match failed {
                true => tracing::error!(code = "spool_unusable", "the spool folder cannot be read or written to"),
                false => tracing::info!(code = "spool_usable", "the spool folder can be used again"),
            }
        }
        outcome.ok()
    }
}

/// Takes every finished file of the spool, oldest name first, until the process drains.
pub(crate) async fn watch(
    app: &App,
    by: (&Pipeline, &Isolation, &KeyGate),
    status: Arc<SpoolStatus>,
    draining: CancellationToken,
) {
    let path = &app.settings.worker.spool;
    if path.as_os_str().is_empty() {
        draining.cancelled().await;
        return;
    }
    let pause = Duration::from_millis(app.settings.worker.poll_ms.clamp(10, 60_000));
    let mut watcher = None;
    while !draining.is_cancelled() {
        if watcher.is_none() {
            let id = ordered_id(app.clock.now(), app.entropy.as_ref());
            let folder = status.note(SpoolFolder::open(path, id));
            watcher = folder.map(|folder| SpoolWatcher { folder, app, by, status: &status, due: HashMap::new() });
        }
        if let Some(watcher) = &mut watcher {
            watcher.poll_folder(&draining).await;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => return,
        }
    }
}

struct SpoolWatcher<'a> {
    folder: SpoolFolder,
    app: &'a App,
    by: (&'a Pipeline, &'a Isolation, &'a KeyGate),
    status: &'a SpoolStatus,
    /// When files that came back unfinished are worked again, and how often they were worked.
    due: HashMap<Uuid, (Instant, u32)>,
}

impl SpoolWatcher<'_> {
    /// One pass over the folder: files of dead workers, waiting files, files that are due again.
    async fn poll_folder(&mut self, draining: &CancellationToken) {
        // No one bound them: they lie where they are, with those of dead workers, and are counted.
        if !self.app.settings.intake.lets_files_in() {
            let Some(listing) = self.status.note(self.folder.listing()) else { return };
            let claimed = self.status.note(self.folder.claimed()).unwrap_or(0);
            self.report_unknown((listing.unknown.len() + listing.waiting.len() + claimed) as u64);
            return;
        }
        match self.folder.take_over() {
            Ok(0) | Err(_) => {}
            Ok(files) => {
                tracing::warn!(code = "spool_taken_over", files, "files of a worker that ended are taken over")
            }
        }
        let Some(listing) = self.status.note(self.folder.listing()) else { return };
        self.report_unknown(listing.unknown.len() as u64);
        for name in &listing.waiting {
            if draining.is_cancelled() || !self.by.2.opens().await {
                return;
            }
            if failpoints::is("spool_by_path") {
                self.take_by_path(name).await;
                continue;
            }
            let id = ordered_id(self.app.clock.now(), self.app.entropy.as_ref());
            match self.status.note(self.folder.claim(name, id)) {
                Some(Some(claim)) => {
                    crash_at("spool_claimed");
                    self.take(claim).await;
                }
                Some(None) => {}
                None => return,
            }
        }
        let Some(held) = self.status.note(self.folder.held()) else { return };
        for claim in held {
            if draining.is_cancelled() || !self.by.2.opens().await {
                return;
            }
            if self.due.get(&claim.id).is_none_or(|(due, _)| *due <= Instant::now()) {
                self.take(claim).await;
            }
        }
    }

    /// Entries that no worker takes are logged when their number changes, counted, and left.
    fn report_unknown(&self, entries: u64) {
        self.by.0.metrics().ingest.spool_unknown.set(entries as i64);
        if self.status.unknown.swap(entries, Ordering::Relaxed) != entries && entries > 0 {
            tracing::warn!(
                code = "spool_unknown",
                entries,
                "the spool holds entries that no worker takes (other types of files, links, folders); they are left"
            );
        }
    }

    /// One claimed file: read, processed, and removed or sealed once its contents are stored or quarantined. A kill in
    /// between leaves it claimed; stored lines are recognised later.
    async fn take(&mut self, claim: Claim) {
        let exhausted = match self.attempts(&claim) >= self.app.settings.spool.max_retries {
            true => LastOffer::Yes,
            false => LastOffer::No,
        };
        match self.feed(&claim, exhausted).await {
            Some(fed) if fed.tally.count("retry") == 0 => {
                crash_at("spool_fed");
                self.due.remove(&claim.id);
                self.finish(&claim, &fed);
            }
            // At any number of attempts: a file is not to blame for missing keys, and continues when they are back.
            _ if self.by.2.keys_unavailable().await => {}
            None if exhausted == LastOffer::Yes => self.give_up(&claim).await,
            fed => self.put_off(&claim, fed.is_none()),
        }
    }

    /// How often a file was worked: by its name, or as this process remembers where the name cannot be changed.
    fn attempts(&self, claim: &Claim) -> u32 {
        self.due.get(&claim.id).map_or(claim.attempts, |(_, attempts)| claim.attempts.max(*attempts))
    }

    /// A file that cannot be read however often: quarantine says where it is, and it is out of the way. First the row:
    /// killed in between, the file is found again and the row is the same.
    async fn give_up(&mut self, claim: &Claim) {
        let kept = SpoolFolder::unreadable_name(claim);
        let place = RawMessage::from_file(ingest::place(&claim.name, None, Some(&kept)));
        if self.by.0.quarantine_message(&place, Reason::TransientExhausted).await.is_err() {
            return self.put_off(claim, true);
        }
        crash_at("spool_given_up");
        if self.status.note(self.folder.quarantine_unreadable(claim)).is_some() {
            self.due.remove(&claim.id);
            tracing::error!(
                code = "spool_file_unreadable",
                "an unreadable spool file was moved to .unreadable and quarantined"
            );
        }
    }

    /// `None` when the file cannot be read.
    async fn feed(&self, claim: &Claim, exhausted: LastOffer) -> Option<FeedResult> {
        let settings = &self.app.settings;
        let max = settings.intake.max_body_bytes;
        let spool = self.folder.read(claim).and_then(|file| Spool::from_file(file, &claim.name, max)).ok()?;
        let feeding = FeedOptions::from_config(&settings.pipeline, exhausted).sealed_as(sealed_name(claim.id));
        ingest::feed(self.by.0, self.by.1, spool, &feeding).await.ok()
    }

    /// Counts an attempt that left something unfinished, and doubles the file's waiting time.
    fn put_off(&mut self, claim: &Claim, unreadable: bool) {
        let counted = self.folder.count_attempt(claim);
        crash_at("spool_counted");
        let attempts = self.attempts(claim).saturating_add(1);
        let pause = self.app.settings.spool.pause(attempts);
        self.due.insert(claim.id, (Instant::now() + pause, attempts));
        let code = if unreadable || counted.is_err() { "spool_unreadable" } else { "spool_retry" };
        tracing::warn!(code, attempts, seconds = pause.as_secs_f64(), "a spool file will be retried");
    }

    /// Seals the original where the policy says so, and removes it.
    fn finish(&self, claim: &Claim, fed: &FeedResult) {
        let config = &self.app.settings.spool;
        if config.after == After::Archive || fed.beyond {
            let sealed = self.folder.read(claim).and_then(|mut file| {
                let key = self.app.store.keys().platform();
                seal(&mut file, claim.id, &self.archive(), key, self.app.entropy.as_ref())
            });
            crash_at("spool_sealed");
            if self.status.note(sealed).is_none() {
                return;
            }
        }
        if self.status.note(self.folder.remove(claim)).is_some() {
            crash_at("spool_removed");
            log_counts(&fed.tally);
        }
    }

    fn archive(&self) -> PathBuf {
        archive_folder(&self.app.settings)
    }

    /// The seeded bug: an unclaimed file is removed by its path.
    async fn take_by_path(&self, name: &OsStr) {
        let path = self.app.settings.worker.spool.join(name);
        let settings = &self.app.settings;
        let max = settings.intake.max_body_bytes;
        let Ok(spool) = Spool::find(std::slice::from_ref(&path), max) else { return };
        let feeding = FeedOptions::from_config(&settings.pipeline, LastOffer::No);
        if let Ok(fed) = ingest::feed(self.by.0, self.by.1, spool, &feeding).await
            && fed.tally.count("retry") == 0
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn log_counts(tally: &DispositionCounts) {
    tracing::info!(
        code = "spool_file_done",
        messages = tally.total(),
        stored = tally.count("stored"),
        quarantined = tally.count("quarantined"),
        "a spool file is done"
    );
}
