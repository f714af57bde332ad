//! Consolidation of recurring statements, deterministic and without any model (seed 001, section 7; model.md, "Job
//! runs"). What recurs in several documents becomes a belief, a recurring person a relationship, what lasts over half a
//! year a value or a drive. Stated wishes about conversation and treatment become one preference per topic
//! (`preferences`). A derived memory names its captures, is never trusted more than the worst of them, and is a
//! hypothesis until a person verifies it. Each further mention reinforces it, once.

mod preferences;
mod support;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use uuid::Uuid;

use super::derived_finding::DerivedFinding;
use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::next_after;
use super::ledger::RunCursor;
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
use anamnesis_store::consents::MemoryUse;
use anamnesis_store::maintenance::{ProjectionRules, raw_id};
use anamnesis_store::records::{Evidence, FindingWords, NewFinding, finding_id};
use anamnesis_store::recurrence::{self, Mention};
use anamnesis_store::summary_inputs;
use preferences::PreferenceMention;

/// The author of the findings, in the log.
const AUTHOR: &str = "consolidation";

/// The job.
pub(crate) struct Consolidation {
    pub(crate) policy: ConsolidationThresholds,
    pub(crate) rules: ProjectionRules,
    keys: Arc<dyn KeyStore>,
    permits: Permits,
}

/// Thresholds of `jobs/consolidation.toml` (model.md, "Job runs").
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsolidationThresholds {
    pub(crate) episodes: u32,
    pub(crate) days: u32,
    pub(crate) mean_confidence: f64,
    pub(crate) trait_min_sources: u32,
    pub(crate) trait_min_days: u32,
}

impl Thresholds for ConsolidationThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if self.episodes < 2 || self.days < 1 || self.days > self.episodes {
            return Err("episodes is at least 2, days is 1 to episodes");
        }
        if self.trait_min_sources < 4 || !(1..=3_650).contains(&self.trait_min_days) {
            return Err("trait_min_sources is at least 4 (three reinforcements), trait_min_days is 1 to 3650");
        }
        let unit = (0.0..=1.0).contains(&self.mean_confidence);
        if unit { Ok(()) } else { Err("mean_confidence is 0 to 1") }
    }
}

status!(
    /// Result of a consolidation run.
    ConsolidationStatus {
        /// Patients with new documents.
        examined,
        /// Beliefs that were formed.
        beliefs,
        /// People who recur.
        relationships,
        /// Preferences of over half a year.
        values,
        /// Goals of over half a year.
        drives,
        /// Memories that another mention reinforced.
        reinforced,
        /// Statements of how to be spoken with and treated that came to their topic.
        preferences,
        /// Findings whose sources were forgotten or revised since.
        withdrawn,
    }
    changed: beliefs | relationships | values | drives | reinforced | preferences | withdrawn
);

/// An addition of a run to the log.
#[derive(Debug)]
pub(crate) enum ConsolidationChange {
    AddRecurrence(Recurrence),
    AddPreference(PreferenceMention),
    /// Sources disappeared or returned: whether the finding counts.
    SetLive(Scope, FindingId, bool),
}

/// A mention from which on an attribute counts as recurring.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recurrence {
    scope: Scope,
    /// The finding to be added to the log.
    id: FindingId,
    source: Uuid,
    /// This mention and those before it, oldest first, one a document.
    mentions: Vec<Mention>,
    /// Effective confidence of the weakest of them at the time of the run.
    weakest: f64,
    /// The first that meets the rule: it forms the memory.
    forms: bool,
    rule: RecurrenceRule,
}

/// When mentions of one attribute become a memory, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RecurrenceRule {
    kind: Kind,
    /// Separates the memory from its sources.
    domain: &'static str,
    documents: usize,
    days: usize,
    /// From the first mention to the last.
    lasting: TimeDelta,
}

impl Consolidation {
    /// model.md, "Job runs": a belief of three episodes of two days; a value of five sources over 180 days.
    fn rule_of(&self, entity: EntityType) -> RecurrenceRule {
        let recurring = |kind| RecurrenceRule {
            kind,
            domain: "pattern",
            documents: self.policy.episodes as usize,
            days: self.policy.days as usize,
            lasting: TimeDelta::zero(),
        };
        let lasting = |kind| RecurrenceRule {
            documents: self.policy.trait_min_sources as usize,
            lasting: TimeDelta::days(i64::from(self.policy.trait_min_days)),
            ..recurring(kind)
        };
        match entity {
            EntityType::Preference => lasting(Kind::Value),
            EntityType::Goal => lasting(Kind::Drive),
            EntityType::Relationship => recurring(Kind::Relationship),
            _ => recurring(Kind::Belief),
        }
    }

