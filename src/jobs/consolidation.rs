//! Consolidation: what recurs in several documents becomes a belief, deterministically and without any model (seed 001,
//! section 7; model.md, "Nightly work"). A belief names the captures that it was formed from, is never trusted more than the
//! worst of them, and is a hypothesis until a person verifies it. Each further telling reinforces it, once.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Page, Window};
use super::ledger::Cursor;
use super::policy::ConsolidationThresholds;
use super::registry::JobName;
use super::status::status;
use crate::crypto::PatientKeys;
use crate::domain::confidence::{self, Creation, DecayPolicy, initial};
use crate::domain::finding::{EntityType, Experiencer, Polarity, Temporality};
use crate::domain::fold::{Assertion, Details};
use crate::domain::ids::{FindingId, derive};
use crate::domain::lifecycle::LifecyclePolicy;
use crate::domain::memory::{Class, Kind, SetBy};
use crate::domain::provenance::{SourceType, Trust};
use crate::domain::scope::Scope;
use crate::store::engine::Transaction;
use crate::store::nightly::{Shift, raw_id};
use crate::store::records::{Evidence, FindingWords, NewFinding, finding_id};
use crate::store::recurring::{self, Telling};

/// The job.
#[derive(Debug, Clone)]
pub struct Consolidation {
    pub policy: ConsolidationThresholds,
    pub lifecycle: LifecyclePolicy,
    pub decay: DecayPolicy,
}

status!(
    /// What a night of consolidation did.
    ConsolidationStatus {
        /// Patients of whom something came in.
        examined,
        /// Beliefs that were formed.
        beliefs,
        /// Beliefs that another telling made surer.
        reinforced,
    }
    changed: beliefs | reinforced
);

/// A telling from which on an attribute counts as recurring.
#[derive(Debug, Clone, PartialEq)]
pub struct Recurrence {
    scope: Scope,
    /// The finding to be added to the log.
    id: FindingId,
    source: Uuid,
    /// This telling and those before it, oldest first, one a document.
    tellings: Vec<Telling>,
    /// Effective confidence of the weakest of them at the night.
    weakest: f64,
    /// The first that meets the rule: it forms the belief.
    forms: bool,
}

impl Consolidation {
    /// The recurrences of one attribute of one patient: from the telling on at which there are enough documents of enough
    /// days, sure enough on average (model.md: 3 episodes, 2 days, 0.6).
    fn of_attribute(&self, scope: Scope, tellings: &[Telling], cutoff: DateTime<Utc>) -> Vec<Recurrence> {
        let mut seen: Vec<Telling> = Vec::new();
        let mut found = Vec::new();
        for telling in tellings {
            if seen.iter().any(|t| t.document == telling.document) {
                continue;
            }
            seen.push(*telling);
            let mut days: Vec<_> = seen.iter().map(|t| t.asserted_at.date_naive()).collect();
            days.dedup();
            let sure: Vec<f64> = seen.iter().map(|t| self.effective(t, cutoff)).collect();
            let mean = sure.iter().sum::<f64>() / sure.len() as f64;
            let enough = seen.len() >= self.policy.episodes as usize && days.len() >= self.policy.days as usize;
            if !enough || mean < self.policy.mean_confidence {
                continue;
            }
            let source = derive("consolidation", &[&telling.attribute, telling.document.as_bytes()]);
            let id = finding_id(scope, source, 1, &telling.attribute);
            let weakest = sure.iter().copied().fold(1.0, f64::min);
            found.push(Recurrence { scope, id, source, tellings: seen.clone(), weakest, forms: found.is_empty() });
        }
        found
    }

    fn effective(&self, telling: &Telling, cutoff: DateTime<Utc>) -> f64 {
        let days = confidence::age_days(telling.recorded_at, None, cutoff) as f64;
        confidence::effective(&self.decay, Kind::Episode, telling.confidence, days, false)
    }
}

