//! Summaries: what came in is told as episodes of documents, summaries of closed conversations, of weeks and of quarters,
//! from the extracted facts alone (seed 001, sections 2 and 7; seed 003, phase 3; `domain::account`), in fixed sentences, which
//! a language model may connect where one is configured and says the same (`wording`).
//! Each names the captures that it was made from, is trusted like the worst of them, is indexed, and stands for the same
//! facts however often the night is run. Poorer output never replaces richer, except where something was forgotten.

mod periods;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
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
use anamnesis_core::account::{Account, Fact, Stretch, Tongue, tell};
use anamnesis_core::clock::micros;
use anamnesis_core::confidence;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::Temporality;
use anamnesis_core::ids::{FindingId, PatientId, derive};
use anamnesis_core::memory::Kind;
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyStore, PatientKeys};
use anamnesis_extraction::model::Writer;
use anamnesis_sql::Transaction;
use anamnesis_store::condensing::{self, FactRow, Known};
use anamnesis_store::consents::Use;
use anamnesis_store::nightly::{AUTHOR, Condensed, Rules, raw_id};
use anamnesis_store::records::{Evidence, FindingWords, finding_id};
use anamnesis_text::Span;
use periods::{quarter, week};

/// The job.
pub(crate) struct Summaries {
    pub(crate) policy: SummariesThresholds,
    pub(crate) rules: Rules,
    keys: Arc<dyn KeyStore>,
    writer: Option<Writer>,
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
    /// What a night of summaries did.
    SummariesStatus {
        /// Patients of whom something came in, or whose week or quarter ended.
        examined,
        /// Episodes of documents.
        episodes,
        /// Summaries of conversations.
        sessions,
        weeks,
        quarters,
        /// Accounts of which nothing is left to tell.
        withdrawn,
        /// Accounts in a model's words, and those whose words did not hold or did not come.
        worded,
        unworded,
    }
    changed: episodes | sessions | weeks | quarters | withdrawn
);

/// A stretch to be told, or to be told no more.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    scope: Scope,
    id: Uuid,
    stretch: Stretch,
    facts: Vec<FactRow>,
    /// Distinct facts.
    distinct: u32,
    input: Uuid,
    /// Its fixed sentences, where a model is to connect them.
    fixed: Option<String>,
    /// The same as the model has it.
    worded: Option<String>,
}

/// What a stretch is keyed by, within its patient.
type Key = (Stretch, Vec<u8>);

impl Summaries {
    /// Since when something may have come in, or have been closed, that no night has told yet.
    fn since(&self, settled: Option<DateTime<Utc>>, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        let Some(settled) = settled else { return DateTime::UNIX_EPOCH };
        // What was still being written at the last night has an hour; a conversation that was open then may be closed now.
        let mut since = settled - TimeDelta::hours(i64::from(self.policy.session_closed_hours) + 1);
        for (start, end) in [week(settled), quarter(settled)] {
            if end <= cutoff {
                since = since.min(start);
            }
        }
        since
    }

    /// The stretches of one patient that can be told now.
    fn units(&self, scope: Scope, facts: &[FactRow], cutoff: DateTime<Utc>) -> BTreeMap<Uuid, Unit> {
        let mut stretches: BTreeMap<Key, Vec<FactRow>> = BTreeMap::new();
        for fact in facts {
            match (fact.document_type, fact.session) {
                (DocumentType::ChatMessage, Some(session)) => {
                    stretches.entry((Stretch::Session, session.to_vec())).or_default().push(*fact);
                }
                (DocumentType::ChatMessage, None) => {}
                _ => stretches.entry((Stretch::Document, fact.document.as_bytes().to_vec())).or_default().push(*fact),
            }
            for (stretch, (start, end)) in [(Stretch::Week, week(fact.at)), (Stretch::Quarter, quarter(fact.at))] {
                if end <= cutoff {
                    let key = micros(start).to_be_bytes().to_vec();
                    stretches.entry((stretch, key)).or_default().push(*fact);
                }
            }
        }
        let told = stretches.into_iter().filter(|((stretch, _), facts)| self.is_tellable(*stretch, facts, cutoff));
        told.map(|(key, facts)| unit(scope, &key, facts)).map(|unit| (unit.id, unit)).collect()
    }

    fn is_tellable(&self, stretch: Stretch, facts: &[FactRow], cutoff: DateTime<Utc>) -> bool {
        let documents: BTreeSet<Uuid> = facts.iter().map(|fact| fact.document).collect();
        let enough = match stretch {
            Stretch::Document => true,
            Stretch::Session => {
                let last = facts.iter().map(|fact| fact.at).max();
                last.is_some_and(|at| at + TimeDelta::hours(i64::from(self.policy.session_closed_hours)) <= cutoff)
            }
            Stretch::Week | Stretch::Quarter => documents.len() >= self.policy.period_documents as usize,
        };
        enough && distinct(facts) >= self.policy.facts
    }