    /// The recurrences of one attribute of one patient: from the mention on at which there are enough documents of
    /// enough days, sure enough on average (model.md: 3 episodes, 2 days, 0.6).
    fn of_attribute(&self, scope: Scope, mentions: &[Mention], cutoff: DateTime<Utc>) -> Vec<Recurrence> {
        let mut found: Vec<Recurrence> = Vec::new();
        for (rule, mentions) in self.enough(mentions) {
            let sure: Vec<f64> = mentions.iter().map(|t| self.effective(t, cutoff)).collect();
            let mean = sure.iter().sum::<f64>() / sure.len() as f64;
            if mean < self.policy.mean_confidence {
                continue;
            }
            let (source, id) = named(scope, &mentions);
            let weakest = sure.iter().copied().fold(1.0, f64::min);
            let forms = found.is_empty();
            found.push(Recurrence { scope, id, source, mentions, weakest, forms, rule });
        }
        found
    }

    /// Tellings of one attribute, as far as each at which there are enough: one a document, oldest first.
    fn enough(&self, mentions: &[Mention]) -> Vec<(RecurrenceRule, Vec<Mention>)> {
        let Some(rule) = mentions.first().map(|first| self.rule_of(first.entity)) else { return Vec::new() };
        let mut seen: Vec<Mention> = Vec::new();
        let mut found = Vec::new();
        for mention in mentions {
            if mention.negated || seen.iter().any(|t| t.is_same_evidence(mention)) {
                continue;
            }
            seen.push(*mention);
            let mut days: Vec<_> = seen.iter().map(|t| t.asserted_at.date_naive()).collect();
            days.dedup();
            let lasted = mention.asserted_at - seen[0].asserted_at;
            if seen.len() >= rule.documents && days.len() >= rule.days && lasted >= rule.lasting {
                found.push((rule, seen.clone()));
            }
        }
        found
    }

    fn effective(&self, mention: &Mention, cutoff: DateTime<Utc>) -> f64 {
        let days = confidence::age_days(mention.recorded_at, None, cutoff) as f64;
        confidence::effective(&self.rules.decay, Kind::Episode, mention.confidence, days, false)
    }
}

