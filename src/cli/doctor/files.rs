//! Files that the settings name: lexicons, rules of redaction, models, the spool; and the space on their disks.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use aws_lc_rs::digest::{Context as Digest, SHA256};
use rustix::fs::{Access, access};

use super::Doctor;
use crate::cli::disks;
use anamnesis_config::extraction::ReadingProfile;
use anamnesis_extraction::reader::ClinicalReader;
use anamnesis_pipeline::Redactors;
use anamnesis_pipeline::{Extractors, ExtractorsError};

/// The files that this version was released with.
const RELEASED: &str = include_str!("../../../models/SHA256SUMS");
/// More than this is enough for any size of disk.
const ENOUGH: u64 = 50 << 30;

pub(super) fn check(doctor: &mut Doctor) {
    rules(doctor);
    models(doctor);
    spool(doctor);
    disks(doctor);
}

fn rules(doctor: &mut Doctor) {
    match Extractors::rules(&doctor.settings.extraction) {
        Err(
            error @ (ExtractorsError::Deployment(_)
            | ExtractorsError::Organization { .. }
            | ExtractorsError::Twice { .. }),
        ) => {
            doctor.found("lexicon", error.to_string());
        }
        Err(ExtractorsError::Reader(_)) | Ok(_) => {}
    }
    if let Err(error) = Redactors::load(&doctor.settings.redaction) {
        doctor.found("redaction_rules", error.to_string());
    }
    doctor.done("lexicons");
}

/// The learned reader. The encoder only accepts the file of the release, and is checked where it is loaded.
fn models(doctor: &mut Doctor) {
    let extraction = &doctor.settings.extraction;
    let path = extraction.reader_file.clone();
    if extraction.profile == ReadingProfile::Careful && !path.as_os_str().is_empty() {
        match ClinicalReader::open(&path) {
            Ok(_) => released(doctor, "extraction.reader_file", &path),
            Err(error) => doctor.found("model_file", format!("extraction.reader_file: {error}")),
        }
    }
}

/// A file of a person's choice may be another model; that it is another one than the released is said.
fn released(doctor: &mut Doctor, key: &str, path: &Path) {
    match checksum(path) {
        Err(()) => doctor.found("model_file", format!("{key}: {} cannot be read", path.display())),
        Ok(sum) if RELEASED.lines().any(|line| line.starts_with(&sum)) => {}
        Ok(sum) => doctor.found("model_other", format!("{key}: {} has the SHA-256 {}…", path.display(), &sum[..12])),
    }
}

fn checksum(path: &Path) -> Result<String, ()> {
    let mut file = std::fs::File::open(path).map_err(|_| ())?;
    let mut digest = Digest::new(&SHA256);
    let mut part = vec![0u8; 1 << 16];
    loop {
        match std::io::Read::read(&mut file, &mut part).map_err(|_| ())? {
            0 => return Ok(hex::encode(digest.finish())),
            read => digest.update(&part[..read]),
        }
    }
}

fn spool(doctor: &mut Doctor) {
    let path = doctor.settings.worker.spool.clone();
    if path.as_os_str().is_empty() {
        return doctor.skip("spool", "worker.spool is empty: there is none");
    }
    let shown = path.display().to_string();
    match std::fs::symlink_metadata(&path) {
        Err(_) => doctor.found("spool_missing", format!("{shown} is not there")),
        Ok(about) if !about.is_dir() => doctor.found("spool_not_writable", format!("{shown} is a link or no folder")),
        Ok(about) => usable(doctor, &path, &about),
    }
    if !doctor.settings.intake.lets_files_in() {
        let source = doctor.settings.intake.files.source.clone();
        doctor.found("spool_unbound", format!("no producer has the source {source}"));
    }
    doctor.done("spool");
}

fn usable(doctor: &mut Doctor, path: &Path, about: &Metadata) {
    if access(path, Access::WRITE_OK).is_err() {
        return doctor.found("spool_not_writable", format!("{} may not be written to by this user", path.display()));
    }
    // Claims and files that no one could read are renamed within the spool.
    for name in [".claimed", ".unreadable"] {
        let below = path.join(name);
        let Ok(own) = std::fs::symlink_metadata(&below) else { continue };
        if !own.is_dir() || own.dev() != about.dev() {
            doctor.found("spool_elsewhere", format!("{} is a link, no folder or another disk", below.display()));
        } else if access(&below, Access::WRITE_OK).is_err() {
            doctor.found("spool_not_writable", format!("{} may not be written to by this user", below.display()));
        }
    }
}

/// Each disk once, by the first key that is on it.
fn disks(doctor: &mut Doctor) {
    for disk in disks::inspect(&doctor.settings) {
        let cause = format!("{}: {} MiB of {} MiB are free", disk.key, disk.free >> 20, disk.size >> 20);
        let least = disk.size / 100 * u64::from(doctor.limits.disk_free);
        if disk.free >> 20 < doctor.limits.disk_full {
            doctor.found("disk_full", cause);
        } else if disk.free < least && (disk.free < ENOUGH || doctor.limits.disk_free == 100) {
            doctor.found("disk_low", cause);
        }
    }
    doctor.done("disk");
}
