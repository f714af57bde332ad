//! Retention: the source of memories is removed after its term, by type of document and privacy tier. The patient's
//! setting has precedence over the organisation's, and that over the country's (features 87 and 108;
//! `core::retention`). A legal hold prevents removal. Findings stay, with their lineage.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::next_after;
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::failpoints;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId, derive};
pub(crate) use anamnesis_core::retention::RetentionPolicy;
use anamnesis_core::retention::{PrivacyTier, RetentionState, StatedTiers};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyStore;
use anamnesis_sql::Transaction;
use anamnesis_store::audit_trail::acts;
use anamnesis_store::maintenance::ProjectionRules;
use anamnesis_store::retention::{self, DormantPatient, RetainedSource, RetentionKey, RetentionQueue};
use anamnesis_store::{covered, decay_index};

/// The job.
pub(crate) struct Retention {
    pub(crate) policy: RetentionPolicy,
    pub(crate) rules: ProjectionRules,
    keys: Arc<dyn KeyStore>,
    now: DateTime<Utc>,
}

impl Thresholds for RetentionPolicy {
    fn check(&self) -> Result<(), &'static str> {
        let is_code = |code: &String| code.len() == 2 && code.chars().all(|c| c.is_ascii_uppercase());
        if !self.countries.keys().all(is_code) {
            return Err("a country is two capital letters (ISO 3166-1)");
        }
        let mut rules = self.tiers.values().flat_map(|tier| tier.values());
        if rules.any(|rule| rule.after_days > 36_500) {
            return Err("after_days is 0 to 36500");
        }
        if !(1..=36_500).contains(&self.patient_days) {
            return Err("patient_days is 1 to 36500");
        }
        Ok(())
    }
}

status!(
    /// Result of a retention run.
    RetentionStatus {
        examined,
        /// Documents of which only the findings are left.
        summary_only,
        /// Documents whose text was removed.
        source_dropped,
        /// Documents whose text left every search.
        archived,
        /// Documents of which it is known now when they are due.
        /// Documents whose due date was computed. A run that the version before began has the old name.
        #[serde(alias = "reckoned")]
        due_dates_set,
        /// Documents that are due and that a legal hold keeps.
        held,
        /// Documents that seem to be due by a row that was changed outside the program: as they were, for a person to
        /// see.
        forged,
        /// Patients whose withdrawal of consent came into force after memories were last forgotten for one, and whose
        /// memories are forgotten now.
        withdrawn,
        /// Patients whose whole record is past its term, and who are erased now.
        records_ended,
        /// Patients whose record is past its term and whom a legal hold keeps.
        records_held,
    }
    changed: summary_only | source_dropped | archived | due_dates_set | withdrawn | records_ended
);

/// The change of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RetentionChange {
    /// Its time has come.
    Drop(RetainedSource, RetentionState),
    /// Its time has come, and a hold keeps it.
    OnHold(RetainedSource),
    /// Its time seems to have come, by a row that was changed outside the program.
    Forged(RetainedSource),
    /// It is due at this instant, or never.
    SetDueDate(RetainedSource, Option<DateTime<Utc>>),
    /// All documents are computed by this policy.
    PolicyApplied(Uuid),
    /// This patient's denial of memory is in force, and nothing was forgotten for it.
    ForgetWithdrawn(PatientId),
    /// No message of this patient arrived for the whole term.
    EndRecord(DormantPatient),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct RetentionCursor {
    #[serde(rename = "lane")]
    queue: RetentionQueue,
    after: RetentionKey,
}

/// The organisation's own tier and country.
type OrganizationTier = (Option<PrivacyTier>, Option<String>);

impl Retention {
    fn due(&self, source: &RetainedSource, organization: &OrganizationTier) -> Option<(DateTime<Utc>, RetentionState)> {
        let (tier, country) = organization;
        let said = StatedTiers {
            patient: source.patient_tier,
            organization: *tier,
            country: source.country.as_deref().or(country.as_deref()),
        };
        self.policy.due(&said, source.document_type, source.recorded_at)
    }

    fn change(
        &self,
        source: RetainedSource,
        organization: &OrganizationTier,
        cutoff: DateTime<Utc>,
    ) -> Option<RetentionChange> {
        let due = self.due(&source, organization);
        match due {
            Some((at, _)) if at <= cutoff && source.held => Some(RetentionChange::OnHold(source)),
            Some((at, state)) if at <= cutoff => Some(RetentionChange::Drop(source, state)),
            due => {
                let at = due.map(|(at, _)| at);
                (!source.is_evaluated || source.due_at != at).then_some(RetentionChange::SetDueDate(source, at))
            }
        }
    }

