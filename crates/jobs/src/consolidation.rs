//! Consolidation: what recurs in several documents becomes a belief, a person who recurs a relationship, what lasts over half
//! a year a value or a drive, and what a patient said of how to be spoken with and treated one preference a topic
//! (`preferences`), deterministically and without any model (seed 001, section 7; model.md, "Nightly work").
//! What is formed names the captures that it was formed from, is never trusted more than the worst of them, and is a
//! hypothesis until a person verifies it. Each further telling reinforces it, once.

mod preferences;
mod support;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::formed::Formed;
use super::lanes::next_after;
use super::ledger::Cursor;
use super::permits::Permits;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::confidence;
use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::{FindingId, derive};
use anamnesis_core::memory::Kind;
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyStore, PatientKeys};
use anamnesis_sql::Transaction;
use anamnesis_store::condensing;
use anamnesis_store::consents::Use;
use anamnesis_store::nightly::{Rules, raw_id};
use anamnesis_store::records::{Evidence, FindingWords, NewFinding, finding_id};
use anamnesis_store::recurring::{self, Telling};
use preferences::Preferred;

/// Who formed it, in the log.
const AUTHOR: &str = "consolidation";

/// The job.
pub(crate) struct Consolidation {
    pub(crate) policy: ConsolidationThresholds,
    pub(crate) rules: Rules,
    keys: Arc<dyn KeyStore>,
    permits: Permits,
}

/// Thresholds of `jobs/consolidation.toml` (model.md, "Nightly work").
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsolidationThresholds {
    pub(crate) episodes: u32,
    pub(crate) days: u32,
    pub(crate) mean_confidence: f64,
    pub(crate) lasting_sources: u32,
    pub(crate) lasting_days: u32,
}

impl Thresholds for ConsolidationThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if self.episodes < 2 || self.days < 1 || self.days > self.episodes {
            return Err("episodes is at least 2, days is 1 to episodes");
        }
        if self.lasting_sources < 4 || !(1..=3_650).contains(&self.lasting_days) {
            return Err("lasting_sources is at least 4 (three reinforcements), lasting_days is 1 to 3650");
        }
        let unit = (0.0..=1.0).contains(&self.mean_confidence);
        if unit { Ok(()) } else { Err("mean_confidence is 0 to 1") }
    }
}

status!(
    /// What a night of consolidation did.
    ConsolidationStatus {
        /// Patients of whom something came in.
        examined,
        /// Beliefs that were formed.
        beliefs,
        /// People who recur.
        relationships,
        /// What was preferred over half a year.
        values,
        /// What was aimed at over half a year.
        drives,
        /// What another telling made surer.
        reinforced,
        /// Statements of how to be spoken with and treated that came to their topic.
        preferences,
        /// What had been formed of statements that were forgotten or revised since.
        withdrawn,
    }
    changed: beliefs | relationships | values | drives | reinforced | preferences | withdrawn
);

/// What a night adds to the log.
#[derive(Debug)]
pub enum Change {
    Recurs(Recurrence),
    Prefers(Preferred),
    /// What it was formed of went, or is there again: whether it counts.
    Counts(Scope, FindingId, bool),
}

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
    /// The first that meets the rule: it forms the memory.
    forms: bool,
    rule: Rule,
}

/// When tellings of one attribute become a memory, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    kind: Kind,
    /// Keeps the memory apart from what it was formed of.
    domain: &'static str,
    documents: usize,
    days: usize,
    /// From the first telling to the last.
    lasting: TimeDelta,
}

impl Consolidation {
    /// model.md, "Nightly work": a belief of three episodes of two days; a value of five sources over 180 days.
    fn rule_of(&self, entity: EntityType) -> Rule {
        let recurring = |kind| Rule {
            kind,
            domain: "pattern",
            documents: self.policy.episodes as usize,
            days: self.policy.days as usize,
            lasting: TimeDelta::zero(),
        };
        let lasting = |kind| Rule {
            documents: self.policy.lasting_sources as usize,
            lasting: TimeDelta::days(i64::from(self.policy.lasting_days)),
            ..recurring(kind)
        };
        match entity {
            EntityType::Preference => lasting(Kind::Value),
            EntityType::Goal => lasting(Kind::Drive),
            EntityType::Relationship => recurring(Kind::Relationship),
            _ => recurring(Kind::Belief),
        }
    }

