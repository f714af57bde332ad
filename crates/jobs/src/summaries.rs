//! Summaries of documents (episodes), of closed conversations, of weeks and of quarters, made only from extracted facts
//! (seed 001, sections 2 and 7; seed 003, phase 3; `core::summary`). They consist of fixed sentences, which a
//! configured language model may connect if it states the same (`wording`). Each summary names its captures, has the
//! trust of the worst of them, is indexed, and is the same however often the job runs. Poorer output never replaces
//! richer, except after forgetting.

mod periods;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
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
use anamnesis_core::clock::micros;
use anamnesis_core::confidence;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::Temporality;
use anamnesis_core::ids::{FindingId, PatientId, derive};
use anamnesis_core::memory::Kind;
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_core::summary::{SummarizedFact, Summary, SummaryLanguage, SummaryPeriod, render};
use anamnesis_crypto::{KeyStore, PatientKeys};
use anamnesis_extraction::llm::SummaryParaphraser;
use anamnesis_sql::Transaction;
use anamnesis_store::consents::MemoryUse;
use anamnesis_store::maintenance::{AUTHOR, NewSummary, ProjectionRules, raw_id};
use anamnesis_store::records::{Evidence, FindingWords, finding_id};
use anamnesis_store::summary_inputs::{self, KnownSummary, SummaryFact};
use anamnesis_text::Span;
use periods::{quarter, week};

/// The job.
pub(crate) struct Summaries {
    pub(crate) policy: SummariesThresholds,
    pub(crate) rules: ProjectionRules,
    keys: Arc<dyn KeyStore>,
    writer: Option<SummaryParaphraser>,
    permits: Permits,
}

/// Thresholds of `jobs/summaries.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummariesThresholds {
    pub(crate) facts: u32,
    pub(crate) period_documents: u32,
    pub(crate) session_closed_hours: u32,
}

impl Thresholds for SummariesThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if self.facts == 0 || self.period_documents == 0 {
            return Err("facts and period_documents are at least 1");
        }
        if (1..=720).contains(&self.session_closed_hours) { Ok(()) } else { Err("session_closed_hours is 1 to 720") }
    }
}

status!(
    /// Result of a summaries run.
    SummariesStatus {
        /// Patients with new documents, or whose week or quarter ended.
        examined,
        /// Episodes of documents.
        episodes,
        /// Summaries of conversations.
        sessions,
        weeks,
        quarters,
        /// Summaries without any remaining facts.
        withdrawn,
        /// Summaries in a model's words, and those whose words did not hold or did not come.
        worded,
        unworded,
    }
    changed: episodes | sessions | weeks | quarters | withdrawn
);

/// A period to be written, or to be withdrawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SummaryUnit {
    scope: Scope,
    id: Uuid,
    period: SummaryPeriod,
    facts: Vec<SummaryFact>,
    /// Distinct facts.
    distinct: u32,
    input: Uuid,
    /// Its fixed sentences, where a model is to connect them.
    fixed: Option<String>,
    /// The same as the model has it.
    worded: Option<String>,
}

/// The key of a period, within its patient.
type SummaryKey = (SummaryPeriod, Vec<u8>);

impl Summaries {
    /// Since when documents may have arrived, or conversations closed, that no run has summarised yet.
    fn since(&self, settled: Option<DateTime<Utc>>, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        let Some(settled) = settled else { return DateTime::UNIX_EPOCH };
        // Documents that arrived during the last run have an hour; a conversation that was open then may be closed now.
        let mut since = settled - TimeDelta::hours(i64::from(self.policy.session_closed_hours) + 1);
        for (start, end) in [week(settled), quarter(settled)] {
            if end <= cutoff {
                since = since.min(start);
            }
        }
        since
    }

    /// The periods of one patient that can be summarised now.
    fn units(&self, scope: Scope, facts: &[SummaryFact], cutoff: DateTime<Utc>) -> BTreeMap<Uuid, SummaryUnit> {
        let mut periods: BTreeMap<SummaryKey, Vec<SummaryFact>> = BTreeMap::new();
        for fact in facts {
            match (fact.document_type, fact.session) {
                (DocumentType::ChatMessage, Some(session)) => {
                    periods.entry((SummaryPeriod::Session, session.to_vec())).or_default().push(*fact);
                }
                (DocumentType::ChatMessage, None) => {}
                _ => {
                    periods.entry((SummaryPeriod::Document, fact.document.as_bytes().to_vec())).or_default().push(*fact)
                }
            }
            for (period, (start, end)) in
                [(SummaryPeriod::Week, week(fact.at)), (SummaryPeriod::Quarter, quarter(fact.at))]
            {
                if end <= cutoff {
                    let key = micros(start).to_be_bytes().to_vec();
                    periods.entry((period, key)).or_default().push(*fact);
                }
            }
        }
        let rendered = periods.into_iter().filter(|((period, _), facts)| self.is_tellable(*period, facts, cutoff));
        rendered.map(|(key, facts)| unit(scope, &key, facts)).map(|unit| (unit.id, unit)).collect()
    }

