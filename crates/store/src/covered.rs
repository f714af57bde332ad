//! Rows that nothing else can show to be right: what people and documents said, of which memory is made. The columns that are not
//! sealed are covered by a keyed hash, so that a writer of the database who lacks the key changes none of them unnoticed.
//! What is derived from these rows is compared with them by its own fold (`write::reconciling`).

use std::sync::LazyLock;

use uuid::Uuid;

use crate::write::covered_bulks;
use anamnesis_core::ids::OrgId;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Cell, Column, DbError, Sql, Transaction};

/// A table whose rows are covered.
pub(crate) struct Covered {
    table: &'static str,
    /// The places of the covered columns in a row that is inserted.
    places: Vec<usize>,
    read: Sql,
}

impl Covered {
    /// `columns` are covered, `id` among them; `inserted` are the columns of the insert; `further` narrows what is read.
    pub(crate) fn new(
        table: &'static str,
        columns: &[&'static str],
        inserted: &[Column],
        further: &'static str,
    ) -> Self {
        let place = |column: &&'static str| {
            inserted.iter().position(|(name, _)| name == column).expect("a covered column is inserted")
        };
        let read = format!(
            "SELECT patient_id, mac, {} FROM {table} WHERE org_id = $1 AND patient_id IN {{uuids $2}} {further}",
            columns.join(", ")
        );
        Self { table, places: columns.iter().map(place).collect(), read: Sql::new(Box::leak(read.into_boxed_str())) }
    }

    pub(crate) fn sql(&self) -> &Sql {
        &self.read
    }

    /// The row with its hash behind it.
    pub(crate) fn seal(&self, keys: &PatientKeys, mut row: Vec<Arg>) -> Vec<Arg> {
        let mut content = Vec::with_capacity(256);
        for place in &self.places {
            of_arg(&row[*place], &mut content);
        }
        row.push(self.hash(keys, &content).to_vec().into());
        row
    }

    fn hash(&self, keys: &PatientKeys, content: &[u8]) -> [u8; 16] {
        let hash = keys.hash(self.table, content);
        let mut first = [0; 16];
        first.copy_from_slice(&hash[..16]);
        first
    }
}

/// A value with its type and length, the same before it is written and after it is read.
fn value(kind: u8, bytes: &[u8], content: &mut Vec<u8>) {
    content.push(kind);
    content.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    content.extend_from_slice(bytes);
}

fn of_arg(arg: &Arg, content: &mut Vec<u8>) {
    match arg {
        Arg::I64(v) => value(1, &v.to_be_bytes(), content),
        Arg::Bool(v) => value(1, &i64::from(*v).to_be_bytes(), content),
        Arg::F64(v) => value(2, &v.to_bits().to_be_bytes(), content),
        Arg::Text(v) => value(3, v.as_bytes(), content),
        Arg::Blob(v) => value(4, v, content),
        Arg::Uuid(v) => value(4, v.as_bytes(), content),
        // Lists are no column of a covered table.
        _ => value(0, &[], content),
    }
}

fn of_cell(cell: &Cell, content: &mut Vec<u8>) {
    match cell {
        Cell::Null => value(0, &[], content),
        Cell::I64(v) => value(1, &v.to_be_bytes(), content),
        Cell::F64(v) => value(2, &v.to_bits().to_be_bytes(), content),
        Cell::Text(v) => value(3, v.as_bytes(), content),
        Cell::Blob(v) => value(4, v, content),
    }
}

/// What the hashes of some patients' rows say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authenticity {
    /// Rows that were changed, or written without the patient's key.
    pub forged: u64,
    /// Rows of versions before rows were covered.
    pub uncovered: u64,
}

/// Compares every covered row of the patients whose keys are at hand with its hash.
///
/// # Errors
/// Of the database.
pub async fn authenticity(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[Uuid],
    keys: &crate::Keys,
) -> Result<Authenticity, DbError> {
    let mut found = Authenticity::default();
    for covered in covered_bulks() {
        let rows = tx.fetch_all(covered.sql(), vec![org.0.into(), Arg::Uuids(patients.to_vec())]).await?;
        for row in rows {
            let scope = Scope::new(org, row.uuid(0)?.into()).ok();
            // Of a patient without a key nothing can be said: that is counted on its own.
            let Some(keys) = scope.and_then(|scope| keys.get(&scope)) else { continue };
            let Some(mac) = row.opt_blob(1)? else {
                found.uncovered += 1;
                continue;
            };
            let mut content = Vec::with_capacity(256);
            row.0.iter().skip(2).for_each(|cell| of_cell(cell, &mut content));
            if mac != covered.hash(keys, &content) {
                found.forged += 1;
            }
        }
    }
    Ok(found)
}

pub fn statements() -> Vec<&'static Sql> {
    covered_bulks().iter().map(|covered| covered.sql()).collect()
}

/// One that is made when it is first asked for.
pub(crate) type Lazy = LazyLock<Covered>;
