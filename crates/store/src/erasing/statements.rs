//! What an erasure asks and writes, and every table that it empties.

use std::sync::LazyLock;

use anamnesis_sql::Sql;

macro_rules! completed {
    () => {
        "anamnesis.erasure.completed.v1"
    };
}

/// The type of the event that says that an erasure is complete.
pub(crate) const COMPLETED: &str = completed!();
/// A table with rows of patients: how they are deleted and counted.
pub(super) struct Holding {
    pub(super) table: &'static str,
    pub(super) delete: Sql,
    pub(super) count: Sql,
}

macro_rules! holdings {
    ($($table:literal),+ $(,)?) => {
        /// Every table with rows of a patient, children first; but for the receipts, and for the trail of what people did,
        /// which holds ids and codes alone. Events that tell of an erasure hold no more than it does.
        pub(super) static HOLDINGS: LazyLock<Vec<Holding>> = LazyLock::new(|| {
            let outbox = Holding {
                table: "outbox",
                delete: Sql::new(concat!("DELETE FROM outbox WHERE org_id = $1 AND patient_id = $2 AND event_type <> '", completed!(), "'")),
                count: Sql::new(concat!("SELECT count(*) FROM outbox WHERE org_id = $1 AND patient_id = $2 AND event_type <> '", completed!(), "'")),
            };
            // Of a quarantined message ids and codes stay.
            let aside = Holding {
                table: "quarantine",
                delete: Sql::new(
                    "UPDATE quarantine SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL \
                     WHERE key_org_id = $1 AND key_patient_id = $2 AND body_sealed IS NOT NULL",
                ),
                count: Sql::new(
                    "SELECT count(*) FROM quarantine WHERE key_org_id = $1 AND key_patient_id = $2 AND body_sealed IS NOT NULL",
                ),
            };
            vec![outbox, aside, $(Holding {
                table: $table,
                delete: Sql::new(concat!("DELETE FROM ", $table, " WHERE org_id = $1 AND patient_id = $2")),
                count: Sql::new(concat!("SELECT count(*) FROM ", $table, " WHERE org_id = $1 AND patient_id = $2")),
            }),+]
        });
    };
}

holdings!(
    "rights_answer",
    "fold_checkpoint",
    "inbox",
    "embedding",
    "passage",
    "risk_flag",
    "document_archive",
    "conditions",
    "allergies",
    "medications",
    "symptom_states",
    "appointments",
    "health_signals",
    "contradiction",
    "memory_link",
    "memory_event",
    "memory",
    "extracted_findings",
    "summary",
    "legacy_record",
    "confidence_course",
    "conversation_preferences",
    "profile_statement",
    "ephemeral_mode",
    "consent",
    "documents",
    "legal_hold",
    "patient_profile",
);