#[async_trait]
impl Job for Consolidation {
    const NAME: JobName = JobName::Consolidation;
    type Change = ConsolidationChange;
    type Status = ConsolidationStatus;

    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self {
        let JobDependencies { policies, keys, .. } = dependencies;
        let policy = policies.consolidation.thresholds.clone();
        Self {
            policy,
            rules: policies.rules(),
            keys: Arc::clone(keys),
            permits: Permits::from_dependencies(dependencies),
        }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<ConsolidationChange>, JobError> {
        let after = RunCursor::after(from, Uuid::nil())?;
        let settled = summary_inputs::settled(tx, window.org, Self::NAME.code(), window.cutoff).await?;
        // A document that was still being written at the last run has an hour.
        let since = settled.map_or(DateTime::UNIX_EPOCH, |settled| settled - TimeDelta::hours(1));
        let between = since..window.cutoff;
        let patients = summary_inputs::patients(tx, window.org, &between, window.after(after)).await?;
        let next = next_after(&patients, window, |patient| patient.0);
        let all_mentions = recurrence::mentions(tx, window.org, &patients, window.cutoff).await?;
        let mentions: Vec<Mention> = all_mentions.iter().copied().filter(|mention| mention.is_worded).collect();
        let mut changes = Vec::new();
        for (scope, group) in by_attribute(window, &mentions) {
            changes.extend(
                self.of_attribute(scope, group, window.cutoff).into_iter().map(ConsolidationChange::AddRecurrence),
            );
        }
        let preferred = self.preferred(tx, window, &mentions).await?;
        changes.extend(preferred.into_iter().map(ConsolidationChange::AddPreference));
        let ids: Vec<_> = changes.iter().map(|change| (change.scope().patient(), change.id())).collect();
        let known = recurrence::known(tx, window.org, &ids).await?;
        changes.extend(self.counted(tx, window, &patients, &all_mentions, &changes).await?);
        // A patient who denies it gets no new derived findings; those whose sources disappeared are withdrawn
        // nevertheless.
        let permits = self.permits.permitting(tx, window.org, MemoryUse::Work, patients.iter().copied()).await?;
        changes.retain(|change| match change.counts() {
            Some((.., counts)) => !counts || permits.contains(&change.scope().patient()),
            None => !known.contains(&change.id()) && permits.contains(&change.scope().patient()),
        });
        Ok(JobPage { changes, examined: patients.len() as u64, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[ConsolidationChange],
    ) -> Result<(), JobError> {
        let keys = context.keys_by_scope(window.org, changes.iter().map(|change| change.scope().patient())).await?;
        let last = |recurrence: &Recurrence| recurrence.mentions.last().map(|t| (t.patient, t.finding));
        let wanted: Vec<_> = changes.iter().filter_map(ConsolidationChange::recurrence).filter_map(last).collect();
        let words = recurrence::words(tx, window.org, &keys, &wanted).await?;
        let mut findings = Vec::new();
        for change in changes {
            let Some(keys) = keys.get(&change.scope()) else { continue };
            match change {
                ConsolidationChange::SetLive(..) => {}
                ConsolidationChange::AddPreference(preferred) => {
                    findings.extend(self.preference(preferred, keys, window.cutoff))
                }
                ConsolidationChange::AddRecurrence(recurrence) => {
                    let Some(mention) = recurrence.mentions.last() else { continue };
                    let text = words.iter().find(|(id, _, _)| *id == mention.finding);
                    let text = text.map(|(_, words, evidence)| MentionText { words, evidence });
                    findings.extend(text.and_then(|text| finding(recurrence, mention, keys, text, window.cutoff)));
                }
            }
        }
        let shift = context.shift(window, &keys, &self.rules);
        let counts: Vec<_> =
            changes.iter().filter_map(ConsolidationChange::counts).filter(|(s, ..)| keys.contains_key(s)).collect();
        shift.count(tx, &counts).await?;
        shift.append(tx, findings).await?;
        Ok(())
    }

    fn tally(&self, page: &JobPage<ConsolidationChange>) -> ConsolidationStatus {
        let recurs: Vec<&Recurrence> = page.changes.iter().filter_map(ConsolidationChange::recurrence).collect();
        let formed = |kind| recurs.iter().filter(|one| one.forms && one.rule.kind == kind).count() as u64;
        ConsolidationStatus {
            examined: page.examined,
            beliefs: formed(Kind::Belief),
            relationships: formed(Kind::Relationship),
            values: formed(Kind::Value),
            drives: formed(Kind::Drive),
            reinforced: recurs.iter().filter(|one| !one.forms).count() as u64,
            preferences: page
                .changes
                .iter()
                .filter(|change| matches!(change, ConsolidationChange::AddPreference(_)))
                .count() as u64,
            withdrawn: page
                .changes
                .iter()
                .filter(|change| matches!(change, ConsolidationChange::SetLive(.., false)))
                .count() as u64,
        }
    }
}

impl ConsolidationChange {
    fn scope(&self) -> Scope {
        match self {
            Self::AddRecurrence(recurrence) => recurrence.scope,
            Self::AddPreference(preferred) => preferred.scope,
            Self::SetLive(scope, ..) => *scope,
        }
    }

    fn id(&self) -> FindingId {
        match self {
            Self::AddRecurrence(recurrence) => recurrence.id,
            Self::AddPreference(preferred) => preferred.id,
            Self::SetLive(_, id, _) => *id,
        }
    }

    fn recurrence(&self) -> Option<&Recurrence> {
        match self {
            Self::AddRecurrence(recurrence) => Some(recurrence),
            Self::AddPreference(_) | Self::SetLive(..) => None,
        }
    }

    fn counts(&self) -> Option<(Scope, FindingId, bool)> {
        match self {
            Self::SetLive(scope, id, counts) => Some((*scope, *id, *counts)),
            Self::AddRecurrence(_) | Self::AddPreference(_) => None,
        }
    }
}

/// The mentions of one attribute of one patient after the other.
fn by_attribute<'t>(window: &JobWindow, mentions: &'t [Mention]) -> impl Iterator<Item = (Scope, &'t [Mention])> {
    let org = window.org;
    let groups = mentions.chunk_by(|a, b| a.patient == b.patient && a.attribute == b.attribute);
    groups.filter_map(move |group| Some((Scope::new(org, group[0].patient).ok()?, group)))
}

/// The ids of the recurrence that the last of these mentions completes: its source, and its finding.
fn named(scope: Scope, mentions: &[Mention]) -> (Uuid, FindingId) {
    let last = mentions.last().map(|t| (t.attribute, t.document)).unwrap_or_default();
    let source = derive("consolidation", &[&last.0, last.1.as_bytes()]);
    (source, finding_id(scope, source, 1, &last.0))
}

/// The part of a mention that is compared.
#[derive(Clone, Copy)]
struct MentionText<'w> {
    words: &'w FindingWords,
    evidence: &'w Option<Evidence>,
}

/// The finding that is added to the log.
fn finding(
    change: &Recurrence,
    mention: &Mention,
    keys: &PatientKeys,
    MentionText { words, evidence }: MentionText<'_>,
    recorded_at: DateTime<Utc>,
) -> Option<NewFinding> {
    let parents: Vec<Trust> = change.mentions.iter().map(|t| t.trust).collect();
    let first = change.mentions.first().map_or(mention.asserted_at, |first| first.asserted_at);
    let words = FindingWords {
        concept: words.concept.clone(),
        code: words.code.clone(),
        person: words.person.clone(),
        status: Some("recurrent".to_owned()),
        mention: words.mention.clone(),
        formed_from: change.mentions.iter().map(|t| raw_id(change.scope, t.document, t.revision)).collect(),
        ..FindingWords::default()
    };
    let formed = DerivedFinding {
        scope: change.scope,
        id: change.id,
        source: change.source,
        text: None,
        attribute: keys.hash(change.rule.domain, &mention.attribute),
        kind: change.rule.kind,
        document_type: None,
        parents: &parents,
        weakest: change.weakest,
        extraction_confidence: change.mentions.iter().map(|t| t.extraction_confidence).fold(1.0, f64::min),
        span: (first, mention.asserted_at),
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
