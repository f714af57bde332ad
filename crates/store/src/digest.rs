//! What a store says, as one number: equal digests mean equal memory. Sealed columns are opened, rows are taken in no
//! order, and what only tells when or with which nonce a row was written is left out. It proves what has to be proved
//! of ingest: a repetition, a crash and another order of the same messages end in the same memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use aws_lc_rs::digest::{Context, SHA256, digest};
use uuid::Uuid;

use super::seal::{document_row, hash_row};
use super::{Store, StoreError};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{Cell as SealedCell, PatientKeys};
use anamnesis_sql::{Access, Arg, Cell, Row, Sql};

/// How a row names itself to the cells that are sealed for it.
#[derive(Clone, Copy)]
enum RowId {
    /// The id in this column.
    Column(usize),
    /// Document and revision, in these columns.
    Document(usize, usize),
    /// The keyed hash in this column.
    Hash(usize),
    /// Nothing of it is sealed.
    Open,
}

struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    row: RowId,
    sql: Sql,
}

/// The tenants' tables, each with the columns that tell what is remembered. The second column is the patient where a
/// table has one.
macro_rules! tables {
    ($($name:literal, $row:expr, [$($column:literal),+ $(,)?];)+) => {
        static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| vec![$(Table {
            name: $name,
            columns: &[$($column),+],
            row: $row,
            sql: Sql::new(concat!("SELECT ", tables!(@list $($column),+), " FROM ", $name, " WHERE org_id = $1")),
        }),+]);
    };
    (@list $first:literal $(, $rest:literal)*) => { concat!($first $(, ", ", $rest)*) };
}

