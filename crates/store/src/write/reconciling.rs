//! Memories and clinical rows, compared with the log that they are folded from: what the fold says today, and what the rows hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Group;
use super::clinical::{CLEAR, clinical_clear};
use super::memories::Loaded;
use super::memories::derived::{DERIVED, derived};
use super::nightly::Shift;
use crate::{StoreError, covered};
use anamnesis_core::fold::{Assertion, Folded};
use anamnesis_core::ids::PatientId;
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Row, Sql, Transaction};

static GROUPS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT DISTINCT patient_id, group_hash FROM extracted_findings WHERE org_id = $1 AND patient_id IN {uuids $2}",
    )
});
static STANDING: LazyLock<Sql> = LazyLock::new(|| {
    let columns: Vec<&str> = DERIVED.iter().map(|(column, _)| *column).collect();
    let (select, of) =
        ("SELECT patient_id, id, group_hash, content_sealed IS NULL, ", " FROM memory WHERE org_id = $1 AND ");
    let sql = [select, &columns.join(", "), of, "patient_id IN {uuids $2} AND kind <> 'raw'"].concat();
    Sql::new(Box::leak(sql.into_boxed_str()))
});
/// What is clear of clinical rows, in the order of `clinical::CLEAR`.
macro_rules! clinical {
    ($columns:literal, $table:literal) => {
        Sql::new(concat!(
            "SELECT patient_id, memory_id, ",
            $columns,
            " FROM ",
            $table,
            " WHERE org_id = $1 AND patient_id IN {uuids $2}"
        ))
    };
}
static CLINICAL: LazyLock<[Sql; 6]> = LazyLock::new(|| {
    [
        clinical!("status, experiencer, trust, set_by, since", "conditions"),
        clinical!("status, trust, set_by, since", "allergies"),
        clinical!("status, trust, set_by, since, until", "medications"),
        clinical!("severity, status, trust, set_by, onset, last_confirmed_at, expires_at", "symptom_states"),
        clinical!("status, at, set_by", "appointments"),
        clinical!("status, synced_at", "health_signals"),
    ]
});
static UNTELL: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE memory SET fold_hash = NULL, finding_id = CASE WHEN content_sealed IS NULL AND state NOT IN ('inactive', 'expired') \
         THEN NULL ELSE finding_id END WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    [&*GROUPS, &*STANDING, &*UNTELL].into_iter().chain(CLINICAL.iter()).collect()
}

/// (patient, memory).
type Key = (Uuid, Uuid);

/// A memory as it is in the store, as far as the fold decides it.
struct Stored {
    group: Vec<u8>,
    has_words: bool,
    /// The columns of [`DERIVED`], as they are hashed.
    columns: Vec<Vec<u8>>,
}

impl Stored {
    fn of(row: &Row) -> Result<Self, StoreError> {
        let columns = row.0.get(4..).unwrap_or_default().iter();
        let columns = columns.map(|cell| covered::content(std::slice::from_ref(cell))).collect();
        Ok(Self { group: row.opt_blob(2)?.unwrap_or_default(), has_words: !row.bool(3)?, columns })
    }

    /// Whether it is what the fold says. What time did to a memory since it was written is the jobs' to write (`expiry`), and no
    /// difference.
    fn is(&self, folded: &Folded, opening: &Assertion, is_before_time: bool) -> bool {
        let expected = derived(folded, opening);
        let is_of_time = |column: &str| ["state", "state_at", "valid_to"].contains(&column);
        let same = DERIVED.iter().zip(&expected).zip(&self.columns).all(|(((column, _), expected), stored)| {
            (is_before_time && is_of_time(column)) || covered::content_of(std::slice::from_ref(expected)) == *stored
        });
        // Words are purged of what is over, and of nothing else.
        same && (self.has_words || matches!(folded.state, State::Inactive | State::Expired))
    }

    fn is_active(&self) -> bool {
        let place = DERIVED.iter().position(|(column, _)| *column == "state");
        place.and_then(|place| self.columns.get(place)) == Some(&covered::content_of(&[State::Active.code().into()]))
    }
}

