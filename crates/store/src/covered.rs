//! Rows that cannot be derived: statements of people and documents, from which memory is made. A keyed hash covers
//! their unsealed columns, so that a writer of the database without the key cannot change them unnoticed. Rows that are
//! derived from them are compared with their projection (`write::projections`).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::organizations::{self, PolicyAuthenticity};
use crate::statements::covered as sql;
use crate::write::{covered_bulks, documents};
use crate::{StoreError, audit_trail, missing_rows, profile_check};
use anamnesis_core::ids::OrgId;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{PatientKeys, PlatformKey};
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, DbError, Row, Sql, SqlValue, Transaction};

/// The version of the tables whose rows are covered with which legal holds, receipts of erasures, quarantined messages, documents,
/// profiles and organisations came.
pub const WITH_ACTS: u8 = 2;

/// The one with which the ledger of runs came.
pub(crate) const WITH_RUNS: u8 = 3;

/// The newest version.
pub(crate) const VERSION: u8 = WITH_RUNS;

/// Places in a row that [`CoveredTable::sql`] reads: the patient, the hash, and the covered columns after them, the
/// first of which is the id and the second the revision where the table has revisions.
const PATIENT: usize = 0;
const MAC: usize = 1;
const COVERED: usize = 2;
const ID: usize = COVERED;
const REVISION: usize = COVERED + 1;

/// A table whose rows are covered.
pub(crate) struct CoveredTable {
    table: &'static str,
    /// The [`VERSION`] that added the tables.
    since: u8,
    /// Its rows are revisions; the first covered column names the subject and the second one the revision.
    has_revisions: bool,
    /// The places of the covered columns in a row that is inserted.
    places: Vec<usize>,
    /// The same of columns that came later than the table, where they are inserted.
    later: Vec<usize>,
    /// How many of these are read. Where the first is empty, the hash is that of a row from before, and covers none of them.
    later_read: usize,
    read: Sql,
    /// The same of single things, where the table has revisions.
    read_some: Option<Sql>,
    adopt: Bulk,
}

impl CoveredTable {
    /// `columns` are covered, `id` is the first of them; `inserted` are the columns of the insert; `further` filters
    /// the reads.
    pub(crate) fn new(
        table: &'static str,
        columns: &[&'static str],
        inserted: &[Column],
        further: &'static str,
    ) -> Self {
        Self::with_later(table, (columns, &[]), inserted, further)
    }

    /// The same of a table that got `later` columns when there were rows with hashes already: they are covered in rows in which the
    /// first of them is filled.
    pub(crate) fn with_later(
        table: &'static str,
        (columns, later): (&[&'static str], &[&'static str]),
        inserted: &[Column],
        further: &'static str,
    ) -> Self {
        let read = [columns, later].concat();
        let place = |column: &&'static str| {
            inserted.iter().position(|(name, _)| name == column).expect("a covered column is inserted")
        };
        // Only names of this crate; the positions are `PATIENT`, `MAC` and `COVERED`.
        let select = ["SELECT patient_id, mac, ", &read.join(", "), " FROM ", table, " WHERE org_id = $1"].concat();
        let read = format!("{select} AND patient_id IN {{uuids $2}} {further}");
        let has_revisions = columns.contains(&"revision") && columns[1] == "revision";
        let mut key =
            vec![("org_id", ColumnType::Uuid), ("patient_id", ColumnType::Uuid), (columns[0], ColumnType::Uuid)];
        key.extend(has_revisions.then_some(("revision", ColumnType::Int)));
        let same: Vec<String> = key.iter().map(|(column, _)| format!("{table}.{column} = r.{column}")).collect();
        let adopt = format!(
            "UPDATE {table} SET mac = r.mac FROM {{rows}} AS r WHERE {} AND {table}.mac IS NULL",
            same.join(" AND ")
        );
        key.push(("mac", ColumnType::Bytes));
        Self {
            table,
            since: 1,
            has_revisions,
            places: columns.iter().map(place).collect(),
            later: later
                .iter()
                .map(|column| inserted.iter().position(|(name, _)| name == column))
                .collect::<Option<_>>()
                .unwrap_or_default(),
            later_read: later.len(),
            read: Sql::new(Box::leak(read.into_boxed_str())),
            read_some: has_revisions.then(|| {
                let some = format!("{select} AND (patient_id, {}) IN {{pairs $2}}", columns[0]);
                Sql::new(Box::leak(some.into_boxed_str()))
            }),
            adopt: Bulk::over(Box::leak(adopt.into_boxed_str()), &key),
        }
    }

    /// Of a table whose rows are covered since a later version.
    #[must_use]
    pub(crate) fn since(self, since: u8) -> Self {
        Self { since, ..self }
    }

    pub(crate) fn sql(&self) -> &Sql {
        &self.read
    }