    fn effective(&self, fact: &FactRow, cutoff: DateTime<Utc>) -> f64 {
        let days = confidence::age_days(fact.recorded_at, None, cutoff) as f64;
        confidence::effective(&self.rules.decay, Kind::Episode, fact.confidence, days, false)
    }

    /// What is written of a unit, with the words of its facts.
    fn condensed(&self, unit: &Unit, words: &Words, keys: &PatientKeys, cutoff: DateTime<Utc>) -> Option<Condensed> {
        let group = keys.hash("summary", unit.id.as_bytes());
        let first = unit.facts.first().map_or(cutoff, |fact| fact.at);
        let last = unit.facts.last().map_or(first, |fact| fact.at);
        let tongue = tongue(&unit.facts);
        let mut condensed = Condensed {
            scope: unit.scope,
            id: unit.id,
            stretch: unit.stretch,
            span: (first, last),
            input: unit.input,
            facts: unit.distinct,
            tongue,
            told: None,
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
        let evidence = if unit.stretch.has_text() { Some(own()) } else { quoted() };
        let trusts: Vec<Trust> = unit.facts.iter().map(|row| row.trust).collect();
        let formed = Formed {
            scope: unit.scope,
            id: finding_id(unit.scope, unit.id, 1, unit.input.as_bytes()),
            source: unit.id,
            text: None,
            attribute: group,
            kind: if unit.stretch == Stretch::Document { Kind::Episode } else { Kind::Note },
            document_type: unit.stretch.has_text().then_some(DocumentType::Analysis),
            parents: &trusts,
            weakest: unit.facts.iter().map(|row| self.effective(row, cutoff)).fold(1.0, f64::min),
            extraction_confidence: unit.facts.iter().map(|row| row.extraction_confidence).fold(1.0, f64::min),
            span: (first, last),
            recorded_at: cutoff,
            words: told_words(unit, &account),
            evidence,
            author: AUTHOR,
        };
        condensed.told = Some((account, formed.finding()?));
        Some(condensed)
    }
}

impl Unit {
    /// In fixed sentences.
    fn account(&self, words: &Words) -> Option<Account> {
        let facts: Vec<Fact> = self.facts.iter().filter_map(|row| fact(row, &words.get(&row.finding)?.0)).collect();
        tell(self.stretch, tongue(&self.facts), &facts, 1)
    }

    fn findings(&self) -> impl Iterator<Item = (PatientId, FindingId)> + '_ {
        self.facts.iter().map(|fact| (fact.patient, fact.finding))
    }
}

type Words = std::collections::HashMap<FindingId, (FindingWords, Option<Evidence>)>;