tables! {
    "organization", RowId::Open, ["org_id", "time_zone", "redaction_policy", "consent_required", "withdrawal",
        "privacy_tier", "country", "emergency_text_en", "emergency_text_es"];
    "patient_profile", RowId::Column(1), ["org_id", "patient_id", "cognitive_state", "cognitive_state_at",
        "disclaimer_accepted_at", "region_sealed", "privacy_tier_sealed", "emergency_contacts_sealed", "profile_at",
        "ephemeral", "privacy_tier", "country"];
    "profile_statement", RowId::Column(2), ["org_id", "patient_id", "id", "stated_at", "cognitive_state",
        "disclaimer_accepted_at", "region_sealed", "privacy_tier_sealed", "emergency_contacts_sealed"];
    "ephemeral_mode", RowId::Open, ["org_id", "patient_id", "id", "from_at", "is_on"];
    "inbox", RowId::Open, ["org_id", "patient_id", "message_hash", "body_hash", "message_type", "disposition"];
    "quarantine", RowId::Open, ["org_id", "id", "message_hash", "reason", "field", "state"];
    "documents", RowId::Document(2, 3), ["org_id", "patient_id", "document_id", "revision", "document_type",
        "occurred_at", "language", "therapist_id", "signed_by", "ends_at", "session_hash", "sentiment", "risk_level", "body_hash",
        "content_sealed", "redaction_policy", "extractor_version", "current", "fate", "risks"];
    "document_archive", RowId::Document(2, 3), ["org_id", "patient_id", "document_id", "revision", "content_sealed"];
    "legal_hold", RowId::Column(2), ["org_id", "patient_id", "id", "document_id", "reference_sealed", "set_by", "set_at",
        "lifted_by", "lifted_at"];
    "passage", RowId::Open, ["org_id", "patient_id", "id", "document_id", "revision", "ordinal", "start_offset",
        "end_offset", "text_hash", "terms"];
    "embedding", RowId::Open, ["org_id", "patient_id", "generation", "passage_id", "dimension", "vector"];
    "extracted_findings", RowId::Column(2), ["org_id", "patient_id", "id", "source_id", "revision", "live", "group_hash",
        "attribute_hash", "entity_type", "kind", "class", "set_by", "document_type", "source_type", "epistemic", "trust",
        "ending", "blanket", "negated", "uncertain", "temporality", "experiencer", "extraction_confidence",
        "initial_confidence", "confidence_basis", "is_proxy", "asserted_at", "valid_from", "expires_at",
        "ends_at", "text_hash", "payload_sealed", "evidence_sealed", "evidence_start", "evidence_end", "extractor_version", "tombstone_of"];
    "memory", RowId::Column(2), ["org_id", "patient_id", "id", "group_hash", "attribute_hash", "kind", "class",
        "entity_type", "sensitivity", "state", "contested", "ungrounded", "content_sealed", "finding_id", "document_id",
        "revision", "evidence_sealed", "evidence_start", "evidence_end", "file_sealed", "source_type", "epistemic",
        "source_entity_sealed", "is_proxy", "trust", "set_by", "negated", "experiencer", "extraction_confidence",
        "initial_confidence", "confidence_basis", "confidence", "fade_level", "times_reinforced", "verification_count",
        "last_verified", "is_protected", "cycle", "valid_from", "valid_to", "last_confirmed_at", "reconfirm_due_at",
        "expires_at", "ends_at", "state_at", "supersedes", "superseded_by", "terms", "embedding_generation", "redaction_policy",
        "schema_version"];
    "legacy_record", RowId::Column(2), ["org_id", "patient_id", "id", "format", "ordinal", "record_hash", "record_sealed"];
    "confidence_course", RowId::Column(1), ["org_id", "patient_id", "input_id", "course_sealed", "alert", "alerted_at", "as_of"];
    "cohort_pattern", RowId::Open, ["org_id", "month", "dimension", "value", "patients"];
    "summary", RowId::Open, ["org_id", "patient_id", "id", "stretch", "from_at", "until_at", "facts", "input_id"];
    "memory_link", RowId::Open, ["org_id", "patient_id", "relation", "from_kind", "from_id", "to_kind", "to_id"];
    "memory_event", RowId::Open, ["org_id", "patient_id", "id", "memory_id", "derived", "at", "action", "source",
        "old_confidence", "new_confidence", "evidence_kind", "evidence_id"];
    "contradiction", RowId::Open, ["org_id", "patient_id", "id", "group_hash", "kept_id", "claim_id", "type", "state",
        "found_at"];
    "conditions", RowId::Column(2), ["org_id", "patient_id", "memory_id", "name_sealed", "code_sealed", "status",
        "experiencer", "trust", "set_by", "since"];
    "allergies", RowId::Column(2), ["org_id", "patient_id", "memory_id", "substance_sealed", "reaction_sealed", "status",
        "trust", "set_by", "since"];
    "medications", RowId::Column(2), ["org_id", "patient_id", "memory_id", "name_sealed", "dose_sealed", "route_sealed",
        "frequency_sealed", "status", "trust", "set_by", "since", "until"];
    "symptom_states", RowId::Column(2), ["org_id", "patient_id", "memory_id", "name_sealed", "severity", "status",
        "trust", "set_by", "onset", "last_confirmed_at", "expires_at"];
    "appointments", RowId::Column(2), ["org_id", "patient_id", "memory_id", "title_sealed", "status", "at", "set_by"];
    "health_signals", RowId::Column(2), ["org_id", "patient_id", "memory_id", "metric_hash", "reading_sealed", "status",
        "synced_at"];
    "conversation_preferences", RowId::Hash(2), ["org_id", "patient_id", "key_hash", "key_sealed", "value_sealed",
        "source", "confidence", "stated_at", "stated_by"];
    "consent", RowId::Column(2), ["org_id", "patient_id", "id", "scope_hash", "scope_sealed", "provision", "from_at",
        "until_at", "stated_at", "recorded_by", "reason_sealed"];
    "action_audit", RowId::Open, ["org_id", "patient_id", "id", "actor", "role", "purpose", "reason", "action", "subject_id",
        "outcome"];
    "risk_flag", RowId::Column(2), ["org_id", "patient_id", "id", "document_id", "revision", "class", "denied",
        "experiencer", "heard_by", "probability", "level", "temporality", "detail_sealed", "evidence_sealed", "evidence_start",
        "evidence_end", "file_sealed", "at"];
    "outbox", RowId::Column(2), ["org_id", "patient_id", "id", "event_type", "body_sealed"];
}

static PATIENTS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT DISTINCT patient_id FROM patient_profile WHERE org_id = $1"));

