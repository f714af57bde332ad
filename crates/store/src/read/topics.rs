//! Memories on a topic, found by keyed terms: a person forgets or recovers statements about something without knowing
//! an id (seed 000, `/olvidar`). A topic matches by all of its words, in Spanish or in English, or by the name of its
//! concept. Similarity alone never matches, because only what was meant may be forgotten.

use std::collections::BTreeSet;

use super::{Memory, MemoryFilter, ReadInstant};
use crate::{MemoryReader, StoreError};
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::scope::Scope;
use anamnesis_text::{Language, stems};

/// Most memories per request, newest first. More would be a request to forget everything, which is another verb.
pub(crate) const MOST_ON_TOPIC: usize = 100;

impl MemoryReader<'_> {
    /// Memories on a topic in these states, newest first, at most [`MOST_ON_TOPIC`]. `concept` is the preferred name of
    /// the topic's concept, if the lexicon knows it.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn on_topic(
        self,
        scope: Scope,
        topic: &str,
        concept: Option<&str>,
        states: Vec<State>,
    ) -> Result<Vec<Memory>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut wanted: Vec<BTreeSet<i64>> = [Language::Spanish, Language::English]
            .iter()
            .map(|language| stems(topic, *language).iter().map(|stem| keys.term(stem)).collect())
            .collect();
        wanted.extend(concept.map(|name| BTreeSet::from([keys.concept_term(name)])));
        wanted.retain(|terms| !terms.is_empty());
        let filter = MemoryFilter { states, ..MemoryFilter::default() };
        let mut found = self.memories(scope, &filter, ReadInstant::Now).await?;
        found.retain(|memory| {
            let terms: BTreeSet<i64> = memory.terms.iter().copied().collect();
            memory.kind != Kind::Raw && wanted.iter().any(|all| all.is_subset(&terms))
        });
        found.truncate(MOST_ON_TOPIC);
        Ok(found)
    }
}