    fn is_tellable(&self, period: SummaryPeriod, facts: &[SummaryFact], cutoff: DateTime<Utc>) -> bool {
        let documents: BTreeSet<Uuid> = facts.iter().map(|fact| fact.document).collect();
        let enough = match period {
            SummaryPeriod::Document => true,
            SummaryPeriod::Session => {
                let last = facts.iter().map(|fact| fact.at).max();
                last.is_some_and(|at| at + TimeDelta::hours(i64::from(self.policy.session_closed_hours)) <= cutoff)
            }
            SummaryPeriod::Week | SummaryPeriod::Quarter => documents.len() >= self.policy.period_documents as usize,
        };
        enough && distinct(facts) >= self.policy.facts
    }

    fn effective(&self, fact: &SummaryFact, cutoff: DateTime<Utc>) -> f64 {
        let days = confidence::age_days(fact.recorded_at, None, cutoff) as f64;
        confidence::effective(&self.rules.decay, Kind::Episode, fact.confidence, days, false)
    }

    /// The summary of a unit, with the words of its facts.
    fn condensed(
        &self,
        unit: &SummaryUnit,
        words: &FactTexts,
        keys: &PatientKeys,
        cutoff: DateTime<Utc>,
    ) -> Option<NewSummary> {
        let group = keys.hash("summary", unit.id.as_bytes());
        let first = unit.facts.first().map_or(cutoff, |fact| fact.at);
        let last = unit.facts.last().map_or(first, |fact| fact.at);
        let language = summary_language(&unit.facts);
        let mut condensed = NewSummary {
            scope: unit.scope,
            id: unit.id,
            period: unit.period,
            span: (first, last),
            input: unit.input,
            facts: unit.distinct,
            language,
            rendered: None,
            group,
        };
        if unit.facts.is_empty() {
            return Some(condensed);
        }
        let mut account = unit.account(words)?;
        // Words that were given for another text, before something of it was redacted, are not taken.
        if let Some(worded) = unit.worded.as_ref().filter(|_| unit.fixed.as_ref() == Some(&account.text)) {
            account.text.clone_from(worded);
        }
        let quoted = || unit.facts.iter().find_map(|row| words.get(&row.finding)?.1.clone());
        let own = || Evidence { quote: account.text.clone(), span: Span::new(0, account.text.len()) };
        let evidence = if unit.period.has_text() { Some(own()) } else { quoted() };
        let trusts: Vec<Trust> = unit.facts.iter().map(|row| row.trust).collect();
        let formed = DerivedFinding {
            scope: unit.scope,
            id: finding_id(unit.scope, unit.id, 1, unit.input.as_bytes()),
            source: unit.id,
            text: None,
            attribute: group,
            kind: if unit.period == SummaryPeriod::Document { Kind::Episode } else { Kind::Note },
            document_type: unit.period.has_text().then_some(DocumentType::Analysis),
            parents: &trusts,
            weakest: unit.facts.iter().map(|row| self.effective(row, cutoff)).fold(1.0, f64::min),
            extraction_confidence: unit.facts.iter().map(|row| row.extraction_confidence).fold(1.0, f64::min),
            span: (first, last),
            recorded_at: cutoff,
            words: summary_words(unit, &account),
            evidence,
            author: AUTHOR,
        };
        condensed.rendered = Some((account, formed.finding()?));
        Some(condensed)
    }
}

impl SummaryUnit {
    /// In fixed sentences.
    fn account(&self, words: &FactTexts) -> Option<Summary> {
        let facts: Vec<SummarizedFact> =
            self.facts.iter().filter_map(|row| fact(row, &words.get(&row.finding)?.0)).collect();
        render(self.period, summary_language(&self.facts), &facts, 1)
    }

    fn findings(&self) -> impl Iterator<Item = (PatientId, FindingId)> + '_ {
        self.facts.iter().map(|fact| (fact.patient, fact.finding))
    }
}

type FactTexts = std::collections::HashMap<FindingId, (FindingWords, Option<Evidence>)>;