/// The digest of one table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TableDigest {
    pub rows: u64,
    /// SHA-256 over the sorted hashes of its rows, in hexadecimal.
    pub(crate) sha256: String,
}

/// What a store holds. Comparable between stores that share their keys: hashes and ids of patients' words are keyed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Digest {
    pub tables: BTreeMap<&'static str, TableDigest>,
}

impl Digest {
    /// The same without some tables: what is announced (`outbox`) tells by which steps memory came to be, and depends
    /// on the order in which messages came, as memory must not.
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

impl Store {
    /// The digest of these organisations, or of all. Reads every row of theirs: for proofs, not for every day.
    ///
    /// # Errors
    /// When the store cannot be read, or a cell does not open with its patient's key.
    pub async fn digest(&self, orgs: Option<&[OrgId]>) -> Result<Digest, StoreError> {
        let orgs = match orgs {
            Some(orgs) => orgs.to_vec(),
            None => self.every_organization().await?,
        };
        let mut rows: BTreeMap<&'static str, Vec<[u8; 32]>> = TABLES.iter().map(|t| (t.name, Vec::new())).collect();
        for org in orgs {
            let keys = self.keys_of_all(org).await?;
            let mut tx = self.db.read(Access::Organization(org)).await?;
            for table in TABLES.iter() {
                for row in tx.fetch_all(&table.sql, vec![org.0.into()]).await? {
                    rows.entry(table.name).or_default().push(hash(table, &row, &keys)?);
                }
            }
        }
        let tables = rows.into_iter().map(|(name, rows)| (name, summed(rows))).collect();
        Ok(Digest { tables })
    }

    async fn keys_of_all(&self, org: OrgId) -> Result<HashMap<Uuid, Arc<PatientKeys>>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&PATIENTS, vec![Arg::from(org.0)]).await?;
        let scopes = rows.iter().map(|row| Scope::new(org, PatientId(row.uuid(0)?)).map_err(|_| StoreError::Shape));
        let keys = self.keys.known(&scopes.collect::<Result<Vec<_>, StoreError>>()?).await?;
        Ok(keys.into_iter().map(|(scope, keys)| (scope.patient().0, keys)).collect())
    }
}

fn summed(mut rows: Vec<[u8; 32]>) -> TableDigest {
    rows.sort_unstable();
    TableDigest { rows: rows.len() as u64, sha256: hex::encode(digest(&SHA256, rows.as_flattened())) }
}

/// A row as its cells, each with its length, so that no two rows read alike.
fn hash(table: &Table, row: &Row, keys: &HashMap<Uuid, Arc<PatientKeys>>) -> Result<[u8; 32], StoreError> {
    let mut context = Context::new(&SHA256);
    for (at, column) in table.columns.iter().enumerate() {
        let bytes = match (column.strip_suffix("_sealed"), &row.0[at]) {
            (Some(column), Cell::Blob(sealed)) => opened(table, row, column, sealed, keys)?,
            (_, cell) => plain(cell),
        };
        context.update(&(bytes.len() as u64).to_be_bytes());
        context.update(&bytes);
    }
    let mut out = [0u8; 32];
    out.copy_from_slice(context.finish().as_ref());
    Ok(out)
}

/// A cell without its nonce. Of a patient whose key is destroyed nobody can say more than that there is something.
fn opened(
    table: &Table,
    row: &Row,
    column: &'static str,
    sealed: &[u8],
    keys: &HashMap<Uuid, Arc<PatientKeys>>,
) -> Result<Vec<u8>, StoreError> {
    let Some(keys) = keys.get(&row.uuid(1)?) else { return Ok(b"destroyed".to_vec()) };
    let id = match table.row {
        RowId::Column(at) => row.uuid(at)?,
        RowId::Document(id, revision) => {
            document_row(row.uuid(id)?, u32::try_from(row.i64(revision)?).map_err(|_| StoreError::Shape)?)
        }
        RowId::Hash(at) => hash_row(&row.bytes(at)?),
        RowId::Open => return Err(StoreError::Shape),
    };
    if sealed.is_empty() {
        return Ok(b"purged".to_vec());
    }
    let mut plain = b"opened ".to_vec();
    plain.extend(keys.open(SealedCell { table: table.name, row: id, column }, sealed)?);
    Ok(plain)
}

