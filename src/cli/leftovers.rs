//! Files that outlive their purpose: copies of a migration, a restore or a simulation, unreadable files of the spool,
//! sealed originals. Each kind has a term (docs/retention.md); an erasure removes copies of simulations immediately.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::spool::archive_folder;
use anamnesis_config::Settings;
use anamnesis_pipeline::intake::spool_folder::UNREADABLE;

/// How the folder of a simulation's copy begins, next to the store.
pub(crate) const SIMULATION: &str = ".anamnesis-simulation-";

/// A simulation takes minutes: a copy that is older was left by a process that died.
const SIMULATION_HOURS: i64 = 24;

/// Most bytes of one line of an unreadable file.
const LINE: u64 = 16 << 20;

/// Removes files past their term at `now`; returns how many files and folders. Those that cannot be inspected are left.
pub(crate) fn end_terms(settings: &Settings, now: DateTime<Utc>) -> u64 {
    let before = |days: u32| now - TimeDelta::days(i64::from(days.clamp(1, 36_500)));
    let mut gone = 0;
    for (folder, until) in [
        (settings.worker.spool.join(UNREADABLE), before(settings.spool.unreadable_days)),
        (archive_folder(settings), before(settings.spool.archive_days)),
    ] {
        gone += removed(&folder, |path| taken_at(path).is_some_and(|at| at <= until));
    }
    let until = before(settings.store.copy_days);
    gone +=
        copies(settings).iter().filter(|path| changed_at(path).is_some_and(|at| at <= until) && remove(path)).count()
            as u64;
    let until = now - TimeDelta::hours(SIMULATION_HOURS);
    gone + simulations(settings, |path| changed_at(path).is_some_and(|at| at <= until))
}

/// Removes files that an erasure must not leave: every copy of a simulation, and unreadable spool files that `names`
/// assigns to the subject. A simulation in progress continues without its copy, or ends with an error.
pub(crate) fn erase(settings: &Settings, names: &dyn Fn(&[u8]) -> bool) -> u64 {
    simulations(settings, |_| true) + removed(&settings.worker.spool.join(UNREADABLE), |path| speaks(path, names))
}

/// Removes copies of the store that contain erased data, because their keys may still exist if only a part of a patient
/// was erased. For a whole patient also removes the copies of keys.
pub(crate) fn erase_copies(settings: &Settings, patient: bool) -> u64 {
    let of = |path: &Path| copies_of(path).iter().filter(|path| remove(path)).count() as u64;
    of(&settings.store.path) + if patient { of(&settings.store.keys) } else { 0 }
}

/// The folder that holds the embedded store.
pub(crate) fn folder(settings: &Settings) -> PathBuf {
    let parent = settings.store.path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn simulations(settings: &Settings, which: impl Fn(&Path) -> bool) -> u64 {
    let is_copy = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SIMULATION));
    removed(&folder(settings), |path| is_copy(path) && which(path))
}

/// Copies next to the store and next to its keys.
fn copies(settings: &Settings) -> Vec<PathBuf> {
    [&settings.store.path, &settings.store.keys].into_iter().flat_map(|path| copies_of(path)).collect()
}

fn copies_of(path: &Path) -> Vec<PathBuf> {
    let with = |path: &Path, ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let endings = [
        ".before-migration",
        ".before-migration.draft",
        ".replaced",
        ".replaced-wal",
        ".replaced-shm",
        ".replaced-journal",
        ".restoring",
    ];
    endings.map(|ending| with(path, ending)).to_vec()
}

/// Removes entries of a folder; a folder that is not there has none.
fn removed(folder: &Path, which: impl Fn(&Path) -> bool) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    paths.filter(|path| which(path) && remove(path)).count() as u64
}

fn remove(path: &Path) -> bool {
    let Ok(entry) = fs::symlink_metadata(path) else { return false };
    let gone = if entry.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    gone.is_ok()
}

/// When a worker claimed the file: its name begins with an id of that instant.
fn taken_at(path: &Path) -> Option<DateTime<Utc>> {
    let name = path.file_name()?.to_str()?;
    let id: Uuid = name.split('.').next()?.parse().ok()?;
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)
}

/// When a file was last written or renamed: a copy keeps the instant at which its content was written.
fn changed_at(path: &Path) -> Option<DateTime<Utc>> {
    let entry = fs::symlink_metadata(path).ok()?;
    DateTime::from_timestamp(entry.ctime(), u32::try_from(entry.ctime_nsec()).ok()?)
}

/// Whether a line of the file concerns the erased subject, as far as it can be read.
fn speaks(path: &Path, names: &dyn Fn(&[u8]) -> bool) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    let (mut lines, mut line) = (BufReader::new(file), Vec::new());
    loop {
        line.clear();
        match io::Read::take(&mut lines, LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) if names(&line) => return true,
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use anamnesis_core::clock::{SystemEntropy, ordered_id};

    use super::*;

    #[test]
    fn the_name_of_a_claimed_file_says_when_it_was_taken() {
        let at: DateTime<Utc> = "2026-03-01T10:00:00Z".parse().unwrap();
        let id = ordered_id(at, &SystemEntropy).simple().to_string();
        assert_eq!(taken_at(Path::new(&format!("spool/.unreadable/{id}.notes.json"))), Some(at));
        assert_eq!(taken_at(Path::new(&format!("spool/.archive/{id}.sealed"))), Some(at));
        assert_eq!(taken_at(Path::new("spool/.archive/README")), None);
    }
}
