//! Retention: the source of what is remembered goes after its time, by type of document and privacy tier, the patient's word
//! before the organisation's and that before the country's (features 87 and 108; `domain::retention`). A legal hold keeps
//! everything. What was understood stays, with its lineage.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::lanes::next_after;
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::failpoints;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId, derive};
pub(crate) use anamnesis_core::retention::RetentionPolicy;
use anamnesis_core::retention::{Fate, PrivacyTier, Said};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyStore;
use anamnesis_sql::Transaction;
use anamnesis_store::auditing::acts;
use anamnesis_store::nightly::Rules;
use anamnesis_store::retention::{self, Dormant, Lane, Place, Source};
use anamnesis_store::{covered, fading};

/// The job.
pub(crate) struct Retention {
    pub(crate) policy: RetentionPolicy,
    pub(crate) rules: Rules,
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
    /// What a run of retention did.
    RetentionStatus {
        examined,
        /// Documents of which only what was understood is left.
        summary_only,
        /// Documents whose text is gone.
        source_dropped,
        /// Documents whose text left every search.
        archived,
        /// Documents of which it is known now when they are due.
        reckoned,
        /// Documents that are due and that a legal hold keeps.
        held,
        /// Documents that seem to be due by a row that was changed behind the program: as they were, for a person to see.
        forged,
        /// Patients whose withdrawal of consent came into force since memories were last forgotten for one, and whose memories are
        /// forgotten now.
        withdrawn,
        /// Patients whose whole record is past its term, and who are erased now.
        records_ended,
        /// Patients whose record is past its term and whom a legal hold keeps.
        records_held,
    }
    changed: summary_only | source_dropped | archived | reckoned | withdrawn | records_ended
);

/// What is to be done with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Its time has come.
    Goes(Source, Fate),
    /// Its time has come, and a hold keeps it.
    Held(Source),
    /// Its time seems to have come, by a row that was changed behind the program.
    Forged(Source),
    /// It is due at this instant, or never.
    Waits(Source, Option<DateTime<Utc>>),
    /// All documents are reckoned by this policy.
    Settled(Uuid),
    /// This patient's denial of memory is in force, and nothing was forgotten for it.
    Withdrawn(PatientId),
    /// Nothing came of this patient for the whole term.
    Ends(Dormant),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct At {
    lane: Lane,
    after: Place,
}

/// The organisation's own tier and country.
type Organization = (Option<PrivacyTier>, Option<String>);

impl Retention {
    fn due(&self, source: &Source, organization: &Organization) -> Option<(DateTime<Utc>, Fate)> {
        let (tier, country) = organization;
        let said = Said {
            patient: source.patient_tier,
            organization: *tier,
            country: source.country.as_deref().or(country.as_deref()),
        };
        self.policy.due(&said, source.document_type, source.recorded_at)
    }

    fn change(&self, source: Source, organization: &Organization, cutoff: DateTime<Utc>) -> Option<Change> {
        let due = self.due(&source, organization);
        match due {
            Some((at, _)) if at <= cutoff && source.held => Some(Change::Held(source)),
            Some((at, fate)) if at <= cutoff => Some(Change::Goes(source, fate)),
            due => {
                let at = due.map(|(at, _)| at);
                (!source.reckoned || source.due_at != at).then_some(Change::Waits(source, at))
            }
        }
    }

    /// Documents of these patients whose noted day is not the one that the policy gives them. While the policy is new, none: the
    /// next run notes all days anew.
    pub(crate) async fn misdated(
        &self,
        tx: &mut Transaction,
        org: OrgId,
        patients: &[Uuid],
    ) -> Result<Vec<(PatientId, DocumentId)>, JobError> {
        let organization = retention::organization(tx, org).await?;
        if fading::mark(tx, org, Self::NAME.code()).await? != Some(self.fingerprint(&organization)) {
            return Ok(Vec::new());
        }
        let rows = retention::sources_of(tx, org, patients).await?;
        let wrong = rows.iter().filter(|row| row.due_at != self.due(row, &organization).map(|(at, _)| at));
        Ok(wrong.map(|row| (row.patient, row.document)).collect())
    }

    /// Of whom nothing came since then, the record goes.
    fn record_term(&self, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        cutoff - TimeDelta::days(i64::from(self.policy.patient_days))
    }

    async fn records(&self, tx: &mut Transaction, window: &Window, after: Place) -> Result<Page<Change>, JobError> {
        if failpoints::is("records_for_ever") {
            return Ok(Page::end());
        }
        let until = self.record_term(window.cutoff);
        let mut rows = retention::dormant(tx, window.org, until, window.after(after)).await?;
        let patients = rows.iter().map(|row| row.patient.0).collect();
        let doubtful = acts::doubtful_holds(tx, window.org, patients).await?;
        rows.iter_mut().for_each(|row| row.held |= doubtful.contains(&row.patient.0));
        let next = next_after(&rows, window, |row| At { lane: Lane::Records, after: row.place });
        Ok(Page { examined: rows.len() as u64, changes: rows.into_iter().map(Change::Ends).collect(), next })
    }

