//! Summaries in a language model's words. It is called between reading and writing, while no row is locked, and its
//! words are used only if they state the same as the fixed sentences (`extraction::llm`). A model that fails, is late
//! or invents changes nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use uuid::Uuid;

use super::super::driver::{JobError, JobWindow};
use super::{Summaries, SummaryLanguage, SummaryUnit, summary_language};
use anamnesis_core::ids::{FindingId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_sql::Transaction;
use anamnesis_store::summary_inputs;
use anamnesis_text::Language;

/// Time limit for the summaries of a page together, far below the lease of a run. Summaries without words by then stay
/// as they are.
const PATIENCE: Duration = Duration::from_secs(60);

impl Summaries {
    /// Writes the request for wording. An episode has no text.
    pub(super) async fn put_down(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        units: &mut [SummaryUnit],
    ) -> Result<(), JobError> {
        let mut scopes: Vec<Scope> = units.iter().map(|unit| unit.scope).collect();
        scopes.sort_unstable();
        scopes.dedup();
        let keys = self.keys.known(&scopes).await?;
        let of_text = units.iter().filter(|unit| unit.period.has_text());
        let wanted: BTreeSet<_> = of_text.flat_map(SummaryUnit::findings).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let words = summary_inputs::words(tx, window.org, &keys, &wanted).await?;
        for unit in units.iter_mut().filter(|unit| unit.period.has_text()) {
            unit.fixed = unit.account(&words).map(|account| account.text);
        }
        Ok(())
    }

    /// Requests words, one summary after the other.
    pub(super) async fn word(&self, units: &mut [SummaryUnit]) {
        let Some(writer) = &self.writer else { return };
        let all = async {
            for unit in units {
                let Some(fixed) = &unit.fixed else { continue };
                let language = match summary_language(&unit.facts) {
                    SummaryLanguage::Spanish => Language::Spanish,
                    SummaryLanguage::English => Language::English,
                };
                unit.worded = writer.model.word(&writer.rules, fixed, language).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, all).await;
    }

    /// Units with a statement that was withdrawn during the call: the next run summarises the rest.
    pub(super) async fn gone(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        units: &[SummaryUnit],
    ) -> Result<BTreeSet<Uuid>, JobError> {
        let patients: BTreeSet<PatientId> = units.iter().map(|unit| unit.scope.patient()).collect();
        let patients: Vec<PatientId> = patients.into_iter().collect();
        let facts = summary_inputs::facts(tx, window.org, &patients, window.cutoff).await?;
        let there: BTreeSet<FindingId> = facts.iter().map(|fact| fact.finding).collect();
        let is_gone = |unit: &&SummaryUnit| unit.facts.iter().any(|fact| !there.contains(&fact.finding));
        Ok(units.iter().filter(is_gone).map(|unit| unit.id).collect())
    }
}
