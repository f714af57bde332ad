//! A digest of a store: equal digests mean equal memory. Sealed columns are opened, rows are hashed without order, and
//! columns that only record when or with which nonce a row was written are left out. It proves the main property of
//! ingest: repetition, a crash and another order of the same messages result in the same memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use aws_lc_rs::digest::{Context, SHA256, digest};
use uuid::Uuid;

use super::encrypted_columns::{document_row, hash_row};
use super::{MemoryReader, StoreError};
use crate::statements::{self, NamedStatement, digest as sql};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef as SealedCell, PatientKeys};
use anamnesis_sql::{Access, Arg, Row, Sql, SqlValue};

/// How a row names itself to the cells that are sealed for it.
#[derive(Clone, Copy)]
enum SealedRowId {
    /// The id in this column.
    Column(usize),
    /// Document and revision, in these columns.
    Document(usize, usize),
    /// The keyed hash in this column.
    Hash(usize),
    /// Nothing of it is sealed.
    Open,
}

struct DigestedTable {
    name: &'static str,
    columns: &'static [&'static str],
    /// The place of the patient, where the table has one.
    patient: Option<usize>,
    row: SealedRowId,
    sql: &'static Sql,
}

/// The tables of the tenants. Each statement is named after its table and reads the columns that are remembered.
static ROWS: [(&str, SealedRowId); 31] = [
    ("organization", SealedRowId::Open),
    ("patient_profile", SealedRowId::Column(sql::patient_profile::PATIENT_ID)),
    ("profile_statement", SealedRowId::Column(sql::profile_statement::ID)),
    ("ephemeral_mode", SealedRowId::Open),
    ("inbox", SealedRowId::Open),
    ("quarantine", SealedRowId::Open),
    ("documents", SealedRowId::Document(sql::documents::DOCUMENT_ID, sql::documents::REVISION)),
    ("document_archive", SealedRowId::Document(sql::document_archive::DOCUMENT_ID, sql::document_archive::REVISION)),
    ("legal_hold", SealedRowId::Column(sql::legal_hold::ID)),
    ("passage", SealedRowId::Open),
    ("embedding", SealedRowId::Open),
    ("extracted_findings", SealedRowId::Column(sql::extracted_findings::ID)),
    ("memory", SealedRowId::Column(sql::memory::ID)),
    ("legacy_record", SealedRowId::Column(sql::legacy_record::ID)),
    ("confidence_course", SealedRowId::Column(sql::confidence_course::PATIENT_ID)),
    ("cohort_pattern", SealedRowId::Open),
    ("summary", SealedRowId::Open),
    ("memory_link", SealedRowId::Open),
    ("memory_event", SealedRowId::Open),
    ("contradiction", SealedRowId::Open),
    ("conditions", SealedRowId::Column(sql::conditions::MEMORY_ID)),
    ("allergies", SealedRowId::Column(sql::allergies::MEMORY_ID)),
    ("medications", SealedRowId::Column(sql::medications::MEMORY_ID)),
    ("symptom_states", SealedRowId::Column(sql::symptom_states::MEMORY_ID)),
    ("appointments", SealedRowId::Column(sql::appointments::MEMORY_ID)),
    ("health_signals", SealedRowId::Column(sql::health_signals::MEMORY_ID)),
    ("conversation_preferences", SealedRowId::Hash(sql::conversation_preferences::KEY_HASH)),
    ("consent", SealedRowId::Column(sql::consent::ID)),
    ("action_audit", SealedRowId::Open),
    ("risk_flag", SealedRowId::Column(sql::risk_flag::ID)),
    ("outbox", SealedRowId::Column(sql::outbox::ID)),
];

static TABLES: LazyLock<Vec<DigestedTable>> = LazyLock::new(|| {
    let all: HashMap<&str, NamedStatement> = statements::all().into_iter().map(|one| (one.name, one)).collect();
    let table = |(name, row): &(&'static str, SealedRowId)| {
        let NamedStatement { sql, columns, .. } = all[format!("digest/{name}").as_str()];
        let patient = columns.iter().position(|column| *column == "patient_id");
        DigestedTable { name, columns, patient, row: *row, sql }
    };
    ROWS.iter().map(table).collect()
});

/// The digest of one table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TableDigest {
    pub rows: u64,
    /// SHA-256 over the sorted hashes of its rows, in hexadecimal.
    pub(crate) sha256: String,
}

/// The digests of a store. Comparable between stores that share their keys, because hashes and ids of patients' words
/// are keyed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StoreDigest {
    pub tables: BTreeMap<&'static str, TableDigest>,
}