    /// The row followed by its hash.
    pub(crate) fn seal(&self, keys: &PatientKeys, mut row: Vec<Arg>) -> Vec<Arg> {
        let mut content = Vec::with_capacity(256);
        let later =
            self.later.iter().filter(|_| self.later.first().is_some_and(|first| !matches!(row[*first], Arg::Null)));
        for place in self.places.iter().chain(later) {
            of_arg(&row[*place], &mut content);
        }
        row.push(self.hash(keys, &content).to_vec().into());
        row
    }

    /// The same of a row whose last column is `mac`, which is empty as yet: the hash takes its place.
    pub(crate) fn seal_row(&self, keys: &PatientKeys, row: impl Into<Vec<Arg>>) -> Vec<Arg> {
        let mut row = row.into();
        let mac = row.pop();
        debug_assert!(matches!(mac, Some(Arg::Null)), "the last column is the hash, which is empty as yet");
        self.seal(keys, row)
    }

    /// The hashed content of a row: all covered columns alike, after patient and hash.
    fn content(&self, row: &Row) -> Vec<u8> {
        let cells = row.0.get(COVERED..).unwrap_or_default();
        let (own, later) = cells.split_at(cells.len().saturating_sub(self.later_read));
        match later.first() {
            None | Some(SqlValue::Null) => content(own),
            Some(_) => content(cells),
        }
    }

    fn hash(&self, keys: &PatientKeys, content: &[u8]) -> [u8; 16] {
        anamnesis_crypto::first_half(keys.hash(self.table, content))
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

fn of_cell(cell: &SqlValue, content: &mut Vec<u8>) {
    match cell {
        SqlValue::Null => value(0, &[], content),
        SqlValue::I64(v) => value(1, &v.to_be_bytes(), content),
        SqlValue::F64(v) => value(2, &v.to_bits().to_be_bytes(), content),
        SqlValue::Text(v) => value(3, v.as_bytes(), content),
        SqlValue::Blob(v) => value(4, v, content),
    }
}

/// Cells in the form in which they are hashed.
pub(crate) fn content(cells: &[SqlValue]) -> Vec<u8> {
    let mut content = Vec::with_capacity(256);
    cells.iter().for_each(|cell| of_cell(cell, &mut content));
    content
}

/// The same of values that would be written.
pub(crate) fn content_of(args: &[Arg]) -> Vec<u8> {
    let mut content = Vec::with_capacity(64);
    args.iter().for_each(|arg| of_arg(arg, &mut content));
    content
}

/// The result of checking the hashes of some patients' rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authenticity {
    /// Rows that were changed, or written without the patient's key; and rows whose switch differs from what
    /// their documents say.
    pub forged: u64,
    /// Rows without a hash, each with the one that it gets: of versions before rows were covered.
    pub uncovered: Vec<UncoveredRow>,
    /// Patients whose row differs from their statements.
    pub differing: Vec<Uuid>,
}

impl Authenticity {
    /// Adds the results of other patients.
    pub fn merge(&mut self, other: Self) {
        self.forged += other.forged;
        self.uncovered.extend(other.uncovered);
        self.differing.extend(other.differing);
    }
}

/// A row without a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncoveredRow {
    pub(crate) table: &'static str,
    /// The version of covered tables that added its table.
    pub since: u8,
    pub(crate) patient: Uuid,
    pub(crate) id: Uuid,
    /// Where the table has revisions.
    revision: Option<i64>,
    pub(crate) mac: [u8; 16],
}

impl UncoveredRow {
    /// For a table whose rows are identified by the id alone.
    pub(crate) fn new(table: &'static str, since: u8, (patient, id): (Uuid, Uuid), mac: [u8; 16]) -> Self {
        Self { table, since, patient, id, revision: None, mac }
    }
}

/// Compares every covered row of the patients whose keys are at hand with its hash, and rows with the trail: all rows are covered
/// `since` then.
///
/// # Errors
/// Of the database.
pub async fn authenticity(
    tx: &mut Transaction,
    org: OrgId,
    (patients, since): (&[Uuid], Option<DateTime<Utc>>),
    keys: &crate::Keys,
) -> Result<Authenticity, StoreError> {
    let mut found = Authenticity::default();
    let of = || vec![org.0.into(), Arg::Uuids(patients.to_vec())];
    found.forged += missing_rows::count(tx, org, patients, since).await?;
    for counted in [&sql::SWITCHED, &sql::REVISIONS, &sql::PURGED, &sql::TURNED, &sql::RISKS, &sql::RAW] {
        let row = tx.fetch_optional(counted, of()).await?;
        found.forged += row.map(|row| row.i64(sql::switched::FAULTS)).transpose()?.map_or(0, i64::unsigned_abs);
    }
    for covered in covered_bulks() {
        let rows = tx.fetch_all(covered.sql(), of()).await?;
        for row in rows {
            let scope = Scope::new(org, row.uuid(PATIENT)?.into()).ok();
            // Of a patient without a key nothing can be said: that is counted on its own.
            let Some(keys) = scope.and_then(|scope| keys.get(&scope)) else { continue };
            let content = covered.content(&row);
            let Some(mac) = row.opt_blob(MAC)? else {
                let mac = covered.hash(keys, &content);
                let revision = covered.has_revisions.then(|| row.i64(REVISION)).transpose()?;
                let own = UncoveredRow::new(covered.table, covered.since, (row.uuid(PATIENT)?, row.uuid(ID)?), mac);
                found.uncovered.push(UncoveredRow { revision, ..own });
                continue;
            };
            if mac != covered.hash(keys, &content) {
                found.forged += 1;
            }
        }
    }
    found.differing = profile_check::differing(tx, org, patients, keys).await?;
    Ok(found)
}