    /// A date, a tier or a policy that was changed behind the program takes no source away: reconciliation counts it, and a person
    /// looks.
    async fn keep_forged(&self, tx: &mut Transaction, window: &Window, changes: &mut [Change]) -> Result<(), JobError> {
        let mut pairs = Vec::new();
        let mut scopes = Vec::new();
        for change in changes.iter() {
            if let Change::Goes(source, _) = change {
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
            if let Change::Goes(source, _) = change
                && distrusted.has(source.patient.0, source.document.0, source.revision)
            {
                *change = Change::Forged(source.clone());
            }
        }
        Ok(())
    }

    async fn withdrawn(&self, tx: &mut Transaction, window: &Window, after: Place) -> Result<Page<Change>, JobError> {
        let scope = (window.org, self.keys.as_ref());
        let rows = retention::withdrawn(tx, scope, window.cutoff, window.after(after)).await?;
        let next = next_after(&rows, window, |row| At { lane: Lane::Withdrawn, after: row.place });
        let next = next.or_else(|| Some(Cursor::write(&At { lane: Lane::Records, after: Place::START })));
        let examined = rows.len() as u64;
        let denied = rows.into_iter().filter(|row| row.forgets);
        Ok(Page { examined, changes: denied.map(|row| Change::Withdrawn(row.patient)).collect(), next })
    }

    /// What the reckoning depends on: the policy, and what the organisation says.
    fn fingerprint(&self, organization: &Organization) -> Uuid {
        derive("retention.policy", &[format!("{:?} {organization:?}", self.policy).as_bytes()])
    }
}

#[async_trait]
impl Job for Retention {
    const NAME: JobName = JobName::Retention;
    type Change = Change;
    type Status = RetentionStatus;

    fn of(Means { policies, keys, now, .. }: &Means<'_>) -> Self {
        let (policy, rules) = (policies.retention.thresholds.clone(), policies.rules());
        Self { policy, rules, keys: Arc::clone(keys), now: *now }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Change>, JobError> {
        let organization = retention::organization(tx, window.org).await?;
        let mark = self.fingerprint(&organization);
        let At { lane, after } = match from {
            Some(cursor) => cursor.read()?,
            None if fading::mark(tx, window.org, Self::NAME.code()).await? == Some(mark) => {
                At { lane: Lane::Unreckoned, after: Place::START }
            }
            None => At { lane: Lane::All, after: Place::START },
        };
        match lane {
            Lane::Withdrawn => return self.withdrawn(tx, window, after).await,
            Lane::Records => return self.records(tx, window, after).await,
            Lane::All | Lane::Unreckoned | Lane::Due => {}
        }
        let rows = retention::sources(tx, window.org, lane, window.cutoff, window.after(after)).await?;
        let examined = rows.len() as u64;
        let mut next = next_after(&rows, window, |row| At { lane, after: row.place });
        let changes = rows.into_iter().filter_map(|row| self.change(row, &organization, window.cutoff));
        let mut changes: Vec<Change> = changes.collect();
        self.keep_forged(tx, window, &mut changes).await?;
        if next.is_none() && lane == Lane::All {
            changes.push(Change::Settled(mark));
        }
        if next.is_none() {
            let lane = if lane == Lane::Unreckoned { Lane::Due } else { Lane::Withdrawn };
            next = Some(Cursor::write(&At { lane, after: Place::START }));
        }
        Ok(Page { changes, examined, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Change],
    ) -> Result<(), JobError> {
        let organization = retention::organization(tx, window.org).await?;
        let (mut going, mut reckoned, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        let mut withdrawn = Vec::new();
        for change in changes {
            match change {
                Change::Goes(source, fate) => going.push((source, *fate)),
                // Written once; each run looks at it again until the hold is lifted, or what was changed is put right.
                Change::Held(source) | Change::Forged(source) => {
                    let at = self.due(source, &organization).map(|(at, _)| at);
                    reckoned.extend((!source.reckoned || source.due_at != at).then_some((source, at)));
                }
                Change::Waits(source, at) => reckoned.push((source, *at)),
                Change::Withdrawn(patient) => withdrawn.push(*patient),
                Change::Ends(one) if one.held => {}
                Change::Ends(one) => ended.push(one.patient),
                Change::Settled(mark) => {
                    fading::set_mark(tx, window.org, Self::NAME.code(), *mark, desk.now).await?;
                }
            }
        }
        retention::reckon(tx, window.org, &reckoned, desk.now).await?;
        let nobody = HashMap::new();
        let until = self.record_term(window.cutoff);
        desk.shift(window, &nobody, &self.rules).end_records(tx, &ended, until).await?;
        if !withdrawn.is_empty() {
            let keys = desk.keys_by_scope(window.org, withdrawn.iter().copied()).await?;
            desk.shift(window, &keys, &self.rules).forget_withdrawn(tx, &withdrawn).await?;
        }
        if going.is_empty() {
            return Ok(());
        }
        let keys = desk.keys_by_scope(window.org, going.iter().map(|(source, _)| source.patient)).await?;
        let going: Vec<_> = going
            .into_iter()
            .filter_map(|(source, fate)| {
                let scope = Scope::new(window.org, source.patient).ok().filter(|scope| keys.contains_key(scope))?;
                Some((scope, source.document, source.revision, fate))
            })
            .collect();
        Ok(desk.shift(window, &keys, &self.rules).let_go(tx, &going).await?)
    }

    fn tally(&self, page: &Page<Change>) -> RetentionStatus {
        let count = |matches: &dyn Fn(&Change) -> bool| page.changes.iter().filter(|c| matches(c)).count() as u64;
        let went = |fate: Fate| count(&|change| matches!(change, Change::Goes(_, known) if *known == fate));
        RetentionStatus {
            examined: page.examined,
            summary_only: went(Fate::SummaryOnly),
            source_dropped: went(Fate::SourceDropped),
            archived: went(Fate::Archived),
            reckoned: count(&|change| matches!(change, Change::Waits(..))),
            held: count(&|change| matches!(change, Change::Held(_))),
            forged: count(&|change| matches!(change, Change::Forged(_))),
            withdrawn: count(&|change| matches!(change, Change::Withdrawn(_))),
            records_ended: count(&|change| matches!(change, Change::Ends(one) if !one.held)),
            records_held: count(&|change| matches!(change, Change::Ends(one) if one.held)),
        }
    }
}
