//! Compares memories and clinical rows with the log: the current projection against the stored rows.

use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::GroupKey;
use super::clinical::{CLEAR, clinical_clear};
use super::maintenance::MaintenanceWriter;
use super::memories::LoadedGroup;
use super::memories::derived::stored_columns;
use crate::statements::write::projections as sql;
use crate::{StoreError, covered};
use anamnesis_core::ids::PatientId;
use anamnesis_core::memory::State;
use anamnesis_core::projection::{Assertion, ProjectedMemory};
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Row, Sql, SqlValue, Transaction};

/// The unsealed columns of clinical rows: tables in the order of `clinical_clear`, columns after patient and memory.
fn clinical_tables() -> [&'static Sql; 6] {
    [
        &sql::CONDITIONS,
        &sql::ALLERGIES,
        &sql::MEDICATIONS,
        &sql::SYMPTOM_STATES,
        &sql::APPOINTMENTS,
        &sql::HEALTH_SIGNALS,
    ]
}

/// (patient, memory).
type MemoryKey = (Uuid, Uuid);

/// A memory as it is in the store, as far as the fold decides it.
struct StoredProjection {
    group: Vec<u8>,
    has_words: bool,
    /// A row of `standing`.
    cells: Vec<SqlValue>,
}

impl StoredProjection {
    fn from_row(row: Row) -> Result<Self, StoreError> {
        let group = row.opt_blob(sql::stored_memories::GROUP_HASH)?.unwrap_or_default();
        let has_words = !row.bool(sql::stored_memories::LACKS_WORDS)?;
        Ok(Self { group, has_words, cells: row.0 })
    }

    fn has(&self, place: usize, expected: Arg) -> bool {
        self.cells.get(place).is_some_and(|cell| covered::content_of(&[expected]) == covered::content(from_ref(cell)))
    }

    /// Whether the row equals the projection. Changes by time since then belong to the jobs (`expiry`) and are no
    /// difference.
    fn is(&self, folded: &ProjectedMemory, opening: &Assertion, is_before_time: bool) -> bool {
        let of_time = [sql::stored_memories::STATE, sql::stored_memories::STATE_AT, sql::stored_memories::VALID_TO];
        let same = stored_columns(folded, opening)
            .into_iter()
            .all(|(place, expected)| (is_before_time && of_time.contains(&place)) || self.has(place, expected));
        // Only inactive memories may have lost their words.
        same && (self.has_words || matches!(folded.state, State::Inactive | State::Expired))
    }

    fn is_active(&self) -> bool {
        self.has(sql::stored_memories::STATE, State::Active.code().into())
    }
}

/// Differences of some patients from their log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectionDifferences {
    /// Memories that differ from their projection, are missing, or that no fold makes.
    pub memories: BTreeSet<MemoryKey>,
    /// Memories whose clinical row is missing, differs, or should not be.
    pub clinical: BTreeSet<MemoryKey>,
    /// Memories without a single finding in the log. Nothing can be derived of them: a person must look.
    pub unfounded: u64,
    groups: BTreeSet<GroupKey>,
}

impl ProjectionDifferences {
    /// Adds the differences of other patients.
    pub fn merge(&mut self, other: Self) {
        self.memories.extend(other.memories);
        self.clinical.extend(other.clinical);
        self.unfounded += other.unfounded;
        self.groups.extend(other.groups);
    }

    pub fn patients(&self) -> impl Iterator<Item = PatientId> + '_ {
        self.memories.iter().chain(&self.clinical).map(|(patient, _)| PatientId(*patient))
    }

    pub fn is_repairable(&self) -> bool {
        !self.memories.is_empty() || !self.clinical.is_empty()
    }
}