impl StoreDigest {
    /// The same without some tables. The outbox, for example, depends on the order in which messages arrived, as memory
    /// must not.
    pub fn without(&self, left_out: &[&str]) -> String {
        let mut context = Context::new(&SHA256);
        for (name, table) in self.tables.iter().filter(|(name, _)| !left_out.contains(name)) {
            context.update(format!("{name} {} {}\n", table.rows, table.sha256).as_bytes());
        }
        hex::encode(context.finish())
    }

    /// Rows of a table.
    pub fn rows(&self, table: &str) -> u64 {
        self.tables.get(table).map_or(0, |t| t.rows)
    }
}

impl MemoryReader<'_> {
    /// The digest of these organisations, or of all. Reads every row of theirs: for proofs, not for every day.
    ///
    /// # Errors
    /// When the store cannot be read, or a cell does not open with its patient's key.
    pub async fn digest(self, orgs: Option<&[OrgId]>) -> Result<StoreDigest, StoreError> {
        let orgs = match orgs {
            Some(orgs) => orgs.to_vec(),
            None => self.stats().every_organization().await?,
        };
        let mut rows: BTreeMap<&'static str, Vec<[u8; 32]>> = TABLES.iter().map(|t| (t.name, Vec::new())).collect();
        for org in orgs {
            let keys = self.keys_of_all(org).await?;
            let mut tx = self.db.read(Access::Organization(org)).await?;
            for table in TABLES.iter() {
                for row in tx.fetch_all(table.sql, vec![org.0.into()]).await? {
                    rows.entry(table.name).or_default().push(hash(table, &row, &keys)?);
                }
            }
        }
        let tables = rows.into_iter().map(|(name, rows)| (name, summed(rows))).collect();
        Ok(StoreDigest { tables })
    }

    async fn keys_of_all(self, org: OrgId) -> Result<HashMap<Uuid, Arc<PatientKeys>>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&sql::PATIENTS, vec![Arg::from(org.0)]).await?;
        let scopes = rows
            .iter()
            .map(|row| Scope::new(org, PatientId(row.uuid(sql::patients::PATIENT_ID)?)).map_err(|_| StoreError::Shape));
        let keys = self.keys.known(&scopes.collect::<Result<Vec<_>, StoreError>>()?).await?;
        Ok(keys.into_iter().map(|(scope, keys)| (scope.patient().0, keys)).collect())
    }
}

fn summed(mut rows: Vec<[u8; 32]>) -> TableDigest {
    rows.sort_unstable();
    TableDigest { rows: rows.len() as u64, sha256: hex::encode(digest(&SHA256, rows.as_flattened())) }
}

/// A row as its cells, each with its length, so that no two rows read alike.
fn hash(table: &DigestedTable, row: &Row, keys: &HashMap<Uuid, Arc<PatientKeys>>) -> Result<[u8; 32], StoreError> {
    let mut context = Context::new(&SHA256);
    for (at, column) in table.columns.iter().enumerate() {
        let bytes = match (column.strip_suffix("_sealed"), &row.0[at]) {
            (Some(column), SqlValue::Blob(sealed)) => opened(table, row, column, sealed, keys)?,
            (_, cell) => plain(cell),
        };
        context.update(&(bytes.len() as u64).to_be_bytes());
        context.update(&bytes);
    }
    let mut out = [0u8; 32];
    out.copy_from_slice(context.finish().as_ref());
    Ok(out)
}

/// A cell without its nonce. Of a patient whose key is destroyed no one can say more than that there is something.
fn opened(
    table: &DigestedTable,
    row: &Row,
    column: &'static str,
    sealed: &[u8],
    keys: &HashMap<Uuid, Arc<PatientKeys>>,
) -> Result<Vec<u8>, StoreError> {
    let patient = row.uuid(table.patient.ok_or(StoreError::Shape)?)?;
    let Some(keys) = keys.get(&patient) else { return Ok(b"destroyed".to_vec()) };
    let id = match table.row {
        SealedRowId::Column(at) => row.uuid(at)?,
        SealedRowId::Document(id, revision) => {
            document_row(row.uuid(id)?, u32::try_from(row.i64(revision)?).map_err(|_| StoreError::Shape)?)
        }
        SealedRowId::Hash(at) => hash_row(&row.bytes(at)?),
        SealedRowId::Open => return Err(StoreError::Shape),
    };
    if sealed.is_empty() {
        return Ok(b"purged".to_vec());
    }
    let mut plain = b"opened ".to_vec();
    plain.extend(keys.open(SealedCell { table: table.name, row: id, column }, sealed)?);
    Ok(plain)
}

