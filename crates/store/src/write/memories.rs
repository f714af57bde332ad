//! Folding: the groups that a batch touches are read, folded and written back where they changed.

mod checkpoints;
mod conflicts;
pub(crate) mod derived;
mod load;
pub(crate) mod rows;
mod tensions;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{BatchWriter, GroupKey};
use crate::StoreError;
use crate::records::{Evidence, FindingWords, MemoryChange, NewDocument};
use crate::statements::write::memories as sql;
use crate::statements::write::memories::conflicts as contradictions;
use anamnesis_core::event::{ContradictionFound, DueCause, MemoryChanged, ReconfirmationDue};
use anamnesis_core::ids::{FindingId, MemoryId, derive};
use anamnesis_core::memory::State;
use anamnesis_core::projection::{self, Checkpoint, GroupLog, ProjectedMemory, Projection, ResumableProjection};
use anamnesis_core::scope::Scope;
use anamnesis_sql::Arg;

/// A finding with the columns that the projection does not read: its words and its evidence.
pub(super) struct FindingText {
    pub(crate) words: FindingWords,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) revision: u32,
    pub(crate) from_document: bool,
}

/// A memory as stored before the batch.
pub(super) struct ExistingMemory {
    pub(crate) state: String,
    pub(crate) fold_hash: Option<Vec<u8>>,
    /// Lines of its history that the fold wrote; `None` where they were not counted.
    pub(crate) lines: Option<u32>,
}

impl ExistingMemory {
    /// Whether it was written from a fold with this fingerprint.
    fn holds(&self, fingerprint: &[u8; 32]) -> bool {
        self.fold_hash.as_deref() == Some(fingerprint)
    }
}

/// All that is known of one group.
#[derive(Default)]
pub(super) struct LoadedGroup {
    /// The start of the projection: the log then contains only what came after it.
    pub(crate) checkpoint: Option<Checkpoint>,
    pub(crate) log: GroupLog,
    pub(crate) texts: BTreeMap<FindingId, FindingText>,
    pub(crate) existing: BTreeMap<MemoryId, ExistingMemory>,
}

/// One memory to write, with its context.
pub(super) struct ChangedMemory<'l> {
    pub(crate) scope: Scope,
    pub(crate) group: &'l GroupKey,
    pub(crate) loaded: &'l LoadedGroup,
    pub(crate) folded: ProjectedMemory,
    pub(crate) hash: [u8; 32],
    pub(crate) was: Option<&'l str>,
    /// Lines of its history that are in the store and may be other ones now: those after the checkpoint's.
    pub(crate) stale: std::ops::Range<u32>,
}