pub(super) static BEGIN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO erasure (org_id, patient_id, id, what, subject_id, requested_by, requested_at, mac, said_in, created_at, \
         updated_at) SELECT org_id, $2, $3, $4, $5, $6, $7, $8, $9, $7, $7 FROM organization WHERE org_id = $1 \
         ON CONFLICT (org_id, patient_id, id) DO NOTHING",
    )
});
pub(super) static END: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE erasure SET done_at = $4, counts = $5, updated_at = $4 WHERE org_id = $1 AND patient_id = $2 AND id = $3 \
         AND done_at IS NULL",
    )
});
pub(super) static FILES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE erasure SET files_at = $4, updated_at = $4 WHERE org_id = $1 AND patient_id = $2 AND id = $3 \
         AND files_at IS NULL",
    )
});
pub(super) static RECEIPTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, patient_id, id, what, subject_id, requested_by, requested_at, done_at, files_at, counts, mac, said_in FROM erasure \
         WHERE org_id = $1 AND patient_id = $2 ORDER BY requested_at, id",
    )
});
pub(super) static ALL: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, patient_id, id, what, subject_id, requested_by, requested_at, done_at, files_at, counts, mac, said_in FROM erasure \
         WHERE org_id = $1 ORDER BY requested_at, id",
    )
});
pub(super) static OPEN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, patient_id, id, what, subject_id, requested_by, requested_at, done_at, files_at, counts, mac, said_in FROM erasure \
         WHERE org_id = $1 AND (done_at IS NULL OR files_at IS NULL) ORDER BY patient_id, id LIMIT 1000",
    )
});
pub(super) static HELD: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT document_id FROM legal_hold WHERE org_id = $1 AND patient_id = $2 AND lifted_at IS NULL")
});
// The memory is one row, looked up once: joined to the findings of a patient with very many, a server without statistics compares each
// with each (half a minute for 5,000).
pub(super) static DOCUMENT_OF: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT DISTINCT source_id FROM extracted_findings WHERE org_id = $1 AND patient_id = $2 \
         AND group_hash = (SELECT group_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3) \
         AND attribute_hash = (SELECT attribute_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3)",
    )
});
pub(crate) static EVENT: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO outbox (org_id, id, patient_id, event_type, body_sealed, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (org_id, id) DO NOTHING",
    )
});
pub(super) static ASIDE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, body_sealed, attributes_sealed, key_org_id, key_patient_id FROM quarantine WHERE (org_id = $1 OR org_id IS NULL) AND id > $2 \
         AND body_sealed IS NOT NULL ORDER BY id LIMIT $3",
    )
});
pub(super) static DROP_ASIDE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE quarantine SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL, updated_at = $2 \
         WHERE id IN {uuids $1}",
    )
});
pub(super) static GONE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, patient_id, id, what, subject_id, requested_by, requested_at, done_at, files_at, counts, mac, said_in FROM erasure \
         WHERE org_id = $1 AND patient_id IN {uuids $2} AND what = 'patient'",
    )
});
pub(super) static ERASED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, patient_id, id, what, subject_id, requested_by, requested_at, done_at, files_at, counts, mac, said_in FROM erasure \
         WHERE org_id = $1 AND patient_id IN {uuids $2}",
    )
});

pub(super) static ACCOUNT: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT id FROM summary WHERE org_id = $1 AND patient_id = $2 AND id = $3"));

/// A statement that is made when it is first asked for.
pub(super) type LazySql = &'static LazyLock<Sql>;

macro_rules! counts {
    ($($list:ident: $($name:ident($table:literal, $column:literal)),+;)+) => {
        $($(static $name: LazyLock<Sql> = LazyLock::new(|| Sql::new(concat!(
            "SELECT count(*) FROM ", $table, " WHERE org_id = $1 AND patient_id = $2 AND ", $column, " = $3"
        )));)+
        pub(super) static $list: [(&str, LazySql); [$($table),+].len()] = [$(($table, &$name)),+];)+

        fn counting() -> Vec<&'static Sql> {
            vec![$($(&*$name),+),+]
        }
    };
}
counts! {
    OF_DOCUMENT: DOCUMENT_ROWS("documents", "document_id"), DOCUMENT_PASSAGES("passage", "document_id"),
        DOCUMENT_FINDINGS("extracted_findings", "source_id"), DOCUMENT_RISKS("risk_flag", "document_id"),
        DOCUMENT_ARCHIVE("document_archive", "document_id"), DOCUMENT_MEMORIES("memory", "document_id");
    OF_MEMORY: MEMORY_ROWS("memory", "id"), MEMORY_LINKS("memory_link", "from_id"),
        MEMORY_EVENTS("memory_event", "memory_id");
}

pub fn statements() -> Vec<&'static Sql> {
    let own = [
        &*BEGIN,
        &*END,
        &*FILES,
        &*RECEIPTS,
        &*ALL,
        &*OPEN,
        &*HELD,
        &*DOCUMENT_OF,
        &*ACCOUNT,
        &*EVENT,
        &*ASIDE,
        &*DROP_ASIDE,
        &*GONE,
        &*ERASED,
    ];
    own.into_iter().chain(counting()).chain(HOLDINGS.iter().flat_map(|held| [&held.delete, &held.count])).collect()
}
