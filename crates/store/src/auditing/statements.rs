//! Statements of the audit trail.

use std::sync::LazyLock;

use anamnesis_sql::{Bulk, ColumnType, Sql};

/// The columns of an entry in the order in which they are read.
macro_rules! entries {
    ($rest:literal) => {
        LazyLock::new(|| {
            Sql::new(concat!(
                "SELECT org_id, id, patient_id, at, actor, role, purpose, reason, action, subject_id, outcome, salt, leaf, erased_by, \
                 block FROM action_audit WHERE org_id = $1 ",
                $rest
            ))
        })
    };
}

/// The columns of a block in the order in which they are read.
macro_rules! blocks {
    ($rest:literal) => {
        LazyLock::new(|| {
            Sql::new(concat!(
                "SELECT number, entries, sealed_at, leaves, previous, hash, purged_before FROM audit_block WHERE org_id = $1 ",
                $rest
            ))
        })
    };
}

pub(super) static ENTRIES: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("at", ColumnType::Int),
        ("actor", ColumnType::Text),
        ("role", ColumnType::Text),
        ("purpose", ColumnType::Text),
        ("reason", ColumnType::Text),
        ("action", ColumnType::Text),
        ("subject_id", ColumnType::Uuid),
        ("outcome", ColumnType::Text),
        ("salt", ColumnType::Bytes),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("action_audit", &columns, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});
pub(super) static OF_PATIENT: LazyLock<Sql> = entries!(
    "AND patient_id = $2 AND ($3 = '' OR action = $3) AND ($4 = '' OR actor = $4 OR substr(actor, 1, length($4) + 5) = $4 || ' via ') AND at >= $5 AND at < $6 \
     ORDER BY at DESC, id DESC LIMIT $7"
);
// What was done since an instant was sealed since: older blocks are not read.
pub(super) static LIST: LazyLock<Sql> = entries!(
    "AND ($2 = '' OR action = $2) AND ($3 = '' OR actor = $3 OR substr(actor, 1, length($3) + 5) = $3 || ' via ') AND at >= $4 AND at < $5 AND (block IS NULL OR block >= \
       (SELECT coalesce(min(b.number), 0) FROM audit_block AS b WHERE b.org_id = $1 AND b.sealed_at >= $4)) \
     ORDER BY at DESC, id DESC LIMIT $6"
);
pub(super) static IS_THERE: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT action FROM action_audit WHERE org_id = $1 AND patient_id = $2 AND id = $3"));
pub(super) static THOSE_THERE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT id, at FROM action_audit WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3}")
});
pub(super) static UNSEALED: LazyLock<Sql> = entries!("AND block IS NULL ORDER BY id LIMIT $2");
pub(super) static BY_BLOCK: LazyLock<Sql> = entries!("AND block = $2 ORDER BY id");
pub(super) static OUTSIDE: LazyLock<Sql> = entries!(
    "AND id > $2 AND (block IS NULL OR NOT EXISTS (SELECT 1 FROM audit_block AS b WHERE b.org_id = $1 \
       AND b.number = action_audit.block)) ORDER BY id LIMIT $3"
);
pub(super) static LAST: LazyLock<Sql> = blocks!("ORDER BY number DESC LIMIT 1");
pub(super) static FIRST: LazyLock<Sql> = blocks!("ORDER BY number LIMIT 1");
pub(super) static BLOCKS: LazyLock<Sql> = blocks!("AND number > $2 ORDER BY number LIMIT 500");
pub(super) static HEADS: LazyLock<Sql> = blocks!("AND sealed_at <= $2 ORDER BY number DESC LIMIT 1");
pub(super) static BLOCK: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO audit_block (org_id, number, entries, sealed_at, leaves, previous, hash) VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (org_id, number) DO NOTHING",
    )
});
pub(super) static SEAL: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE action_audit SET block = $3 WHERE org_id = $1 AND id IN {uuids $2} AND block IS NULL")
});
pub(super) static ERASE: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE action_audit SET patient_id = r.nobody, actor = '', role = NULL, purpose = NULL, reason = NULL, \
         subject_id = NULL, salt = r.salt, leaf = r.leaf, erased_by = r.erased_by, updated_at = r.now FROM {rows} AS r \
         WHERE action_audit.org_id = r.org_id AND action_audit.patient_id = r.patient_id AND action_audit.id = r.id",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("nobody", ColumnType::Uuid),
            ("salt", ColumnType::Bytes),
            ("leaf", ColumnType::Bytes),
            ("erased_by", ColumnType::Uuid),
            ("now", ColumnType::Int),
        ],
    )
});
pub(super) static PURGEABLE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT number FROM audit_block WHERE org_id = $1 AND purged_before IS NULL AND sealed_at < $2 AND number > $3 \
         ORDER BY number LIMIT $4",
    )
});
pub(super) static PURGED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE audit_block SET purged_before = $3 WHERE org_id = $1 AND number IN {ints $2} AND purged_before IS NULL",
    )
});
pub(super) static PURGE: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM action_audit WHERE org_id = $1 AND block IN {ints $2}"));

pub fn statements() -> Vec<&'static Sql> {
    let own = [
        &*OF_PATIENT,
        &LIST,
        &IS_THERE,
        &THOSE_THERE,
        &UNSEALED,
        &BY_BLOCK,
        &OUTSIDE,
        &LAST,
        &FIRST,
        &BLOCKS,
        &HEADS,
        &BLOCK,
        &SEAL,
        &PURGEABLE,
        &PURGED,
        &PURGE,
    ];
    [own.as_slice(), &[ENTRIES.sql(), ERASE.sql()], &super::acts::statements(), &super::runs::statements()].concat()
}
