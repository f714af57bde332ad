//! Rows of contradictions.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::super::GroupKey;
use crate::statements::write::memories::conflicts as sql;
use anamnesis_core::contradiction::ContradictionType;
use anamnesis_core::event::CLINICAL_CONFLICT;
use anamnesis_core::projection::Conflict;
use anamnesis_sql::Arg;

pub(super) fn conflict_type(conflict: &Conflict) -> &'static str {
    if conflict.negation { ContradictionType::DirectNegation.code() } else { CLINICAL_CONFLICT }
}

pub(super) fn conflict_row(group: &GroupKey, id: Uuid, conflict: &Conflict, now: DateTime<Utc>) -> Vec<Arg> {
    let row = sql::insert::Row {
        org_id: group.0.org().0.into(),
        patient_id: group.0.patient().0.into(),
        id: id.into(),
        group_hash: group.1.into(),
        kept_id: conflict.kept.0.into(),
        claim_id: conflict.claim.0.into(),
        r#type: conflict_type(conflict).into(),
        state: if conflict.answered { "answered" } else { "open" }.into(),
        found_at: conflict.at.into(),
        created_at: now.into(),
        updated_at: now.into(),
    };
    row.into()
}