/// What differs from the log of some patients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Memories that stand otherwise than their fold, are missing, or that no fold makes.
    pub memories: BTreeSet<Key>,
    /// Memories whose clinical row is missing, differs, or should not be.
    pub clinical: BTreeSet<Key>,
    /// Memories without a single finding in the log. Nothing can be derived of them: a person must look.
    pub unfounded: u64,
    groups: BTreeSet<Group>,
}

impl Differences {
    /// What differs of other patients as well.
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

impl Shift<'_> {
    /// Folds the log of patients whose keys are given, and compares. What time did to a memory before `moved_until` was written by the
    /// job `expiry`.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn differences(
        &self,
        tx: &mut Transaction,
        moved_until: Option<DateTime<Utc>>,
    ) -> Result<Differences, StoreError> {
        let scopes: BTreeMap<Uuid, Scope> = self.keys.keys().map(|scope| (scope.patient().0, *scope)).collect();
        let of = || vec![self.org.0.into(), Arg::Uuids(scopes.keys().copied().collect())];
        let mut writer = self.writer(tx);
        let mut groups: BTreeSet<Group> = BTreeSet::new();
        for row in writer.tx.fetch_all(&GROUPS, of()).await? {
            if let Some(scope) = scopes.get(&row.uuid(0)?) {
                groups.insert((*scope, row.bytes(1)?));
            }
        }
        let mut loaded = writer.load(&groups).await?;
        let foldings = writer.folded(&mut loaded).await?;
        let mut standing: BTreeMap<Key, Stored> = BTreeMap::new();
        for row in writer.tx.fetch_all(&STANDING, of()).await? {
            standing.insert((row.uuid(0)?, row.uuid(1)?), Stored::of(&row)?);
        }
        let mut clinical: BTreeMap<Key, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
        for (place, sql) in CLINICAL.iter().enumerate() {
            for row in writer.tx.fetch_all(sql, of()).await? {
                let clear = covered::content(row.0.get(2..).unwrap_or_default());
                clinical.entry((row.uuid(0)?, row.uuid(1)?)).or_default().push((place, clear));
            }
        }
        let mut found = Differences::default();
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

    /// Writes what the log amounts to. Nobody said anything new: no event tells of it.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn fold_again(&self, tx: &mut Transaction, wrong: &Differences) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(wrong.patients().map(|patient| patient.0).collect()).await?;
        let all = wrong.memories.union(&wrong.clinical);
        let pairs = || Arg::Pairs(all.clone().map(|(patient, id)| (*patient, id.as_bytes().to_vec())).collect());
        writer.tx.execute(&UNTELL, vec![self.org.0.into(), pairs()]).await?;
        for clear in CLEAR.iter() {
            writer.tx.execute(clear, vec![self.org.0.into(), pairs()]).await?;
        }
        writer.touched.extend(wrong.groups.iter().copied());
        // A wrong row may have come from a checkpoint.
        writer.drop_checkpoints(&wrong.groups).await?;
        writer.fold().await
    }
}

impl Differences {
    fn compare(
        &mut self,
        (group, loaded, folded): (&Group, &Loaded, &Folded),
        stored: Option<&Stored>,
        clinical: &[(usize, Vec<u8>)],
        moved_until: Option<DateTime<Utc>>,
    ) {
        let key: Key = (group.0.patient().0, folded.id.0);
        let is_moved = moved_until.is_some_and(|until| folded.state_at <= until);
        let is_before_time = folded.state.is_of_time() && !is_moved && stored.is_some_and(Stored::is_active);
        let state = if is_before_time { State::Active } else { folded.state };
        let opening = loaded.log.assertions.iter().find(|a| a.id == folded.opened_by);
        if !stored.zip(opening).is_some_and(|(stored, a)| stored.is(folded, a, is_before_time)) {
            self.memories.insert(key);
            self.groups.insert(*group);
        }
        // The end that time set is written to the memory alone.
        let wanted = |valid_to| {
            let row = clinical_clear(loaded, &Folded { valid_to, ..folded.clone() }, state);
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
        standing: BTreeMap<Key, Stored>,
        clinical: BTreeMap<Key, Vec<(usize, Vec<u8>)>>,
        groups: &BTreeSet<Group>,
    ) {
        let mut unfounded: BTreeSet<Key> = BTreeSet::new();
        for (key, Stored { group: hash, .. }) in standing {
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