    /// Documents of these patients whose stored due date differs from the policy. While the policy is new, none,
    /// because the next run computes all dates again.
    pub(crate) async fn misdated(
        &self,
        tx: &mut Transaction,
        org: OrgId,
        patients: &[Uuid],
    ) -> Result<Vec<(PatientId, DocumentId)>, JobError> {
        let organization = retention::organization(tx, org).await?;
        if decay_index::mark(tx, org, Self::NAME.code()).await? != Some(self.fingerprint(&organization)) {
            return Ok(Vec::new());
        }
        let rows = retention::sources_of(tx, org, patients).await?;
        let wrong = rows.iter().filter(|row| row.due_at != self.due(row, &organization).map(|(at, _)| at));
        Ok(wrong.map(|row| (row.patient, row.document)).collect())
    }

    /// Patients without activity since then lose their record.
    fn record_term(&self, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        cutoff - TimeDelta::days(i64::from(self.policy.patient_days))
    }

    async fn records(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        after: RetentionKey,
    ) -> Result<JobPage<RetentionChange>, JobError> {
        if failpoints::is("records_for_ever") {
            return Ok(JobPage::end());
        }
        let until = self.record_term(window.cutoff);
        let mut rows = retention::dormant(tx, window.org, until, window.after(after)).await?;
        let patients = rows.iter().map(|row| row.patient.0).collect();
        let doubtful = acts::doubtful_holds(tx, window.org, patients).await?;
        rows.iter_mut().for_each(|row| row.held |= doubtful.contains(&row.patient.0));
        let next =
            next_after(&rows, window, |row| RetentionCursor { queue: RetentionQueue::Records, after: row.place });
        Ok(JobPage {
            examined: rows.len() as u64,
            changes: rows.into_iter().map(RetentionChange::EndRecord).collect(),
            next,
        })
    }

    /// A date, a tier or a policy that was changed outside the program takes no source away: reconciliation counts it,
    /// and a person looks.
    async fn keep_forged(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        changes: &mut [RetentionChange],
    ) -> Result<(), JobError> {
        let mut pairs = Vec::new();
        let mut scopes = Vec::new();
        for change in changes.iter() {
            if let RetentionChange::Drop(source, _) = change {
                pairs.push((source.patient.0, source.document.0));
                scopes.extend(Scope::new(window.org, source.patient).ok());
            }
        }
        if pairs.is_empty() {
            return Ok(());
        }
        let keys = self.keys.find(&scopes).await?.known;
        let by = (&keys, self.keys.platform());
        let distrusted = covered::distrusted(tx, window.org, pairs, by, self.now).await?;
        for change in changes {
            if let RetentionChange::Drop(source, _) = change
                && distrusted.has(source.patient.0, source.document.0, source.revision)
            {
                *change = RetentionChange::Forged(source.clone());
            }
        }
        Ok(())
    }

    async fn withdrawn(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        after: RetentionKey,
    ) -> Result<JobPage<RetentionChange>, JobError> {
        let scope = (window.org, self.keys.as_ref());
        let rows = retention::withdrawn(tx, scope, window.cutoff, window.after(after)).await?;
        let next =
            next_after(&rows, window, |row| RetentionCursor { queue: RetentionQueue::Withdrawn, after: row.place });
        let next = next.or_else(|| {
            Some(RunCursor::write(&RetentionCursor { queue: RetentionQueue::Records, after: RetentionKey::START }))
        });
        let examined = rows.len() as u64;
        let denied = rows.into_iter().filter(|row| row.forgets);
        Ok(JobPage {
            examined,
            changes: denied.map(|row| RetentionChange::ForgetWithdrawn(row.patient)).collect(),
            next,
        })
    }

    /// The inputs of the computation: the policy, and the settings of the organisation.
    fn fingerprint(&self, organization: &OrganizationTier) -> Uuid {
        derive("retention.policy", &[format!("{:?} {organization:?}", self.policy).as_bytes()])
    }
}

#[async_trait]
impl Job for Retention {
    const NAME: JobName = JobName::Retention;
    type Change = RetentionChange;
    type Status = RetentionStatus;

