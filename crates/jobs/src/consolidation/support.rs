//! What was formed lasts as long as what it was formed of: statements that a patient took back, or that a document's revision
//! no longer holds, take it with them; where they come back, so does it, once a document comes in. Time alone withdraws nothing: a memory that faded,
//! and a source whose words went when they were due, still count.

use std::collections::BTreeSet;

use super::super::driver::{JobError, Window};
use super::preferences::is_of_document;
use super::{AUTHOR, Change, Consolidation, by_attribute, named};
use anamnesis_core::ids::{FindingId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_sql::Transaction;
use anamnesis_store::recurring::{self, FormedRow, Telling};

impl Consolidation {
    /// Which of the formed findings count no longer, and which do again. `found` is what tonight would form.
    pub(super) async fn counted(
        &self,
        tx: &mut Transaction,
        window: &Window,
        patients: &[PatientId],
        told: &[Telling],
        found: &[Change],
    ) -> Result<Vec<Change>, JobError> {
        let formed = recurring::formed(tx, window.org, patients, AUTHOR, window.cutoff).await?;
        let mut supported: BTreeSet<FindingId> = found.iter().map(Change::id).collect();
        for (scope, group) in by_attribute(window, told) {
            supported.extend(self.enough(group).iter().map(|(_, tellings)| named(scope, tellings).1));
        }
        let counts = |row: &FormedRow| supported.contains(&row.finding) || is_wordless(row, told);
        let changed = formed.iter().filter(|row| counts(row) != row.live);
        let change = |row: &FormedRow| {
            let scope = Scope::new(window.org, row.patient).ok()?;
            Some(Change::Counts(scope, row.finding, !row.live))
        };
        Ok(changed.filter_map(change).collect())
    }
}

/// Formed of a document's statement whose words are gone: what it said cannot be compared, and it was never taken back.
fn is_wordless(row: &FormedRow, told: &[Telling]) -> bool {
    let of = |t: &&Telling| t.patient == row.patient && t.is_stated && is_of_document(row.source, t.document);
    let mut of = told.iter().filter(of).peekable();
    row.live && of.peek().is_some() && of.all(|telling| !telling.is_worded)
}