impl BatchWriter<'_> {
    /// Folds every touched group and writes what changed.
    pub(super) async fn fold(&mut self) -> Result<(), StoreError> {
        let touched = std::mem::take(&mut self.touched);
        if touched.is_empty() {
            return Ok(());
        }
        let mut loaded = self.load_on(&touched).await?;
        let mut foldings = self.folded(&mut loaded).await?;
        self.reload_unwritten(&mut loaded, &mut foldings).await?;
        self.load_words(&mut loaded, &foldings).await?;
        self.keep_checkpoints(&loaded, &foldings).await?;
        let mut changed = Vec::new();
        let mut gone = Vec::new();
        let mut conflicts = Vec::new();
        for ((group, loaded), ResumableProjection { outcome, .. }) in loaded.iter().zip(foldings) {
            gone.extend(vanished(group.0, loaded, &outcome));
            conflicts.extend(outcome.conflicts.iter().map(|c| (group, *c)));
            changed.extend(outcome.memories.into_iter().filter_map(|folded| change(group, loaded, folded)));
        }
        self.forget_projection(&gone, &changed).await?;
        self.write_memories(&changed).await?;
        self.write_clinical(&changed).await?;
        let new: BTreeSet<MemoryId> = changed.iter().filter(|c| c.was.is_none()).map(|c| c.folded.id).collect();
        // Only a group that was there before can have a conflict on record.
        let before: Vec<&GroupKey> =
            loaded.iter().filter(|(_, l)| !l.existing.is_empty()).map(|(group, _)| group).collect();
        self.write_conflicts(&before, &conflicts).await?;
        let found = conflicts.iter().filter(|(_, c)| new.contains(&c.claim)).map(|(_, c)| conflicts::conflict_type(c));
        self.done.contradictions.extend(found);
        self.write_tensions(&gone, &changed).await?;
        for change in &changed {
            self.announce_memory(change);
        }
        Ok(())
    }

    /// The outcome of each group. Acts are found by memory ids, and an act may change which memories a projection
    /// creates. So it repeats until no memory is new, which is after one pass except for reopened memories. A group
    /// that cannot continue from its checkpoint is loaded in full.
    pub(super) async fn folded(
        &mut self,
        loaded: &mut BTreeMap<GroupKey, LoadedGroup>,
    ) -> Result<Vec<ResumableProjection>, StoreError> {
        let mut asked: BTreeSet<(Uuid, MemoryId)> = BTreeSet::new();
        loop {
            let (now, policy) = (self.target.now, self.policy);
            let fold = |(group, loaded): (&GroupKey, &LoadedGroup)| match &loaded.checkpoint {
                Some(checkpoint) => projection::resume(group.0, checkpoint, &loaded.log, now, policy),
                None => Some(projection::replay(group.0, &loaded.log, now, policy)),
            };
            let tried: Vec<Option<ResumableProjection>> = loaded.iter().map(fold).collect();
            let stuck = loaded.keys().zip(&tried).filter(|(_, folding)| folding.is_none());
            let stuck: BTreeSet<GroupKey> = stuck.map(|(group, _)| *group).collect();
            if !stuck.is_empty() {
                loaded.extend(self.load(&stuck).await?);
                // Acts are asked for again: those of these groups went with their logs.
                loaded.values_mut().for_each(|loaded| loaded.log.acts.clear());
                asked.clear();
                continue;
            }
            let foldings: Vec<ResumableProjection> = tried.into_iter().flatten().collect();
            let made = loaded.keys().zip(&foldings);
            let made = made.flat_map(|(group, f)| f.outcome.memories.iter().map(|m| (group.0.patient().0, m.id)));
            let new: BTreeSet<(Uuid, MemoryId)> = made.filter(|key| !asked.contains(key)).collect();
            if new.is_empty() {
                return Ok(foldings);
            }
            let mut acts = self.acts_on(&new).await?;
            asked.extend(new);
            if acts.is_empty() {
                return Ok(foldings);
            }
            for (loaded, folding) in loaded.values_mut().zip(&foldings) {
                loaded.log.acts.extend(folding.outcome.memories.iter().filter_map(|m| acts.remove(&m.id)).flatten());
            }
        }
    }

    /// Removes rows that late messages made untrue, and derived rows that are written again.
    async fn forget_projection(
        &mut self,
        gone: &[(Scope, MemoryId)],
        changed: &[ChangedMemory<'_>],
    ) -> Result<(), StoreError> {
        let org = Arg::from(self.target.org.0);
        let ids = |list: &mut dyn Iterator<Item = (Scope, MemoryId)>| {
            Arg::Pairs(list.map(|(s, id)| (s.patient().0, id.0.as_bytes().to_vec())).collect())
        };
        // A new memory has left no state. If the projection continued from a checkpoint, only the lines after it can be
        // new.
        let known = changed.iter().filter(|c| c.was.is_some());
        let (resumed, whole): (Vec<&ChangedMemory<'_>>, Vec<&ChangedMemory<'_>>) = known.partition(|c| c.is_resumed());
        self.forget_lines(&resumed).await?;
        let whole = whole.iter().map(|c| (c.scope, c.folded.id));
        let rewritten: Vec<(Scope, MemoryId)> = gone.iter().copied().chain(whole).collect();
        if rewritten.is_empty() {
            return Ok(());
        }
        let rewritten = ids(&mut rewritten.into_iter());
        self.tx.execute(&sql::DELETE_HISTORY, vec![org.clone(), rewritten.clone()]).await?;
        self.tx.execute(&sql::DELETE_LINKS, vec![org.clone(), rewritten.clone()]).await?;
        self.tx.execute(&sql::DELETE_BACK_LINKS, vec![org.clone(), rewritten]).await?;
        if !gone.is_empty() {
            self.tx.execute(&sql::DELETE, vec![org, ids(&mut gone.iter().copied())]).await?;
        }
        Ok(())
    }

    async fn write_conflicts(
        &mut self,
        before: &[&GroupKey],
        conflicts: &[(&GroupKey, projection::Conflict)],
    ) -> Result<(), StoreError> {
        if !before.is_empty() {
            let groups = load::keyed(before.iter().copied());
            self.tx.execute(&contradictions::DELETE_OF_GROUPS, vec![self.target.org.0.into(), groups]).await?;
        }
        let mut written = Vec::with_capacity(conflicts.len());
        for (group, conflict) in conflicts {
            let scope = group.0;
            let id = derive("contradiction", &[conflict.kept.0.as_bytes(), conflict.claim.0.as_bytes()]);
            written.push(conflicts::conflict_row(group, id, conflict, self.target.now));
            if conflict.answered {
                continue;
            }
            let found = ContradictionFound {
                contradiction_id: id,
                kept_memory_id: conflict.kept,
                claim_memory_id: conflict.claim,
                type_: conflicts::conflict_type(conflict),
            };
            self.events.push(scope, &[id.as_bytes()], &found);
            // One task per contradiction: a person is asked, nothing is changed (seed 002, section 6).
            let due = ReconfirmationDue {
                memory_id: conflict.kept,
                cause: DueCause::Contradiction,
                due_at: None,
                cycle: None,
                contradiction_id: Some(id),
            };
            self.events.push(scope, &[id.as_bytes()], &due);
        }
        self.tx.bulk(&contradictions::INSERT, written).await?;
        Ok(())
    }

    fn announce_memory(&mut self, changed: &ChangedMemory<'_>) {
        let opening = changed.opening();
        let (id, to) = (changed.folded.id, changed.folded.state);
        let from = changed.was.and_then(State::from_code);
        let contested = changed.folded.contested;
        self.done.memories.push(MemoryChange { kind: opening.kind, from, to, contested });
        let what = match from {
            None => "created",
            Some(from) if from != to => to.code(),
            // Written again after a job moved it: its change was announced then, and no person confirmed it.
            Some(_) if to != State::Active => return,
            Some(_) => "confirmed",
        };
        let at = anamnesis_core::clock::micros(changed.folded.state_at).to_be_bytes();
        let key: [&[u8]; 4] = [id.0.as_bytes(), what.as_bytes(), &at, &changed.folded.cycle.to_be_bytes()];
        let data = MemoryChanged { memory_id: id, kind: opening.kind, class: opening.class, change: what, state: to };
        self.events.push(changed.scope, &key, &data);
    }

    /// The raw capture of each document (seed 001, section 2): where every chain of lineage ends.
    pub(super) async fn raws(&mut self, documents: &[NewDocument]) -> Result<(), StoreError> {
        let shared = rows::raw_shared(self.target.org.0, self.target.now.into());
        let rows = documents.iter().map(rows::raw_row).collect();
        self.tx.bulk_sharing(&sql::rows::INSERT_RAWS, shared, rows).await?;
        Ok(())
    }
}

