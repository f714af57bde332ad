//! A derived finding counts as long as its sources. Statements that a patient withdrew, or that a document's revision
//! no longer contains, take it with them. If they return, it returns with the next document. Time alone withdraws
//! nothing: a decayed memory, and a source whose words were removed after their term, still count.

use std::collections::BTreeSet;

use super::super::driver::{JobError, JobWindow};
use super::preferences::is_of_document;
use super::{AUTHOR, Consolidation, ConsolidationChange, by_attribute, named};
use anamnesis_core::ids::{FindingId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_sql::Transaction;
use anamnesis_store::recurrence::{self, DerivedRow, Mention};

impl Consolidation {
    /// Derived findings that no longer count, and those that count again. `found` is what this run would derive.
    pub(super) async fn counted(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        patients: &[PatientId],
        mentions: &[Mention],
        found: &[ConsolidationChange],
    ) -> Result<Vec<ConsolidationChange>, JobError> {
        let formed = recurrence::formed(tx, window.org, patients, AUTHOR, window.cutoff).await?;
        let mut supported: BTreeSet<FindingId> = found.iter().map(ConsolidationChange::id).collect();
        for (scope, group) in by_attribute(window, mentions) {
            supported.extend(self.enough(group).iter().map(|(_, mentions_of)| named(scope, mentions_of).1));
        }
        let counts = |row: &DerivedRow| supported.contains(&row.finding) || is_wordless(row, mentions);
        let changed = formed.iter().filter(|row| counts(row) != row.live);
        let change = |row: &DerivedRow| {
            let scope = Scope::new(window.org, row.patient).ok()?;
            Some(ConsolidationChange::SetLive(scope, row.finding, !row.live))
        };
        Ok(changed.filter_map(change).collect())
    }
}

/// Derived from a document's statement without words: it cannot be compared, and it was never withdrawn.
fn is_wordless(row: &DerivedRow, mentions: &[Mention]) -> bool {
    let of = |t: &&Mention| t.patient == row.patient && t.is_stated && is_of_document(row.source, t.document);
    let mut of = mentions.iter().filter(of).peekable();
    row.live && of.peek().is_some() && of.all(|mention| !mention.is_worded)
}