    /// The recurrences of one attribute of one patient: from the telling on at which there are enough documents of enough
    /// days, sure enough on average (model.md: 3 episodes, 2 days, 0.6).
    fn of_attribute(&self, scope: Scope, tellings: &[Telling], cutoff: DateTime<Utc>) -> Vec<Recurrence> {
        let mut found: Vec<Recurrence> = Vec::new();
        for (rule, tellings) in self.enough(tellings) {
            let sure: Vec<f64> = tellings.iter().map(|t| self.effective(t, cutoff)).collect();
            let mean = sure.iter().sum::<f64>() / sure.len() as f64;
            if mean < self.policy.mean_confidence {
                continue;
            }
            let (source, id) = named(scope, &tellings);
            let weakest = sure.iter().copied().fold(1.0, f64::min);
            let forms = found.is_empty();
            found.push(Recurrence { scope, id, source, tellings, weakest, forms, rule });
        }
        found
    }

    /// Tellings of one attribute, as far as each at which there are enough: one a document, oldest first.
    fn enough(&self, tellings: &[Telling]) -> Vec<(Rule, Vec<Telling>)> {
        let Some(rule) = tellings.first().map(|first| self.rule_of(first.entity)) else { return Vec::new() };
        let mut seen: Vec<Telling> = Vec::new();
        let mut found = Vec::new();
        for telling in tellings {
            if telling.negated || seen.iter().any(|t| t.is_same_evidence(telling)) {
                continue;
            }
            seen.push(*telling);
            let mut days: Vec<_> = seen.iter().map(|t| t.asserted_at.date_naive()).collect();
            days.dedup();
            let lasted = telling.asserted_at - seen[0].asserted_at;
            if seen.len() >= rule.documents && days.len() >= rule.days && lasted >= rule.lasting {
                found.push((rule, seen.clone()));
            }
        }
        found
    }

    fn effective(&self, telling: &Telling, cutoff: DateTime<Utc>) -> f64 {
        let days = confidence::age_days(telling.recorded_at, None, cutoff) as f64;
        confidence::effective(&self.rules.decay, Kind::Episode, telling.confidence, days, false)
    }
}

#[async_trait]
impl Job for Consolidation {
    const NAME: JobName = JobName::Consolidation;
    type Change = Change;
    type Status = ConsolidationStatus;