/// A value with its type.
fn plain(cell: &Cell) -> Vec<u8> {
    let (kind, value) = match cell {
        Cell::Null => (0u8, Vec::new()),
        Cell::I64(v) => (1, v.to_be_bytes().to_vec()),
        Cell::F64(v) => (2, v.to_bits().to_be_bytes().to_vec()),
        Cell::Text(v) => (3, v.as_bytes().to_vec()),
        Cell::Blob(v) => (4, v.clone()),
    };
    [&[kind], value.as_slice()].concat()
}

pub fn statements() -> Vec<&'static Sql> {
    let mut all: Vec<&'static Sql> = TABLES.iter().map(|table| &table.sql).collect();
    all.push(&PATIENTS);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use anamnesis_sql::{Database, Location};

    /// Wall clock, and its hash; what is sealed under the platform's key; the publisher's own state.
    const NOT_MEMORY: &[&str] = &[
        "created_at",
        "updated_at",
        "recorded_at",
        "retired_at",
        "patient_profile.facts_redacted_by",
        "memory.fold_hash",
        "memory.lines",
        // Derived, and made or not by how many findings came at once.
        "fold_checkpoint.org_id",
        "fold_checkpoint.patient_id",
        "fold_checkpoint.group_hash",
        "fold_checkpoint.last_at",
        "fold_checkpoint.state_sealed",
        "documents.reckoned",
        "documents.retention_due_at",
        "documents.fate_at",
        "document_archive.archived_at",
        "summary.made_at",
        "passage.waits",
        // By which steps vectors came to be; the vectors themselves are digested.
        "passage.behind",
        "organization.vector_generation",
        "organization.vector_model",
        "organization.building_generation",
        "organization.building_model",
        "organization.building_left",
        "organization.vectors_swapped_at",
        "organization.vectors_left",
        "memory.review_due_at",
        "job_mark.org_id",
        "job_mark.job",
        "job_mark.mark",
        "quarantine.body_sealed",
        "quarantine.attributes_sealed",
        "quarantine.noticed_at",
        // Whose key seals it depends on who was known when it came; its term, on the clock.
        "quarantine.key_org_id",
        "quarantine.key_patient_id",
        "quarantine.expired_at",
        "outbox.claimed_until",
        "outbox.attempts",
        "outbox.published_at",
        "outbox.taken",
        "outbox.ended",
        // What a person was answered is a copy of what is digested, as of an instant.
        "rights_answer.org_id",
        "rights_answer.patient_id",
        "rights_answer.id",
        "rights_answer.kind",
        "rights_answer.asked_by",
        "rights_answer.answered_at",
        "rights_answer.body_sealed",
        // Receipts tell what went, and when.
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
        // When an act was written down, and what shows that nobody changed it since.
        // Covers what is digested.
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
        let sql = Sql::new(
            "SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' \
             AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'org_id') AND t.name <> 'job_run'",
        );
        let digested: BTreeSet<(String, String)> =
            TABLES.iter().flat_map(|t| t.columns.iter().map(|c| (t.name.to_owned(), (*c).to_owned()))).collect();
        let rows = tx.fetch_all(&sql, Vec::new()).await.unwrap();
        assert!(rows.len() > 200, "the schema is read");
        for row in rows {
            let (table, column) = (row.text(0).unwrap(), row.text(1).unwrap());
            let left_out = NOT_MEMORY.iter().any(|n| *n == column || *n == format!("{table}.{column}"));
            assert_ne!(left_out, digested.contains(&(table.clone(), column.clone())), "{table}.{column}");
        }
    }

    #[test]
    fn rows_count_in_any_order_and_each_as_often_as_it_stands() {
        let (a, b) = ([1; 32], [2; 32]);
        assert_eq!(summed(vec![a, b]), summed(vec![b, a]));
        assert_ne!(summed(vec![a, b]), summed(vec![a, b, b]));
        assert_ne!(plain(&Cell::Text("1".to_owned())), plain(&Cell::I64(1)));
    }
}
