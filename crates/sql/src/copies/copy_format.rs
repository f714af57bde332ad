//! PostgreSQL's binary copy format: what its files hold, read without a server.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use uuid::Uuid;

use super::{CopyError, Patients, Sample, Snapshot, scope, table_file};
use anamnesis_core::scope::Scope;

/// Signature, flags and the length of an extension that is never there.
pub(super) const HEAD: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
pub(super) const END: [u8; 2] = [0xff, 0xff];
/// Longer fields than PostgreSQL can hold are a sign of damage, not a reason to take memory.
const LONGEST: usize = 1 << 30;

type Fields = Vec<Option<Vec<u8>>>;

/// Rows of one file, one after the other.
struct RowFile {
    file: BufReader<File>,
    columns: usize,
}

impl RowFile {
    fn open(folder: &Path, table: &str, columns: usize) -> Result<Self, CopyError> {
        let mut file = BufReader::new(File::open(folder.join(table_file(table)))?);
        let mut head = [0u8; 19];
        file.read_exact(&mut head)?;
        if &head != HEAD {
            return Err(CopyError::Damaged(table_file(table)));
        }
        Ok(Self { file, columns })
    }

    /// `Ok(None)` at the end of the file, which must be where the format says.
    fn next(&mut self) -> Option<Option<Fields>> {
        let count = i16::from_be_bytes(self.take()?);
        if count == -1 {
            return (self.file.read(&mut [0u8; 1]).ok()? == 0).then_some(None);
        }
        if usize::try_from(count).ok()? != self.columns {
            return None;
        }
        let mut fields = Vec::with_capacity(self.columns);
        for _ in 0..self.columns {
            let length = i32::from_be_bytes(self.take()?);
            if length == -1 {
                fields.push(None);
                continue;
            }
            let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST)?;
            let mut bytes = vec![0u8; length];
            self.file.read_exact(&mut bytes).ok()?;
            fields.push(Some(bytes));
        }
        Some(Some(fields))
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0u8; N];
        self.file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Reads every row of every table: a file that ends early or late, or with another number of rows, is damaged.
pub(crate) fn verify(snapshot: &Snapshot, folder: &Path, every: usize) -> Result<Patients, CopyError> {
    let mut patients = Patients::default();
    let mut documents: BTreeMap<Scope, Sample> = BTreeMap::new();
    let mut known: HashSet<Scope> = HashSet::new();
    for (table, copy) in &snapshot.tables {
        let damaged = || CopyError::Damaged(table_file(table));
        let at = |name: &str| copy.columns.iter().position(|column| column == name);
        let place = (at("org_id"), at("patient_id"));
        let text = (at("document_id"), at("revision"), at("content_sealed"));
        let mut rows = RowFile::open(folder, table, copy.columns.len())?;
        let mut count = 0u64;
        while let Some(mut fields) = rows.next().ok_or_else(damaged)? {
            count += 1;
            if let (Some(id), Some(generation)) = (at("key_store_id"), at("generation")) {
                let id = fields[id].as_deref().and_then(|id| Uuid::from_slice(id).ok());
                patients.binding = id.zip(fields[generation].as_deref().map(number));
            }
            let (Some(org), Some(patient)) = place else { continue };
            let (Some(org), Some(patient)) = (&fields[org], &fields[patient]) else { continue };
            let whose = scope(org, patient);
            if table == "patient_profile" {
                patients.all.push(whose.ok_or_else(damaged)?);
            }
            let (Some(document), Some(revision), Some(content), Some(whose)) = (text.0, text.1, text.2, whose) else {
                continue;
            };
            if table != "documents" || !known.insert(whose) {
                continue;
            }
            let sample = (|| {
                let document = Uuid::from_slice(fields[document].as_deref()?).ok()?;
                let revision = number(fields[revision].as_deref()?);
                let sealed = fields[content].take()?;
                Some(Sample { scope: whose, document, revision: u32::try_from(revision).ok()?, sealed })
            })();
            let sample = sample.ok_or_else(damaged)?;
            if sample.sealed.is_empty() {
                known.remove(&whose);
            } else {
                documents.insert(whose, sample);
            }
        }
        if count != copy.rows {
            return Err(damaged());
        }
    }
    patients.samples = documents.into_values().step_by(every.max(1)).collect();
    Ok(patients)
}

/// A number that is not negative, of any width.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, byte| (n << 8) | u64::from(*byte))
}

#[cfg(test)]
#[path = "copy_format_tests.rs"]
mod tests;