/// A value with its type.
fn plain(cell: &SqlValue) -> Vec<u8> {
    let (kind, value) = match cell {
        SqlValue::Null => (0u8, Vec::new()),
        SqlValue::I64(v) => (1, v.to_be_bytes().to_vec()),
        SqlValue::F64(v) => (2, v.to_bits().to_be_bytes().to_vec()),
        SqlValue::Text(v) => (3, v.as_bytes().to_vec()),
        SqlValue::Blob(v) => (4, v.clone()),
    };
    [&[kind], value.as_slice()].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use anamnesis_sql::{Database, Location};

    /// Wall clock and its hash; columns sealed under the platform's key; the publisher's internal state.
    const NOT_MEMORY: &[&str] = &[
        "created_at",
        "updated_at",
        "recorded_at",
        "retired_at",
        "patient_profile.facts_redacted_by",
        "memory.fold_hash",
        "memory.lines",
        // Derived, and written or not by the number of findings that arrived together.
        "fold_checkpoint.org_id",
        "fold_checkpoint.patient_id",
        "fold_checkpoint.group_hash",
        "fold_checkpoint.last_at",
        "fold_checkpoint.state_sealed",
        "documents.retention_evaluated",
        "documents.retention_due_at",
        "documents.retention_state_at",
        "document_archive.archived_at",
        "summary.made_at",
        "passage.embedding_pending",
        // By which steps vectors came to be; the vectors themselves are digested.
        "passage.missing_next_generation",
        "organization.vector_generation",
        "organization.vector_model",
        "organization.building_generation",
        "organization.building_model",
        "organization.reembedding_state",
        "organization.vectors_swapped_at",
        "organization.stale_vectors",
        "memory.review_due_at",
        "job_watermark.org_id",
        "job_watermark.job",
        "job_watermark.mark",
        "quarantine.body_sealed",
        "quarantine.attributes_sealed",
        "quarantine.noticed_at",
        // The sealing key depends on who was known at arrival; the term depends on the clock.
        "quarantine.key_org_id",
        "quarantine.key_patient_id",
        "quarantine.expired_at",
        "outbox.claimed_until",
        "outbox.attempts",
        "outbox.published_at",
        "outbox.taken",
        "outbox.ended",
        // An answer is a copy of digested data, as of an instant.
        "rights_answer.org_id",
        "rights_answer.patient_id",
        "rights_answer.id",
        "rights_answer.kind",
        "rights_answer.asked_by",
        "rights_answer.answered_at",
        "rights_answer.body_sealed",
        // Receipts record what was erased, and when.
        "erasure.org_id",
        "erasure.patient_id",
        "erasure.id",
        "erasure.what",
        "erasure.subject_id",
        "erasure.requested_by",
        "erasure.requested_at",
        "erasure.done_at",
        "erasure.files_at",
        "erasure.counts",
        "erasure.said_in",
        // The time of an audit entry, and the proof that it is unchanged. Both only cover digested data.
        "mac",
        "action_audit.at",
        "action_audit.salt",
        "action_audit.block",
        "action_audit.leaf",
        "action_audit.erased_by",
        "audit_block.org_id",
        "audit_block.number",
        "audit_block.entries",
        "audit_block.sealed_at",
        "audit_block.leaves",
        "audit_block.previous",
        "audit_block.hash",
        "audit_block.purged_before",
        "quarantine.notice_taken",
        "quarantine.notice_after",
    ];

    #[tokio::test]
    async fn every_column_of_every_tenant_table_is_in_the_digest_or_left_out_by_name() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.read(Access::Platform).await.unwrap();
        let columns = Sql::new(
            "SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' \
             AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'org_id') AND t.name <> 'job_run'",
        );
        let digested: BTreeSet<(String, String)> =
            TABLES.iter().flat_map(|t| t.columns.iter().map(|c| (t.name.to_owned(), (*c).to_owned()))).collect();
        let rows = tx.fetch_all(&columns, Vec::new()).await.unwrap();
        assert!(rows.len() > 200, "the schema is read");
        for row in rows {
            let (table, column) = (row.text(0).unwrap(), row.text(1).unwrap());
            let left_out = NOT_MEMORY.iter().any(|n| *n == column || *n == format!("{table}.{column}"));
            assert_ne!(left_out, digested.contains(&(table.clone(), column.clone())), "{table}.{column}");
        }
    }

    #[test]
    fn rows_count_in_any_order_and_each_as_often_as_it_occurs() {
        let (a, b) = ([1; 32], [2; 32]);
        assert_eq!(summed(vec![a, b]), summed(vec![b, a]));
        assert_ne!(summed(vec![a, b]), summed(vec![a, b, b]));
        assert_ne!(plain(&SqlValue::Text("1".to_owned())), plain(&SqlValue::I64(1)));
    }
}