impl MaintenanceWriter<'_> {
    /// Folds the log of patients whose keys are given, and compares. What time did to a memory before `moved_until` was written by the
    /// job `expiry`.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn differences(
        &self,
        tx: &mut Transaction,
        moved_until: Option<DateTime<Utc>>,
    ) -> Result<ProjectionDifferences, StoreError> {
        let scopes: BTreeMap<Uuid, Scope> = self.keys.keys().map(|scope| (scope.patient().0, *scope)).collect();
        let of = || vec![self.org.0.into(), Arg::Uuids(scopes.keys().copied().collect())];
        let mut writer = self.writer(tx);
        let mut groups: BTreeSet<GroupKey> = BTreeSet::new();
        for row in writer.tx.fetch_all(&sql::GROUPS, of()).await? {
            if let Some(scope) = scopes.get(&row.uuid(sql::groups::PATIENT_ID)?) {
                groups.insert((*scope, row.bytes(sql::groups::GROUP_HASH)?));
            }
        }
        let mut loaded = writer.load(&groups).await?;
        let foldings = writer.folded(&mut loaded).await?;
        let mut standing: BTreeMap<MemoryKey, StoredProjection> = BTreeMap::new();
        for row in writer.tx.fetch_all(&sql::STORED_MEMORIES, of()).await? {
            let key = (row.uuid(sql::stored_memories::PATIENT_ID)?, row.uuid(sql::stored_memories::ID)?);
            standing.insert(key, StoredProjection::from_row(row)?);
        }
        let mut clinical: BTreeMap<MemoryKey, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
        for (place, table) in clinical_tables().into_iter().enumerate() {
            for row in writer.tx.fetch_all(table, of()).await? {
                // The key has the same position in all tables; the columns after it are treated alike.
                let key = (row.uuid(sql::conditions::PATIENT_ID)?, row.uuid(sql::conditions::MEMORY_ID)?);
                let clear = covered::content(row.0.get(sql::conditions::MEMORY_ID + 1..).unwrap_or_default());
                clinical.entry(key).or_default().push((place, clear));
            }
        }
        let mut found = ProjectionDifferences::default();
        for ((group, loaded), folding) in loaded.iter().zip(&foldings) {
            for folded in &folding.outcome.memories {
                let key = (group.0.patient().0, folded.id.0);
                let rows = clinical.remove(&key).unwrap_or_default();
                found.compare((group, loaded, folded), standing.remove(&key).as_ref(), &rows, moved_until);
            }
        }
        found.left_over(standing, clinical, &groups);
        Ok(found)
    }

    /// Writes the projection of the log. No person stated anything new, so no event announces it.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn fold_again(&self, tx: &mut Transaction, wrong: &ProjectionDifferences) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(wrong.patients().map(|patient| patient.0).collect()).await?;
        let all = wrong.memories.union(&wrong.clinical);
        let pairs = || Arg::Pairs(all.clone().map(|(patient, id)| (*patient, id.as_bytes().to_vec())).collect());
        writer.tx.execute(&sql::MARK_UNWRITTEN, vec![self.org.0.into(), pairs()]).await?;
        for clear in CLEAR.iter() {
            writer.tx.execute(clear, vec![self.org.0.into(), pairs()]).await?;
        }
        writer.touched.extend(wrong.groups.iter().copied());
        // A wrong row may have come from a checkpoint.
        writer.drop_checkpoints(&wrong.groups).await?;
        writer.fold().await
    }
}

impl ProjectionDifferences {
    fn compare(
        &mut self,
        (group, loaded, folded): (&GroupKey, &LoadedGroup, &ProjectedMemory),
        stored: Option<&StoredProjection>,
        clinical: &[(usize, Vec<u8>)],
        moved_until: Option<DateTime<Utc>>,
    ) {
        let key: MemoryKey = (group.0.patient().0, folded.id.0);
        let is_moved = moved_until.is_some_and(|until| folded.state_at <= until);
        let is_before_time = folded.state.is_of_time() && !is_moved && stored.is_some_and(StoredProjection::is_active);
        let state = if is_before_time { State::Active } else { folded.state };
        let opening = loaded.log.assertions.iter().find(|a| a.id == folded.opened_by);
        if !stored.zip(opening).is_some_and(|(stored, a)| stored.is(folded, a, is_before_time)) {
            self.memories.insert(key);
            self.groups.insert(*group);
        }
        // The end that time set is written only to the memory.
        let wanted = |valid_to| {
            let row = clinical_clear(loaded, &ProjectedMemory { valid_to, ..folded.clone() }, state);
            row.map_or_else(Vec::new, |(place, clear)| vec![(place, covered::content_of(&clear))])
        };
        let is_own = clinical == wanted(folded.valid_to) || folded.state.is_of_time() && clinical == wanted(None);
        if !is_own {
            self.clinical.insert(key);
            self.groups.insert(*group);
        }
    }

    /// Memories that no fold made, and clinical rows of none.
    fn left_over(
        &mut self,
        standing: BTreeMap<MemoryKey, StoredProjection>,
        clinical: BTreeMap<MemoryKey, Vec<(usize, Vec<u8>)>>,
        groups: &BTreeSet<GroupKey>,
    ) {
        let mut unfounded: BTreeSet<MemoryKey> = BTreeSet::new();
        for (key, StoredProjection { group: hash, .. }) in standing {
            let own = groups.iter().find(|(scope, group)| scope.patient().0 == key.0 && group.as_slice() == hash);
            match own {
                Some(group) => {
                    self.memories.insert(key);
                    self.groups.insert(*group);
                }
                None => {
                    unfounded.insert(key);
                }
            }
        }
        self.unfounded += unfounded.len() as u64;
        self.clinical.extend(clinical.into_keys().filter(|key| !unfounded.contains(key)));
    }
}