#[async_trait]
impl Job for Consolidation {
    const NAME: JobName = JobName::Consolidation;
    type Change = Recurrence;
    type Status = ConsolidationStatus;

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Recurrence>, JobError> {
        let after = match from {
            Some(cursor) => cursor.read::<Uuid>()?,
            None => Uuid::nil(),
        };
        let due = (Self::NAME.code(), window.cutoff);
        let patients = recurring::patients(tx, window.org, due, (after, window.limit)).await?;
        let next =
            patients.last().filter(|_| patients.len() == window.limit as usize).map(|last| Cursor::write(&last.0));
        let tellings = recurring::tellings(tx, window.org, &patients, window.cutoff).await?;
        let mut changes = Vec::new();
        for group in tellings.chunk_by(|a, b| a.patient == b.patient && a.attribute == b.attribute) {
            if let Ok(scope) = Scope::new(window.org, group[0].patient) {
                changes.extend(self.of_attribute(scope, group, window.cutoff));
            }
        }
        let ids: Vec<_> = changes.iter().map(|change| (change.scope.patient(), change.id)).collect();
        let known = recurring::known(tx, window.org, &ids).await?;
        changes.retain(|change| !known.contains(&change.id));
        Ok(Page { changes, examined: patients.len() as u64, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Recurrence],
    ) -> Result<(), JobError> {
        let keys = desk.keys_by_scope(window.org, changes.iter().map(|change| change.scope.patient())).await?;
        let last = |change: &Recurrence| change.tellings.last().map(|t| (t.patient, t.finding));
        let wanted: Vec<_> = changes.iter().filter_map(last).collect();
        let words = recurring::words(tx, window.org, &keys, &wanted).await?;
        let mut findings = Vec::new();
        for change in changes {
            let Some(telling) = change.tellings.last() else { continue };
            let Some(keys) = keys.get(&change.scope) else { continue };
            let told = words.iter().find(|(id, _, _)| *id == telling.finding);
            findings.extend(
                told.and_then(|(_, words, evidence)| finding(change, telling, keys, (words, evidence), window.cutoff)),
            );
        }
        let shift = Shift {
            org: window.org,
            now: desk.now,
            keys: &keys,
            entropy: desk.entropy,
            lifecycle: &self.lifecycle,
            decay: &self.decay,
        };
        shift.append(tx, findings).await?;
        Ok(())
    }

    fn tally(&self, page: &Page<Recurrence>) -> ConsolidationStatus {
        let formed = page.changes.iter().filter(|change| change.forms).count() as u64;
        ConsolidationStatus { examined: page.examined, beliefs: formed, reinforced: page.changes.len() as u64 - formed }
    }
}

/// What the log is told: a belief like any other finding, so that states, history and lineage are the fold's.
fn finding(
    change: &Recurrence,
    telling: &Telling,
    keys: &PatientKeys,
    (words, evidence): (&FindingWords, &Evidence),
    recorded_at: DateTime<Utc>,
) -> Option<NewFinding> {
    let creation = Creation { formed_from: Some(change.weakest), ..Creation::default() };
    let first = initial(&creation).ok()?;
    let attribute = keys.hash("pattern", &telling.attribute);
    let parents = change.tellings.iter().map(|t| raw_id(change.scope, t.document, t.revision)).collect();
    let assertion = Assertion {
        id: change.id,
        source: change.source,
        live: true,
        attribute,
        entity: EntityType::Preference,
        kind: Kind::Belief,
        class: Class::Pattern,
        polarity: Polarity::Affirmed,
        experiencer: Experiencer::Patient,
        details: Details::default(), // read back from the words when folded
        ending: false,
        past: false,
        blanket: false,
        set_by: SetBy::Agent,
        document_type: None,
        source_type: SourceType::Consolidation,
        epistemic: SourceType::Consolidation.epistemic(),
        trust: Trust::worst(change.tellings.iter().map(|t| t.trust)).unwrap_or(Trust::T4).max(Trust::T4),
        is_proxy: false,
        extraction_confidence: change.tellings.iter().map(|t| t.extraction_confidence).fold(1.0, f64::min),
        initial_confidence: first.confidence,
        basis: first.basis,
        asserted_at: telling.asserted_at,
        valid_from: change.tellings.first().map_or(telling.asserted_at, |first| first.asserted_at),
        expires_at: None,
        recorded_at,
        tombstone: None,
    };
    let words = FindingWords {
        concept: words.concept.clone(),
        code: words.code.clone(),
        status: Some("recurrent".to_owned()),
        mention: words.mention.clone(),
        formed_from: parents,
        ..FindingWords::default()
    };
    Some(NewFinding {
        scope: change.scope,
        group: attribute,
        assertion,
        revision: 1,
        uncertain: false,
        temporality: Temporality::Recent,
        words,
        evidence: Some(evidence.clone()),
        extractor_version: "consolidation".to_owned(),
    })
}
