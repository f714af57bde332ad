//! Reconciliation (model.md, "Job runs"; seed 002, §2): compares the clinical store with its log, and passages with
//! documents and vectors. Derived rows are repaired, others are counted. Each run compares all patients of the
//! organisation, page by page, so the next run finds any change from outside the program.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::retention::Retention;
use super::status::status;
use anamnesis_core::clock::Entropy;
use anamnesis_core::failpoints;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyStore;
use anamnesis_sql::{DbError, Transaction};
use anamnesis_store::audit_trail::RowCoverage;
use anamnesis_store::audit_trail::acts::{self, ComparedSince, TrailDifferences};
use anamnesis_store::covered::{self, Authenticity};
use anamnesis_store::maintenance::{MaintenanceWriter, ProjectionRules};
use anamnesis_store::projections::ProjectionDifferences;
use anamnesis_store::reconciliation::{self, GenerationsInUse, PassageDifferences};
use anamnesis_store::retention::date_anew;
use anamnesis_store::vectors::generation;
use anamnesis_store::{Keys, StoreError, audit_trail, summary_inputs, upkeep};

/// Thresholds of `jobs/reconciliation.toml`: none, a run compares everything.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReconciliationThresholds {}

impl Thresholds for ReconciliationThresholds {
    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }
}

/// The job.
pub(crate) struct Reconciliation {
    pub(crate) rules: ProjectionRules,
    /// The policy by which sources are removed; stored due dates are compared with it.
    retention: Retention,
    keys: Arc<dyn KeyStore>,
    entropy: Arc<dyn Entropy>,
    /// The log is projected as of now, for any run, because an old instant would restore lapsed memories.
    now: DateTime<Utc>,
    /// How long the receipt of an erasure is stored; older erasures may have none.
    receipt_days: i64,
}

status!(
    /// Findings of a reconciliation run. In a preview: the repairs it would make.
    ReconciliationStatus {
        /// Patients whose rows were compared with their hashes and with what their log amounts to: all of the organisation.
        examined,
        /// Memories that differed from their log: folded again.
        memories,
        /// Clinical rows that were missing, differed or should not have been: written again.
        clinical_rows,
        /// Documents whose stored due date differed from the policy: it is computed again.
        due_days,
        /// Passages without a vector of the active generation: they wait for the embedding batch now.
        passages_without_vector,
        /// Passages of documents that were replaced: removed.
        stale_passages,
        /// Vectors of generations that no one uses: removed.
        stray_vectors,
        /// Memories without a finding in the log: as they were.
        unfounded_memories,
        /// Current documents that no search can find: as they were.
        unsearchable_documents,
        /// Rows that were changed outside the program, or written without the patient's key: as they were, for a person
        /// to see.
        forged_rows,
        /// Rows of versions before rows were covered by a keyed hash: they have one now. Once.
        uncovered_rows,
        /// Patients without a key, of whom nothing can be opened.
        unreadable_patients,
    }
    changed: memories | clinical_rows | due_days | passages_without_vector | stale_passages | stray_vectors | uncovered_rows
);

/// The resume position of a run. That of a version with another division of the work is ignored, and the run starts
/// again.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReconciliationCursor {
    after: Uuid,
}

/// Differences between the rows of some patients.
#[derive(Debug, Default)]
pub(crate) struct ReconciliationFindings {
    astray: PassageDifferences,
    differences: ProjectionDifferences,
    unreadable: u64,
    authenticity: Authenticity,
    /// Documents whose noted day to go is not the one of the policy.
    misdated: Vec<(PatientId, DocumentId)>,
    /// Every patient's rows were compared, and have a hash now.
    covers: bool,
}

impl ReconciliationFindings {
    /// Adds the differences of other patients.
    fn merge(&mut self, other: Self) {
        self.astray.merge(other.astray);
        self.differences.merge(other.differences);
        self.unreadable += other.unreadable;
        self.authenticity.merge(other.authenticity);
        self.misdated.extend(other.misdated);
    }
}