    fn of(means: &Means<'_>) -> Self {
        let Means { policies, keys, .. } = means;
        let policy = policies.consolidation.thresholds.clone();
        Self { policy, rules: policies.rules(), keys: Arc::clone(keys), permits: Permits::of(means) }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Change>, JobError> {
        let after = Cursor::after(from, Uuid::nil())?;
        let settled = condensing::settled(tx, window.org, Self::NAME.code(), window.cutoff).await?;
        // A document that was still being written at the last night has an hour.
        let since = settled.map_or(DateTime::UNIX_EPOCH, |settled| settled - TimeDelta::hours(1));
        let between = since..window.cutoff;
        let patients = condensing::patients(tx, window.org, &between, window.after(after)).await?;
        let next = next_after(&patients, window, |patient| patient.0);
        let told = recurring::tellings(tx, window.org, &patients, window.cutoff).await?;
        let tellings: Vec<Telling> = told.iter().copied().filter(|telling| telling.is_worded).collect();
        let mut changes = Vec::new();
        for (scope, group) in by_attribute(window, &tellings) {
            changes.extend(self.of_attribute(scope, group, window.cutoff).into_iter().map(Change::Recurs));
        }
        let preferred = self.preferred(tx, window, &tellings).await?;
        changes.extend(preferred.into_iter().map(Change::Prefers));
        let ids: Vec<_> = changes.iter().map(|change| (change.scope().patient(), change.id())).collect();
        let known = recurring::known(tx, window.org, &ids).await?;
        changes.extend(self.counted(tx, window, &patients, &told, &changes).await?);
        // Of a patient who denies it nothing is formed; what was formed of what went is withdrawn all the same.
        let permits = self.permits.permitting(tx, window.org, Use::Work, patients.iter().copied()).await?;
        changes.retain(|change| match change.counts() {
            Some((.., counts)) => !counts || permits.contains(&change.scope().patient()),
            None => !known.contains(&change.id()) && permits.contains(&change.scope().patient()),
        });
        Ok(Page { changes, examined: patients.len() as u64, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Change],
    ) -> Result<(), JobError> {
        let keys = desk.keys_by_scope(window.org, changes.iter().map(|change| change.scope().patient())).await?;
        let last = |recurrence: &Recurrence| recurrence.tellings.last().map(|t| (t.patient, t.finding));
        let wanted: Vec<_> = changes.iter().filter_map(Change::recurrence).filter_map(last).collect();
        let words = recurring::words(tx, window.org, &keys, &wanted).await?;
        let mut findings = Vec::new();
        for change in changes {
            let Some(keys) = keys.get(&change.scope()) else { continue };
            match change {
                Change::Counts(..) => {}
                Change::Prefers(preferred) => findings.extend(self.preference(preferred, keys, window.cutoff)),
                Change::Recurs(recurrence) => {
                    let Some(telling) = recurrence.tellings.last() else { continue };
                    let told = words.iter().find(|(id, _, _)| *id == telling.finding);
                    let told = told.map(|(_, words, evidence)| Told { words, evidence });
                    findings.extend(told.and_then(|told| finding(recurrence, telling, keys, told, window.cutoff)));
                }
            }
        }
        let shift = desk.shift(window, &keys, &self.rules);
        let counts: Vec<_> = changes.iter().filter_map(Change::counts).filter(|(s, ..)| keys.contains_key(s)).collect();
        shift.count(tx, &counts).await?;
        shift.append(tx, findings).await?;
        Ok(())
    }

    fn tally(&self, page: &Page<Change>) -> ConsolidationStatus {
        let recurs: Vec<&Recurrence> = page.changes.iter().filter_map(Change::recurrence).collect();
        let formed = |kind| recurs.iter().filter(|one| one.forms && one.rule.kind == kind).count() as u64;
        ConsolidationStatus {
            examined: page.examined,
            beliefs: formed(Kind::Belief),
            relationships: formed(Kind::Relationship),
            values: formed(Kind::Value),
            drives: formed(Kind::Drive),
            reinforced: recurs.iter().filter(|one| !one.forms).count() as u64,
            preferences: page.changes.iter().filter(|change| matches!(change, Change::Prefers(_))).count() as u64,
            withdrawn: page.changes.iter().filter(|change| matches!(change, Change::Counts(.., false))).count() as u64,
        }
    }
}

impl Change {
    fn scope(&self) -> Scope {
        match self {
            Self::Recurs(recurrence) => recurrence.scope,
            Self::Prefers(preferred) => preferred.scope,
            Self::Counts(scope, ..) => *scope,
        }
    }

    fn id(&self) -> FindingId {
        match self {
            Self::Recurs(recurrence) => recurrence.id,
            Self::Prefers(preferred) => preferred.id,
            Self::Counts(_, id, _) => *id,
        }
    }

    fn recurrence(&self) -> Option<&Recurrence> {
        match self {
            Self::Recurs(recurrence) => Some(recurrence),
            Self::Prefers(_) | Self::Counts(..) => None,
        }
    }

    fn counts(&self) -> Option<(Scope, FindingId, bool)> {
        match self {
            Self::Counts(scope, id, counts) => Some((*scope, *id, *counts)),
            Self::Recurs(_) | Self::Prefers(_) => None,
        }
    }
}

/// The tellings of one attribute of one patient after the other.
fn by_attribute<'t>(window: &Window, tellings: &'t [Telling]) -> impl Iterator<Item = (Scope, &'t [Telling])> {
    let org = window.org;
    let groups = tellings.chunk_by(|a, b| a.patient == b.patient && a.attribute == b.attribute);
    groups.filter_map(move |group| Some((Scope::new(org, group[0].patient).ok()?, group)))
}

/// What the recurrence that the last of these tellings makes is known by: its source, and its finding.
fn named(scope: Scope, tellings: &[Telling]) -> (Uuid, FindingId) {
    let last = tellings.last().map(|t| (t.attribute, t.document)).unwrap_or_default();
    let source = derive("consolidation", &[&last.0, last.1.as_bytes()]);
    (source, finding_id(scope, source, 1, &last.0))
}

/// What stands in a telling.
#[derive(Clone, Copy)]
struct Told<'w> {
    words: &'w FindingWords,
    evidence: &'w Option<Evidence>,
}

/// What the log is told.
fn finding(
    change: &Recurrence,
    telling: &Telling,
    keys: &PatientKeys,
    Told { words, evidence }: Told<'_>,
    recorded_at: DateTime<Utc>,
) -> Option<NewFinding> {
    let parents: Vec<Trust> = change.tellings.iter().map(|t| t.trust).collect();
    let first = change.tellings.first().map_or(telling.asserted_at, |first| first.asserted_at);
    let words = FindingWords {
        concept: words.concept.clone(),
        code: words.code.clone(),
        person: words.person.clone(),
        status: Some("recurrent".to_owned()),
        mention: words.mention.clone(),
        formed_from: change.tellings.iter().map(|t| raw_id(change.scope, t.document, t.revision)).collect(),
        ..FindingWords::default()
    };
    let formed = Formed {
        scope: change.scope,
        id: change.id,
        source: change.source,
        text: None,
        attribute: keys.hash(change.rule.domain, &telling.attribute),
        kind: change.rule.kind,
        document_type: None,
        parents: &parents,
        weakest: change.weakest,
        extraction_confidence: change.tellings.iter().map(|t| t.extraction_confidence).fold(1.0, f64::min),
        span: (first, telling.asserted_at),
        recorded_at,
        words,
        evidence: evidence.clone(),
        author: AUTHOR,
    };
    formed.finding()
}

#[cfg(test)]
#[path = "consolidation/consolidation_tests.rs"]
mod tests;