/// Columns that decide when a source is removed and that were changed outside the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DistrustedRows {
    /// The policy of the organisation: no source is removed by it.
    pub(crate) everything: bool,
    /// Patients whose tier or country differs from their statements, or whose legal hold may have been removed.
    patients: BTreeSet<Uuid>,
    /// Documents whose dates or type were changed, by patient and revision.
    documents: BTreeSet<(Uuid, Uuid, i64)>,
}

impl DistrustedRows {
    /// Whether no source of this revision may be removed.
    pub fn has(&self, patient: Uuid, document: Uuid, revision: u32) -> bool {
        let own = (patient, document, i64::from(revision));
        self.everything || self.patients.contains(&patient) || self.documents.contains(&own)
    }
}

/// Looks whether these documents, their patients and the organisation are as this program left them.
///
/// # Errors
/// Of the database.
pub async fn distrusted(
    tx: &mut Transaction,
    org: OrgId,
    pairs: Vec<(Uuid, Uuid)>,
    (keys, platform): (&crate::Keys, &PlatformKey),
    now: DateTime<Utc>,
) -> Result<DistrustedRows, StoreError> {
    let is_covered = audit_trail::rows_are_covered(tx, org, now).await?.version >= WITH_ACTS;
    let everything = match organizations::policy(tx, org, platform).await? {
        PolicyAuthenticity::Authentic => false,
        PolicyAuthenticity::Forged => true,
        PolicyAuthenticity::Uncovered => is_covered,
    };
    let patients: BTreeSet<Uuid> = pairs.iter().map(|(patient, _)| *patient).collect();
    let patients: Vec<Uuid> = patients.into_iter().collect();
    let differing = if is_covered { profile_check::differing(tx, org, &patients, keys).await? } else { Vec::new() };
    let mut found =
        DistrustedRows { everything, patients: differing.into_iter().collect(), ..DistrustedRows::default() };
    found.patients.extend(audit_trail::acts::doubtful_holds(tx, org, patients).await?);
    let covered = documents();
    let pairs = pairs.into_iter().map(|(patient, document)| (patient, document.as_bytes().to_vec())).collect();
    let Some(sql) = &covered.read_some else { return Ok(found) };
    for row in tx.fetch_all(sql, vec![org.0.into(), Arg::Pairs(pairs)]).await? {
        let scope = Scope::new(org, row.uuid(PATIENT)?.into()).ok();
        let Some(keys) = scope.and_then(|scope| keys.get(&scope)) else { continue };
        let is_own = match row.opt_blob(MAC)? {
            Some(mac) => mac == covered.hash(keys, &covered.content(&row)),
            None => !is_covered,
        };
        if !is_own {
            found.documents.insert((row.uuid(PATIENT)?, row.uuid(ID)?, row.i64(REVISION)?));
        }
    }
    Ok(found)
}

/// Gives rows of versions before rows were covered their hash. Once: afterwards a row without one is forged
/// (`audit_trail::rows_are_covered`).
///
/// # Errors
/// Of the database.
pub async fn adopt(tx: &mut Transaction, org: OrgId, uncovered: &[UncoveredRow]) -> Result<(), DbError> {
    for covered in covered_bulks() {
        let own = uncovered.iter().filter(|row| row.table == covered.table);
        let row = |row: &UncoveredRow| -> Vec<Arg> {
            let key = [org.0.into(), row.patient.into(), row.id.into()];
            let revision = row.revision.map(Arg::from);
            key.into_iter().chain(revision).chain([row.mac.to_vec().into()]).collect()
        };
        let rows: Vec<Vec<Arg>> = own.map(row).collect();
        tx.bulk(&covered.adopt, rows).await?;
    }
    Ok(())
}

/// The statements that are made of the covered tables; all others are in the folder.
pub fn statements() -> Vec<&'static Sql> {
    let of =
        |covered: &&'static CoveredTable| [Some(covered.sql()), covered.read_some.as_ref(), Some(covered.adopt.sql())];
    covered_bulks().iter().flat_map(of).flatten().collect()
}

/// One that is made when it is first asked for.
pub(crate) type LazyCoveredTable = LazyLock<CoveredTable>;
