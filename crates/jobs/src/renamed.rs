//! Old names of keys of job policies (`renamed.tsv`), which work for one minor version. They are replaced in the text of a
//! policy, so that errors keep their lines.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anamnesis_core::renamed::RenamedKey;
use toml::de::{DeTable, DeValue};

use super::JobName;

/// The table; `*` as the first step stands for every job.
static ROWS: LazyLock<Vec<RenamedKey>> = LazyLock::new(|| RenamedKey::rows(include_str!("renamed.tsv")));

/// An old name in a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldPolicyKey {
    pub job: JobName,
    pub file: PathBuf,
    pub line: usize,
    /// Old and new path within the file.
    pub old: &'static str,
    pub new: &'static str,
    pub since: &'static str,
}

/// An old name in the text of a policy.
struct OldJobKey {
    row: RenamedKey,
    place: Range<usize>,
}

/// The rows of a job, with paths within its file.
fn rows(job: JobName) -> impl Iterator<Item = RenamedKey> {
    ROWS.iter().filter_map(move |row| {
        let of_job = |path: &'static str| path.split_once('.').filter(|(of, _)| *of == "*" || *of == job.code());
        let ((_, old), (_, new)) = (of_job(row.old)?, of_job(row.new)?);
        Some(RenamedKey { old, new, since: row.since })
    })
}

/// The table at a dotted path; the top at an empty one.
fn section<'t, 'i>(top: &'t DeTable<'i>, path: &str) -> Option<&'t DeTable<'i>> {
    path.split('.').filter(|step| !step.is_empty()).try_fold(top, |table, step| match table.get(step)?.get_ref() {
        DeValue::Table(below) => Some(below),
        _ => None,
    })
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// The old names of a policy, from the end. A text that is no TOML has none: its reader reports it.
///
/// # Errors
/// A key that is set under both names, with its line.
fn old_names(job: JobName, text: &str) -> Result<Vec<OldJobKey>, String> {
    let (top, broken) = DeTable::parse_recoverable(text);
    if !broken.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for row in rows(job) {
        let Some(table) = section(top.get_ref(), row.section()) else { continue };
        let Some(key) = table.keys().find(|key| key.get_ref() == row.old_name()) else { continue };
        let place = key.span();
        if table.contains_key(row.new_name()) {
            let line = line(text, place.start);
            return Err(format!(
                "line {line}: {} is set under its old name {} too; remove the old one",
                row.new, row.old
            ));
        }
        found.push(OldJobKey { row, place });
    }
    found.sort_by_key(|name| std::cmp::Reverse(name.place.start));
    Ok(found)
}

/// The policy with new names.
///
/// # Errors
/// As [`old_names`].
pub(crate) fn replaced(job: JobName, text: &str) -> Result<String, String> {
    let mut new = text.to_owned();
    for name in old_names(job, text)? {
        new.replace_range(name.place, name.row.new_name());
    }
    Ok(new)
}

/// Every old name in the policies of a directory. A file that cannot be used has none: loading it reports the error.
pub fn in_use(directory: Option<&Path>) -> Vec<OldPolicyKey> {
    let Some(directory) = directory else { return Vec::new() };
    let of_job = |job: &JobName| {
        let (job, file) = (*job, directory.join(format!("{job}.toml")));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut names = old_names(job, &text).unwrap_or_default();
        names.reverse();
        let key = |name: OldJobKey| {
            let RenamedKey { old, new, since } = name.row;
            OldPolicyKey { job, file: file.clone(), line: line(&text, name.place.start), old, new, since }
        };
        names.into_iter().map(key).collect::<Vec<_>>()
    };
    JobName::ALL.iter().flat_map(of_job).collect()
}

#[cfg(test)]
#[path = "renamed_tests.rs"]
mod tests;