/// Whether rows are at fault that this program did not write so: a cell that does not open, a code that it does not know.
fn is_of_rows(error: &JobError) -> bool {
    let error = match error {
        JobError::Store(error) => error,
        JobError::Database(error) => return matches!(error, DbError::Decode { .. }),
        _ => return false,
    };
    matches!(error, StoreError::Open(_) | StoreError::Shape | StoreError::Db(DbError::Decode { .. }))
}

impl Reconciliation {
    /// Compares patients together. If rows of one do not open, each is compared separately: that patient counts as
    /// forged, and the others are compared.
    async fn compare(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        patients: &[PatientId],
    ) -> Result<ReconciliationFindings, JobError> {
        match self.compare_all(tx, window, patients).await {
            Err(error) if is_of_rows(&error) => {}
            compared => return compared,
        }
        let mut all = ReconciliationFindings::default();
        for patient in patients {
            match self.compare_all(tx, window, &[*patient]).await {
                Ok(found) => all.merge(found),
                Err(error) if is_of_rows(&error) => all.authenticity.forged += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Compares the rows of patients with their hashes, with their log and with each other.
    async fn compare_all(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        patients: &[PatientId],
    ) -> Result<ReconciliationFindings, JobError> {
        let row = generation::read(tx, window.org).await?;
        let active = window.generations.map(|generations| generations.active(row.active)).or(row.active);
        // If the row names no generation, that of the configuration counts, so that a generation of another process
        // stays.
        let in_use =
            GenerationsInUse { active, building: row.building, others_are_kept: row.left || row.active.is_none() };
        let astray = reconciliation::passage_differences(tx, window.org, patients, in_use).await?;
        let scopes: Vec<Scope> = patients.iter().filter_map(|patient| Scope::new(window.org, *patient).ok()).collect();
        let keys: Keys = self.keys.known(&scopes).await?;
        let ids: Vec<Uuid> = patients.iter().map(|patient| patient.0).collect();
        let coverage = audit_trail::rows_are_covered(tx, window.org, self.now).await?;
        let mut authenticity = covered::authenticity(tx, window.org, (&ids, coverage.since), &keys).await?;
        judge(coverage.version, &mut authenticity);
        let misdated = self.retention.misdated(tx, window.org, &ids).await?;
        let unreadable = patients.len().saturating_sub(keys.len()) as u64;
        let (platform, entropy) = (self.keys.platform(), self.entropy.as_ref());
        let shift =
            MaintenanceWriter { org: window.org, now: self.now, keys: &keys, platform, entropy, rules: &self.rules };
        let moved_until = summary_inputs::settled(tx, window.org, JobName::Expiry.code(), self.now).await?;
        let differences = shift.differences(tx, moved_until).await?;
        Ok(ReconciliationFindings { astray, differences, unreadable, authenticity, misdated, covers: false })
    }

    /// Compares with the trail what acts of people made: of the whole organisation, after its last patient.
    async fn compare_acts(&self, tx: &mut Transaction, org: OrgId) -> Result<Authenticity, JobError> {
        let RowCoverage { since, version } = audit_trail::rows_are_covered(tx, org, self.now).await?;
        let ended = upkeep::receipts_ended(tx, org, self.keys.platform()).await?;
        let receipts = self.now - TimeDelta::days(self.receipt_days);
        let since = ComparedSince { receipts: ended.map_or(receipts, |ended| ended.max(receipts)), covered: since };
        let TrailDifferences { forged, uncovered } =
            acts::unfounded(tx, org, (self.keys.platform(), self.now), since).await?;
        let mut authenticity = Authenticity { forged, uncovered, ..Authenticity::default() };
        judge(version, &mut authenticity);
        Ok(authenticity)
    }
}

/// A row without a hash is forged if every row of its table has one, by the `version` of covered tables. A patient's
/// row that differs from its statements is projected again if no earlier version compared it.
fn judge(version: u8, found: &mut Authenticity) {
    if version >= covered::WITH_ACTS {
        found.forged += std::mem::take(&mut found.differing).len() as u64;
    }
    if failpoints::is("no_hash_is_old") {
        return;
    }
    let all = found.uncovered.len();
    found.uncovered.retain(|row| row.since > version);
    found.forged += (all - found.uncovered.len()) as u64;
}

#[async_trait]
impl Job for Reconciliation {
    const NAME: JobName = JobName::Reconciliation;
    type Change = ReconciliationFindings;
    type Status = ReconciliationStatus;

    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self {
        let JobDependencies { policies, keys, entropy, now, .. } = dependencies;
        let (keys, entropy) = (Arc::clone(keys), Arc::clone(entropy));
        let receipt_days = i64::from(policies.upkeep.thresholds.receipt_days);
        let retention = Retention::from_dependencies(dependencies);
        Self { rules: policies.rules(), retention, keys, entropy, now: *now, receipt_days }
    }

    fn compares(&self) -> bool {
        true
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<ReconciliationFindings>, JobError> {
        let at = from.and_then(|cursor| cursor.read::<ReconciliationCursor>().ok());
        let after = at.map_or(Uuid::nil(), |at| at.after);
        let patients = reconciliation::patients(tx, window.org, window.after(after)).await?;
        let mut found = self.compare(tx, window, &patients).await?;
        let next = patients.last().filter(|_| patients.len() >= window.limit as usize);
        if next.is_none() {
            let of_acts = self.compare_acts(tx, window.org).await?;
            found.authenticity.forged += of_acts.forged;
            found.authenticity.uncovered.extend(of_acts.uncovered);
            found.covers = true;
        }
        let next = next.map(|last| RunCursor::write(&ReconciliationCursor { after: last.0 }));
        Ok(JobPage { changes: vec![found], examined: patients.len() as u64, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[ReconciliationFindings],
    ) -> Result<(), JobError> {
        for found in changes {
            if found.differences.is_repairable() {
                let keys = context.keys_by_scope(window.org, found.differences.patients()).await?;
                context.shift(window, &keys, &self.rules).fold_again(tx, &found.differences).await?;
            }
            reconciliation::repair(tx, window.org, &found.astray, context.now).await?;
            if !found.misdated.is_empty() {
                date_anew(tx, window.org, &found.misdated, context.now).await?;
            }
            covered::adopt(tx, window.org, &found.authenticity.uncovered).await?;
            if !found.authenticity.differing.is_empty() {
                let patients: Vec<PatientId> = found.authenticity.differing.iter().copied().map(PatientId).collect();
                let keys = context.keys_by_scope(window.org, patients.iter().copied()).await?;
                context.shift(window, &keys, &self.rules).project_again(tx, &patients).await?;
            }
            acts::adopt(tx, window.org, (context.keys.platform(), context.now), &found.authenticity.uncovered).await?;
            if found.covers {
                audit_trail::rows_covered(tx, context.keys.platform(), window.org, context.now).await?;
            }
        }
        Ok(())
    }

    fn tally(&self, page: &JobPage<ReconciliationFindings>) -> ReconciliationStatus {
        let mut status = ReconciliationStatus { examined: page.examined, ..ReconciliationStatus::default() };
        for found in &page.changes {
            status.memories += found.differences.memories.len() as u64;
            status.clinical_rows += found.differences.clinical.len() as u64;
            status.due_days += found.misdated.len() as u64;
            status.passages_without_vector += found.astray.without_vector.len() as u64;
            status.stale_passages += found.astray.stale.len() as u64;
            status.stray_vectors += found.astray.stray.len() as u64;
            status.unfounded_memories += found.differences.unfounded;
            status.unsearchable_documents += found.astray.unsearchable;
            status.forged_rows += found.authenticity.forged;
            status.uncovered_rows += (found.authenticity.uncovered.len() + found.authenticity.differing.len()) as u64;
            status.unreadable_patients += found.unreadable;
        }
        status
    }
}