    fn from_dependencies(JobDependencies { policies, keys, now, .. }: &JobDependencies<'_>) -> Self {
        let (policy, rules) = (policies.retention.thresholds.clone(), policies.rules());
        Self { policy, rules, keys: Arc::clone(keys), now: *now }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<RetentionChange>, JobError> {
        let organization = retention::organization(tx, window.org).await?;
        let mark = self.fingerprint(&organization);
        let RetentionCursor { queue, after } = match from {
            Some(cursor) => cursor.read()?,
            None if decay_index::mark(tx, window.org, Self::NAME.code()).await? == Some(mark) => {
                RetentionCursor { queue: RetentionQueue::Unevaluated, after: RetentionKey::START }
            }
            None => RetentionCursor { queue: RetentionQueue::All, after: RetentionKey::START },
        };
        match queue {
            RetentionQueue::Withdrawn => return self.withdrawn(tx, window, after).await,
            RetentionQueue::Records => return self.records(tx, window, after).await,
            RetentionQueue::All | RetentionQueue::Unevaluated | RetentionQueue::Due => {}
        }
        let rows = retention::sources(tx, window.org, queue, window.cutoff, window.after(after)).await?;
        let examined = rows.len() as u64;
        let mut next = next_after(&rows, window, |row| RetentionCursor { queue, after: row.place });
        let changes = rows.into_iter().filter_map(|row| self.change(row, &organization, window.cutoff));
        let mut changes: Vec<RetentionChange> = changes.collect();
        self.keep_forged(tx, window, &mut changes).await?;
        if next.is_none() && queue == RetentionQueue::All {
            changes.push(RetentionChange::PolicyApplied(mark));
        }
        if next.is_none() {
            let queue =
                if queue == RetentionQueue::Unevaluated { RetentionQueue::Due } else { RetentionQueue::Withdrawn };
            next = Some(RunCursor::write(&RetentionCursor { queue, after: RetentionKey::START }));
        }
        Ok(JobPage { changes, examined, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[RetentionChange],
    ) -> Result<(), JobError> {
        let organization = retention::organization(tx, window.org).await?;
        let (mut going, mut due_dates, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        let mut withdrawn = Vec::new();
        for change in changes {
            match change {
                RetentionChange::Drop(source, state) => going.push((source, *state)),
                // Reported once; each run checks it again until the hold is released or the row is repaired.
                RetentionChange::OnHold(source) | RetentionChange::Forged(source) => {
                    let at = self.due(source, &organization).map(|(at, _)| at);
                    due_dates.extend((!source.is_evaluated || source.due_at != at).then_some((source, at)));
                }
                RetentionChange::SetDueDate(source, at) => due_dates.push((source, *at)),
                RetentionChange::ForgetWithdrawn(patient) => withdrawn.push(*patient),
                RetentionChange::EndRecord(one) if one.held => {}
                RetentionChange::EndRecord(one) => ended.push(one.patient),
                RetentionChange::PolicyApplied(mark) => {
                    decay_index::set_mark(tx, window.org, Self::NAME.code(), *mark, context.now).await?;
                }
            }
        }
        retention::set_due_dates(tx, window.org, &due_dates, context.now).await?;
        let nobody = HashMap::new();
        let until = self.record_term(window.cutoff);
        context.shift(window, &nobody, &self.rules).end_records(tx, &ended, until).await?;
        if !withdrawn.is_empty() {
            let keys = context.keys_by_scope(window.org, withdrawn.iter().copied()).await?;
            context.shift(window, &keys, &self.rules).forget_withdrawn(tx, &withdrawn).await?;
        }
        if going.is_empty() {
            return Ok(());
        }
        let keys = context.keys_by_scope(window.org, going.iter().map(|(source, _)| source.patient)).await?;
        let going: Vec<_> = going
            .into_iter()
            .filter_map(|(source, state)| {
                let scope = Scope::new(window.org, source.patient).ok().filter(|scope| keys.contains_key(scope))?;
                Some((scope, source.document, source.revision, state))
            })
            .collect();
        Ok(context.shift(window, &keys, &self.rules).let_go(tx, &going).await?)
    }

    fn tally(&self, page: &JobPage<RetentionChange>) -> RetentionStatus {
        let count =
            |matches: &dyn Fn(&RetentionChange) -> bool| page.changes.iter().filter(|c| matches(c)).count() as u64;
        let went = |state: RetentionState| {
            count(&|change| matches!(change, RetentionChange::Drop(_, known) if *known == state))
        };
        RetentionStatus {
            examined: page.examined,
            summary_only: went(RetentionState::SummaryOnly),
            source_dropped: went(RetentionState::SourceDropped),
            archived: went(RetentionState::Archived),
            due_dates_set: count(&|change| matches!(change, RetentionChange::SetDueDate(..))),
            held: count(&|change| matches!(change, RetentionChange::OnHold(_))),
            forged: count(&|change| matches!(change, RetentionChange::Forged(_))),
            withdrawn: count(&|change| matches!(change, RetentionChange::ForgetWithdrawn(_))),
            records_ended: count(&|change| matches!(change, RetentionChange::EndRecord(one) if !one.held)),
            records_held: count(&|change| matches!(change, RetentionChange::EndRecord(one) if one.held)),
        }
    }
}
