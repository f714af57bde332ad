//! Memories and clinical rows beside the log that they are folded from: what the fold says today, and what stands there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Group;
use super::clinical::{CLEAR, clinical_status};
use super::memories::Loaded;
use super::nightly::Shift;
use crate::StoreError;
use anamnesis_core::fold::Folded;
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
    Sql::new(
        "SELECT patient_id, id, group_hash, state, contested, ungrounded, set_by, confidence, times_reinforced, \
         verification_count, is_protected, cycle, valid_from, valid_to, expires_at FROM memory \
         WHERE org_id = $1 AND patient_id IN {uuids $2} AND kind <> 'raw'",
    )
});
static CLINICAL: LazyLock<[Sql; 6]> = LazyLock::new(|| {
    [
        Sql::new("SELECT patient_id, memory_id, status FROM conditions WHERE org_id = $1 AND patient_id IN {uuids $2}"),
        Sql::new("SELECT patient_id, memory_id, status FROM allergies WHERE org_id = $1 AND patient_id IN {uuids $2}"),
        Sql::new(
            "SELECT patient_id, memory_id, status FROM medications WHERE org_id = $1 AND patient_id IN {uuids $2}",
        ),
        Sql::new(
            "SELECT patient_id, memory_id, status FROM symptom_states WHERE org_id = $1 AND patient_id IN {uuids $2}",
        ),
        Sql::new(
            "SELECT patient_id, memory_id, status FROM appointments WHERE org_id = $1 AND patient_id IN {uuids $2}",
        ),
        Sql::new(
            "SELECT patient_id, memory_id, status FROM health_signals WHERE org_id = $1 AND patient_id IN {uuids $2}",
        ),
    ]
});
static UNTELL: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE memory SET fold_hash = NULL WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}")
});

pub fn statements() -> Vec<&'static Sql> {
    [&*GROUPS, &*STANDING, &*UNTELL].into_iter().chain(CLINICAL.iter()).collect()
}

/// (patient, memory).
type Key = (Uuid, Uuid);

/// A memory as far as the fold decides it.
#[derive(Debug, PartialEq)]
struct Stands {
    state: String,
    contested: bool,
    ungrounded: bool,
    set_by: String,
    confidence: f64,
    counts: [i64; 3],
    is_protected: bool,
    valid: (DateTime<Utc>, Option<DateTime<Utc>>),
    expires_at: Option<DateTime<Utc>>,
}

impl Stands {
    fn stored(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            state: row.text(3)?,
            contested: row.bool(4)?,
            ungrounded: row.bool(5)?,
            set_by: row.text(6)?,
            confidence: row.f64(7)?,
            counts: [row.i64(8)?, row.i64(9)?, row.i64(11)?],
            is_protected: row.bool(10)?,
            valid: (row.time(12)?, row.opt_time(13)?),
            expires_at: row.opt_time(14)?,
        })
    }

    fn folded(f: &Folded) -> Self {
        Self {
            state: f.state.code().to_owned(),
            contested: f.contested,
            ungrounded: f.ungrounded,
            set_by: f.set_by.code().to_owned(),
            confidence: f.confidence,
            counts: [f.times_reinforced.into(), f.verification_count.into(), f.cycle.into()],
            is_protected: f.is_protected,
            valid: (f.valid_from, f.valid_to),
            expires_at: f.expires_at,
        }
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
    pub fn patients(&self) -> impl Iterator<Item = PatientId> + '_ {
        self.memories.iter().chain(&self.clinical).map(|(patient, _)| PatientId(*patient))
    }

    pub fn is_repairable(&self) -> bool {
        !self.memories.is_empty() || !self.clinical.is_empty()
    }
}

impl Shift<'_> {
    /// Folds the log of patients whose keys are given, and compares.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn differences(&self, tx: &mut Transaction) -> Result<Differences, StoreError> {
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
        let mut standing: BTreeMap<Key, (Vec<u8>, Stands)> = BTreeMap::new();
        for row in writer.tx.fetch_all(&STANDING, of()).await? {
            standing
                .insert((row.uuid(0)?, row.uuid(1)?), (row.opt_blob(2)?.unwrap_or_default(), Stands::stored(&row)?));
        }
        let mut clinical: BTreeMap<Key, (usize, String)> = BTreeMap::new();
        for (place, sql) in CLINICAL.iter().enumerate() {
            for row in writer.tx.fetch_all(sql, of()).await? {
                clinical.insert((row.uuid(0)?, row.uuid(1)?), (place, row.text(2)?));
            }
        }
        let mut found = Differences::default();
        for ((group, loaded), folding) in loaded.iter().zip(&foldings) {
            for folded in &folding.outcome.memories {
                let key = (group.0.patient().0, folded.id.0);
                let stands = standing.remove(&key).map(|(_, stands)| stands);
                found.compare(group, loaded, folded, stands.as_ref(), clinical.remove(&key));
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
    /// What time did to a memory since it was written is the nights' to write (`expiry`), and no difference.
    fn compare(
        &mut self,
        group: &Group,
        loaded: &Loaded,
        folded: &Folded,
        stands: Option<&Stands>,
        clinical: Option<(usize, String)>,
    ) {
        let key: Key = (group.0.patient().0, folded.id.0);
        let mut expected = Stands::folded(folded);
        let mut state = folded.state;
        if let Some(stands) = stands.filter(|stands| stands.state == State::Active.code() && state.is_of_time()) {
            state = State::Active;
            expected.state = stands.state.clone();
            expected.valid.1 = stands.valid.1;
        }
        if stands != Some(&expected) {
            self.memories.insert(key);
            self.groups.insert(*group);
        }
        let wanted = clinical_status(loaded, folded, state);
        if clinical.as_ref().map(|(place, status)| (*place, status.as_str())) != wanted {
            self.clinical.insert(key);
            self.groups.insert(*group);
        }
    }

    /// Memories that no fold made, and clinical rows of none.
    fn left_over(
        &mut self,
        standing: BTreeMap<Key, (Vec<u8>, Stands)>,
        clinical: BTreeMap<Key, (usize, String)>,
        groups: &BTreeSet<Group>,
    ) {
        let mut unfounded: BTreeSet<Key> = BTreeSet::new();
        for (key, (hash, _)) in standing {
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