fn fact(row: &FactRow, words: &FindingWords) -> Option<Fact> {
    (!words.concept.is_empty()).then(|| Fact {
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

fn told_words(unit: &Unit, account: &Account) -> FindingWords {
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

fn unit(scope: Scope, of: &Key, facts: Vec<FactRow>) -> Unit {
    let (stretch, key) = of;
    let (org, patient) = (scope.org().0, scope.patient().0);
    let id = derive("summary", &[org.as_bytes(), patient.as_bytes(), stretch.code().as_bytes(), key]);
    let ids: Vec<&[u8]> = facts.iter().map(|fact| fact.finding.0.as_bytes().as_slice()).collect();
    let input = derive("summary.input", &ids);
    let distinct = distinct(&facts);
    Unit { scope, id, stretch: *stretch, distinct, facts, input, fixed: None, worded: None }
}

fn distinct(facts: &[FactRow]) -> u32 {
    let told: BTreeSet<_> = facts.iter().map(|fact| (fact.attribute, fact.negated, fact.ended)).collect();
    u32::try_from(told.len()).unwrap_or(u32::MAX)
}

fn tongue(facts: &[FactRow]) -> Tongue {
    let english = facts.iter().filter(|fact| fact.tongue == Tongue::English).count();
    if english * 2 > facts.len() { Tongue::English } else { Tongue::Spanish }
}

/// What differs from what was told before. Poorer output never replaces richer; what was forgotten since goes.
fn changed(
    scope: Scope,
    units: BTreeMap<Uuid, Unit>,
    known: &BTreeMap<Uuid, Known>,
    forgotten: Option<DateTime<Utc>>,
) -> Vec<Unit> {
    let since = |known: &Known| forgotten.is_some_and(|at| at >= known.made_at);
    let gone: Vec<Unit> = known
        .iter()
        .filter(|(id, known)| !units.contains_key(id) && since(known))
        .map(|(id, known)| Unit {
            scope,
            id: *id,
            stretch: known.stretch,
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
    type Change = Unit;
    type Status = SummariesStatus;

    fn of(means: &Means<'_>) -> Self {
        let Means { policies, keys, writer, .. } = means;
        let policy = policies.summaries.thresholds.clone();
        Self {
            policy,
            rules: policies.rules(),
            keys: Arc::clone(keys),
            writer: writer.cloned(),
            permits: Permits::of(means),
        }
    }

    fn prepares(&self) -> bool {
        self.writer.is_some()
    }

    async fn plan(&self, tx: &mut Transaction, window: &Window, from: Option<&Cursor>) -> Result<Page<Unit>, JobError> {
        let after = Cursor::after(from, Uuid::nil())?;
        let settled = condensing::settled(tx, window.org, Self::NAME.code(), window.cutoff).await?;
        let between = self.since(settled, window.cutoff)..window.cutoff;
        let patients = condensing::patients(tx, window.org, &between, window.after(after)).await?;
        let next = next_after(&patients, window, |patient| patient.0);
        if patients.is_empty() {
            return Ok(Page::end());
        }
        let facts = condensing::facts(tx, window.org, &patients, window.cutoff).await?;
        let mut known: BTreeMap<PatientId, BTreeMap<Uuid, Known>> = BTreeMap::new();
        for ((patient, id), one) in condensing::known(tx, window.org, &patients).await? {
            known.entry(patient).or_default().insert(id, one);
        }
        let forgotten = condensing::forgotten(tx, window.org, &patients).await?;
        let permits = self.permits.permitting(tx, window.org, Use::Show, patients.iter().copied()).await?;
        let mut changes = Vec::new();
        for patient in &patients {
            let Ok(scope) = Scope::new(window.org, *patient) else { continue };
            // Of a patient who denies it no new summary is written; what was forgotten is left out.
            let own = facts.iter().filter(|fact| fact.patient == *patient && permits.contains(patient));
            let own: Vec<FactRow> = own.copied().collect();
            let units = self.units(scope, &own, window.cutoff);
            let before = known.remove(patient).unwrap_or_default();
            changes.extend(changed(scope, units, &before, forgotten.get(patient).copied()));
        }
        if self.prepares() && !window.preview {
            self.put_down(tx, window, &mut changes).await?;
        }
        Ok(Page { changes, examined: patients.len() as u64, next })
    }

    async fn prepare(&self, _: &Desk<'_>, _: &Window, changes: &mut [Unit]) -> Result<(), JobError> {
        self.word(changes).await;
        Ok(())
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Unit],
    ) -> Result<(), JobError> {
        let keys = desk.keys_by_scope(window.org, changes.iter().map(|unit| unit.scope.patient())).await?;
        let wanted: BTreeSet<_> = changes.iter().flat_map(Unit::findings).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let words = condensing::words(tx, window.org, &keys, &wanted).await?;
        let gone = if self.prepares() { self.gone(tx, window, changes).await? } else { BTreeSet::new() };
        let told = changes.iter().filter(|unit| !gone.contains(&unit.id)).filter_map(|unit| {
            let keys = keys.get(&unit.scope)?;
            self.condensed(unit, &words, keys, window.cutoff)
        });
        let told: Vec<Condensed> = told.collect();
        Ok(desk.shift(window, &keys, &self.rules).condense(tx, told).await?)
    }

    fn tally(&self, page: &Page<Unit>) -> SummariesStatus {
        let told = page.changes.iter().filter(|unit| !unit.facts.is_empty());
        let count = |stretch| told.clone().filter(|unit| unit.stretch == stretch).count() as u64;
        SummariesStatus {
            examined: page.examined,
            episodes: count(Stretch::Document),
            sessions: count(Stretch::Session),
            weeks: count(Stretch::Week),
            quarters: count(Stretch::Quarter),
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
        let unit = |distinct| Unit {
            scope,
            id: Uuid::from_u128(7),
            stretch: Stretch::Week,
            facts: Vec::new(),
            distinct,
            input: Uuid::from_u128(distinct.into()),
            fixed: None,
            worded: None,
        };
        let known = BTreeMap::from([(
            Uuid::from_u128(7),
            Known { stretch: Stretch::Week, facts: 4, input: Uuid::from_u128(4), made_at: at },
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