fn fact(row: &SummaryFact, words: &FindingWords) -> Option<SummarizedFact> {
    (!words.concept.is_empty()).then(|| SummarizedFact {
        document: row.document,
        entity: row.entity,
        name: words.mention.clone(),
        concept: words.concept.clone(),
        dose: words.dose.clone(),
        frequency: words.frequency.clone(),
        value: words.value.clone(),
        negated: row.negated,
        ended: row.ended,
        past: row.temporality == Temporality::Historical,
        experiencer: row.experiencer,
    })
}

fn summary_words(unit: &SummaryUnit, account: &Summary) -> FindingWords {
    let mut captures: Vec<Uuid> = Vec::new();
    for row in &unit.facts {
        let raw = raw_id(unit.scope, row.document, row.revision);
        if !captures.contains(&raw) {
            captures.push(raw);
        }
    }
    FindingWords {
        concept: account.text.clone(),
        formed_from: captures,
        account: Some(account.clone()),
        ..FindingWords::default()
    }
}

fn unit(scope: Scope, of: &SummaryKey, facts: Vec<SummaryFact>) -> SummaryUnit {
    let (period, key) = of;
    let (org, patient) = (scope.org().0, scope.patient().0);
    let id = derive("summary", &[org.as_bytes(), patient.as_bytes(), period.code().as_bytes(), key]);
    let ids: Vec<&[u8]> = facts.iter().map(|fact| fact.finding.0.as_bytes().as_slice()).collect();
    let input = derive("summary.input", &ids);
    let distinct = distinct(&facts);
    SummaryUnit { scope, id, period: *period, distinct, facts, input, fixed: None, worded: None }
}

fn distinct(facts: &[SummaryFact]) -> u32 {
    let distinct: BTreeSet<_> = facts.iter().map(|fact| (fact.attribute, fact.negated, fact.ended)).collect();
    u32::try_from(distinct.len()).unwrap_or(u32::MAX)
}

fn summary_language(facts: &[SummaryFact]) -> SummaryLanguage {
    let english = facts.iter().filter(|fact| fact.language == SummaryLanguage::English).count();
    if english * 2 > facts.len() { SummaryLanguage::English } else { SummaryLanguage::Spanish }
}

/// The summary, if it differs from the stored one. Poorer output never replaces richer; forgotten facts are removed.
fn changed(
    scope: Scope,
    units: BTreeMap<Uuid, SummaryUnit>,
    known: &BTreeMap<Uuid, KnownSummary>,
    forgotten: Option<DateTime<Utc>>,
) -> Vec<SummaryUnit> {
    let since = |known: &KnownSummary| forgotten.is_some_and(|at| at >= known.made_at);
    let gone: Vec<SummaryUnit> = known
        .iter()
        .filter(|(id, known)| !units.contains_key(id) && since(known))
        .map(|(id, known)| SummaryUnit {
            scope,
            id: *id,
            period: known.period,
            facts: Vec::new(),
            distinct: 0,
            input: Uuid::nil(),
            fixed: None,
            worded: None,
        })
        .collect();
    let anew = units.into_values().filter(|unit| match known.get(&unit.id) {
        None => true,
        Some(known) => known.input != unit.input && (unit.distinct >= known.facts || since(known)),
    });
    anew.chain(gone).collect()
}

#[async_trait]
impl Job for Summaries {
    const NAME: JobName = JobName::Summaries;
    type Change = SummaryUnit;
    type Status = SummariesStatus;

    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self {
        let JobDependencies { policies, keys, writer, .. } = dependencies;
        let policy = policies.summaries.thresholds.clone();
        Self {
            policy,
            rules: policies.rules(),
            keys: Arc::clone(keys),
            writer: writer.cloned(),
            permits: Permits::from_dependencies(dependencies),
        }
    }

