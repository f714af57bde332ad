//! Rows of contradictions.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::super::Group;
use anamnesis_core::contradiction::ContradictionType;
use anamnesis_core::event::CLINICAL_CONFLICT;
use anamnesis_core::fold::Conflict;
use anamnesis_sql::{Arg, Bulk, ColumnType};

pub(super) static CONFLICT: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("group_hash", ColumnType::Bytes),
        ("kept_id", ColumnType::Uuid),
        ("claim_id", ColumnType::Uuid),
        ("type", ColumnType::Text),
        ("state", ColumnType::Text),
        ("found_at", ColumnType::Int),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("contradiction", &columns, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});

pub(super) fn conflict_type(conflict: &Conflict) -> &'static str {
    if conflict.negation { ContradictionType::DirectNegation.code() } else { CLINICAL_CONFLICT }
}

pub(super) fn conflict_row(group: &Group, id: Uuid, conflict: &Conflict, now: DateTime<Utc>) -> Vec<Arg> {
    vec![
        group.0.org().0.into(),
        group.0.patient().0.into(),
        id.into(),
        group.1.into(),
        conflict.kept.0.into(),
        conflict.claim.0.into(),
        conflict_type(conflict).into(),
        if conflict.answered { "answered" } else { "open" }.into(),
        conflict.at.into(),
        now.into(),
        now.into(),
    ]
}