impl ChangedMemory<'_> {
    /// Whether lines and sources from before a checkpoint stay as they are in the store.
    fn is_resumed(&self) -> bool {
        self.folded.earlier.lines > 0
    }

    pub(crate) fn text_of(&self, id: FindingId) -> Option<&FindingText> {
        self.loaded.texts.get(&id)
    }

    pub(crate) fn assertion(&self, id: FindingId) -> &projection::Assertion {
        let found = self.loaded.log.assertions.iter().find(|a| a.id == id);
        found.expect("a folded memory names findings of its own log")
    }

    /// The finding whose provenance the memory has.
    pub(crate) fn opening(&self) -> &projection::Assertion {
        self.assertion(self.folded.opened_by)
    }
}

/// The raw memory of a revision of a document.
pub fn raw_id(scope: Scope, document: Uuid, revision: u32) -> Uuid {
    let (org, patient) = (scope.org().0, scope.patient().0);
    derive("raw", &[org.as_bytes(), patient.as_bytes(), document.as_bytes(), &revision.to_be_bytes()])
}

fn vanished(scope: Scope, loaded: &LoadedGroup, outcome: &Projection) -> Vec<(Scope, MemoryId)> {
    let kept: BTreeSet<MemoryId> = outcome.memories.iter().map(|m| m.id).collect();
    loaded.existing.keys().filter(|id| !kept.contains(id)).map(|id| (scope, *id)).collect()
}

/// `None` when the store already holds exactly this.
fn change<'l>(group: &'l GroupKey, loaded: &'l LoadedGroup, folded: ProjectedMemory) -> Option<ChangedMemory<'l>> {
    let hash = folded.fingerprint();
    let existing = loaded.existing.get(&folded.id);
    if existing.is_some_and(|e| e.holds(&hash)) {
        return None;
    }
    let stale = folded.earlier.lines..existing.and_then(|e| e.lines).unwrap_or(0);
    Some(ChangedMemory { scope: group.0, group, loaded, folded, hash, was: existing.map(|e| e.state.as_str()), stale })
}