    fn prepares(&self) -> bool {
        self.writer.is_some()
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<SummaryUnit>, JobError> {
        let after = RunCursor::after(from, Uuid::nil())?;
        let settled = summary_inputs::settled(tx, window.org, Self::NAME.code(), window.cutoff).await?;
        let between = self.since(settled, window.cutoff)..window.cutoff;
        let patients = summary_inputs::patients(tx, window.org, &between, window.after(after)).await?;
        let next = next_after(&patients, window, |patient| patient.0);
        if patients.is_empty() {
            return Ok(JobPage::end());
        }
        let facts = summary_inputs::facts(tx, window.org, &patients, window.cutoff).await?;
        let mut known: BTreeMap<PatientId, BTreeMap<Uuid, KnownSummary>> = BTreeMap::new();
        for ((patient, id), one) in summary_inputs::known(tx, window.org, &patients).await? {
            known.entry(patient).or_default().insert(id, one);
        }
        let forgotten = summary_inputs::forgotten(tx, window.org, &patients).await?;
        let permits = self.permits.permitting(tx, window.org, MemoryUse::Show, patients.iter().copied()).await?;
        let mut changes = Vec::new();
        for patient in &patients {
            let Ok(scope) = Scope::new(window.org, *patient) else { continue };
            // A patient who denies it gets no new summary; forgotten facts are left out.
            let own = facts.iter().filter(|fact| fact.patient == *patient && permits.contains(patient));
            let own: Vec<SummaryFact> = own.copied().collect();
            let units = self.units(scope, &own, window.cutoff);
            let before = known.remove(patient).unwrap_or_default();
            changes.extend(changed(scope, units, &before, forgotten.get(patient).copied()));
        }
        if self.prepares() && !window.preview {
            self.put_down(tx, window, &mut changes).await?;
        }
        Ok(JobPage { changes, examined: patients.len() as u64, next })
    }

    async fn prepare(&self, _: &JobContext<'_>, _: &JobWindow, changes: &mut [SummaryUnit]) -> Result<(), JobError> {
        self.word(changes).await;
        Ok(())
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[SummaryUnit],
    ) -> Result<(), JobError> {
        let keys = context.keys_by_scope(window.org, changes.iter().map(|unit| unit.scope.patient())).await?;
        let wanted: BTreeSet<_> = changes.iter().flat_map(SummaryUnit::findings).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let words = summary_inputs::words(tx, window.org, &keys, &wanted).await?;
        let gone = if self.prepares() { self.gone(tx, window, changes).await? } else { BTreeSet::new() };
        let rendered = changes.iter().filter(|unit| !gone.contains(&unit.id)).filter_map(|unit| {
            let keys = keys.get(&unit.scope)?;
            self.condensed(unit, &words, keys, window.cutoff)
        });
        let rendered: Vec<NewSummary> = rendered.collect();
        Ok(context.shift(window, &keys, &self.rules).condense(tx, rendered).await?)
    }

    fn tally(&self, page: &JobPage<SummaryUnit>) -> SummariesStatus {
        let rendered = page.changes.iter().filter(|unit| !unit.facts.is_empty());
        let count = |period| rendered.clone().filter(|unit| unit.period == period).count() as u64;
        SummariesStatus {
            examined: page.examined,
            episodes: count(SummaryPeriod::Document),
            sessions: count(SummaryPeriod::Session),
            weeks: count(SummaryPeriod::Week),
            quarters: count(SummaryPeriod::Quarter),
            withdrawn: page.changes.iter().filter(|unit| unit.facts.is_empty()).count() as u64,
            worded: page.changes.iter().filter(|unit| unit.worded.is_some()).count() as u64,
            unworded: page.changes.iter().filter(|unit| unit.fixed.is_some() && unit.worded.is_none()).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn poorer_output_replaces_richer_only_where_something_was_forgotten() {
        let scope = Scope::new(Uuid::from_u128(1).into(), Uuid::from_u128(2).into()).unwrap();
        let at = utc("2026-06-20T10:00:00Z");
        let unit = |distinct| SummaryUnit {
            scope,
            id: Uuid::from_u128(7),
            period: SummaryPeriod::Week,
            facts: Vec::new(),
            distinct,
            input: Uuid::from_u128(distinct.into()),
            fixed: None,
            worded: None,
        };
        let known = BTreeMap::from([(
            Uuid::from_u128(7),
            KnownSummary { period: SummaryPeriod::Week, facts: 4, input: Uuid::from_u128(4), made_at: at },
        )]);
        let after = |distinct, forgotten: Option<&str>| {
            let units = BTreeMap::from([(Uuid::from_u128(7), unit(distinct))]);
            changed(scope, units, &known, forgotten.map(utc)).len()
        };
        assert_eq!(after(4, None), 0, "the same");
        assert_eq!(after(5, None), 1, "richer");
        assert_eq!(after(3, None), 0, "poorer");
        assert_eq!(after(3, Some("2026-06-19T10:00:00Z")), 0, "forgotten before");
        assert_eq!(after(3, Some("2026-06-21T10:00:00Z")), 1);
        assert!(changed(scope, BTreeMap::new(), &known, None).is_empty());
        assert_eq!(changed(scope, BTreeMap::new(), &known, Some(utc("2026-06-21T10:00:00Z"))).len(), 1);
    }
}
