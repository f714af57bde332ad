//! Memories whose retention term is over: forgotten ones, and expired inferences.

use chrono::{DateTime, Utc};

use super::due_transitions::TransitionKey;
use crate::PageRequest;
use crate::statements::purge as sql;
use anamnesis_core::ids::{MemoryId, OrgId, PatientId};
use anamnesis_core::memory::State;
use anamnesis_sql::{DbError, Sql, Transaction};

/// A memory that still has its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurgeableMemory {
    pub place: TransitionKey,
    pub patient: PatientId,
    pub memory: MemoryId,
    /// `expired` or `inactive`.
    pub state: State,
}

/// Memories that have been in this state since `until` or longer and still have their words, after `after`, at most
/// `limit`. Memories under a legal hold are left out.
///
/// # Errors
/// Of the database.
pub async fn purgeable(
    tx: &mut Transaction,
    org: OrgId,
    state: State,
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<TransitionKey>,
) -> Result<Vec<PurgeableMemory>, DbError> {
    let sql: &Sql = if state == State::Inactive { &sql::FORGOTTEN } else { &sql::EXPIRED };
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), after.2.into(), limit.into()];
    let mut found = Vec::new();
    for row in tx.fetch_all(sql, args).await? {
        let (patient, id) = (row.uuid(sql::expired::PATIENT_ID)?, row.uuid(sql::expired::ID)?);
        let place = TransitionKey(row.i64(sql::expired::STATE_AT)?, patient, id);
        found.push(PurgeableMemory { place, patient: PatientId(patient), memory: MemoryId(id), state });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    /// The column of SQLite's query plan that describes a step.
    const DETAIL: usize = 3;

    #[tokio::test]
    async fn memories_past_their_term_are_found_by_index_in_order() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        for sql in [&*sql::EXPIRED, &*sql::FORGOTTEN] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let nil = Uuid::nil();
            let args = vec![nil.into(), 0i64.into(), 0i64.into(), nil.into(), nil.into(), 1i64.into()];
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(DETAIL).unwrap()).collect();
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
            assert!(plan[0].starts_with("SEARCH memory USING INDEX memory_purge (org_id=? AND state=?"), "{plan:?}");
        }
    }
}
