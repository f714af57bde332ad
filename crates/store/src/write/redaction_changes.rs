//! Applies a later redaction to a stored document and to everything derived from it: the text, its passages, their
//! terms and vectors, the findings with their quotes, and, by projection, memories and clinical rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

mod change;
mod facts;

pub use change::{ReRedactedDocument, TextChange};
pub use facts::{PatientFacts, facts_due, facts_of};

use super::documents::content_cell;
use super::findings::finding_cell;
use super::maintenance::MaintenanceWriter;
use super::memories::raw_id;
use super::retention::archive_cell;
use super::{BatchWriter, GroupKey};
use crate::StoreError;
use crate::encrypted_columns::{Sealer, open_record, open_text};
use crate::records::FindingWords;
use crate::statements::write::redaction_changes as sql;
use anamnesis_core::failpoints;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, PatientKeys};
use anamnesis_sql::{Arg, Row, Transaction};
use anamnesis_text::{Language, Span, stems};

/// The changed documents of a page.
struct ChangedDocuments<'r>(BTreeMap<(Uuid, Uuid, u32), (&'r ReRedactedDocument, &'r TextChange)>);

impl<'r> ChangedDocuments<'r> {
    fn from_reviewed(reviewed: &'r [ReRedactedDocument]) -> Self {
        let changed = |one: &'r ReRedactedDocument| {
            let key = (one.scope.patient().0, one.document, one.revision);
            Some((key, (one, one.change.as_ref()?)))
        };
        Self(reviewed.iter().filter_map(changed).collect())
    }

    /// Selects by the row's document: patient, document and revision have these positions.
    fn at(
        &self,
        row: &Row,
        [patient, document, revision]: [usize; 3],
    ) -> Result<Option<(&'r ReRedactedDocument, &'r TextChange)>, StoreError> {
        let revision = u32::try_from(row.i64(revision)?).map_err(|_| StoreError::Shape)?;
        Ok(self.0.get(&(row.uuid(patient)?, row.uuid(document)?, revision)).copied())
    }

    fn pairs(&self) -> Arg {
        Arg::Pairs(self.0.keys().map(|(patient, document, _)| (*patient, document.as_bytes().to_vec())).collect())
    }

    fn patients(&self) -> Arg {
        let patients: BTreeSet<Uuid> = self.0.keys().map(|(patient, _, _)| *patient).collect();
        Arg::Uuids(patients.into_iter().collect())
    }
}

impl MaintenanceWriter<'_> {
    /// Writes the second redaction of documents. The original text is not stored, so nothing can be restored: new
    /// values are removed from the stored text. The same page twice changes nothing more.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn redact_again(&self, tx: &mut Transaction, reviewed: &[ReRedactedDocument]) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(reviewed.iter().map(|one| one.scope.patient().0).collect()).await?;
        let now = Arg::from(self.now);
        let stamp = |one: &ReRedactedDocument| {
            let row = sql::stamp_documents::Row {
                org_id: one.scope.org().0.into(),
                patient_id: one.scope.patient().0.into(),
                id: one.document.into(),
                revision: one.revision.into(),
                policy: one.version.clone().into(),
                now: now.clone(),
            };
            row.into()
        };
        let stamp_raw = |one: &ReRedactedDocument| {
            let row = sql::stamp_raws::Row {
                org_id: one.scope.org().0.into(),
                patient_id: one.scope.patient().0.into(),
                id: raw_id(one.scope, one.document, one.revision).into(),
                policy: one.version.clone().into(),
                now: now.clone(),
            };
            row.into()
        };
        writer.tx.bulk(&sql::STAMP_DOCUMENTS, reviewed.iter().map(stamp).collect()).await?;
        writer.tx.bulk(&sql::STAMP_RAWS, reviewed.iter().map(stamp_raw).collect()).await?;
        if !writer.change_documents(reviewed).await? {
            return Ok(());
        }
        // No person said anything new: the fold writes the same memories in other words, and no event announces it.
        writer.fold().await
    }
}

impl BatchWriter<'_> {
    /// Writes other words in place of documents' own, in all that was made of them; groups are left to be folded. `false`
    /// where nothing changes.
    pub(super) async fn change_documents(&mut self, reviewed: &[ReRedactedDocument]) -> Result<bool, StoreError> {
        let changes = ChangedDocuments::from_reviewed(reviewed);
        if changes.0.is_empty() {
            return Ok(false);
        }
        self.rewrite(&changes).await?;
        self.passages_again(&changes).await?;
        self.risks_again(&changes).await?;
        self.findings_again(&changes).await?;
        Ok(true)
    }

    fn sealing(&self, scope: Scope) -> Result<(Sealer<'_>, [Arg; 2]), StoreError> {
        let sealer = Sealer { keys: self.keys_of(scope)?, entropy: self.entropy };
        Ok((sealer, [scope.org().0.into(), scope.patient().0.into()]))
    }

    async fn rewrite(&mut self, changes: &ChangedDocuments<'_>) -> Result<(), StoreError> {
        let (mut rows, mut archived) = (Vec::with_capacity(changes.0.len()), Vec::new());
        for (one, change) in changes.0.values() {
            let (sealer, [org, patient]) = self.sealing(one.scope)?;
            let (org_id, patient_id, id, revision) = (org, patient, one.document.into(), one.revision.into());
            if one.archived {
                let content = sealer.record(archive_cell(one.document, one.revision), &change.content)?;
                archived.push(sql::rewrite_archived::Row { org_id, patient_id, id, revision, content }.into());
            } else {
                let content = sealer.record(content_cell(one.document, one.revision), &change.content)?;
                rows.push(sql::rewrite_documents::Row { org_id, patient_id, id, revision, content }.into());
            }
        }
        self.tx.bulk(&sql::REWRITE_DOCUMENTS, rows).await?;
        self.tx.bulk(&sql::REWRITE_ARCHIVED, archived).await?;
        Ok(())
    }

    async fn passages_again(&mut self, changes: &ChangedDocuments<'_>) -> Result<(), StoreError> {
        let org = Arg::from(self.org().0);
        let (mut rows, mut gone) = (Vec::new(), Vec::new());
        for row in self.tx.fetch_all(&sql::PASSAGES, vec![org.clone(), changes.pairs()]).await? {
            let of = [sql::passages::PATIENT_ID, sql::passages::DOCUMENT_ID, sql::passages::REVISION];
            let Some((one, change)) = changes.at(&row, of)? else { continue };
            let old = span(&row, [sql::passages::START_OFFSET, sql::passages::END_OFFSET])?;
            let id = row.uuid(sql::passages::ID)?;
            let new = change.place(old);
            let keys = self.keys_of(one.scope)?;
            let (was, is) = (old.slice(&change.before), new.slice(&change.content.text));
            let terms = terms_again(keys, row.ints(sql::passages::TERMS)?, was, is, change.language);
            if was != is {
                gone.push((one.scope.patient().0, id.as_bytes().to_vec()));
            }
            let row = sql::move_passages::Row {
                org_id: org.clone(),
                patient_id: one.scope.patient().0.into(),
                id: id.into(),
                first: (new.start as i64).into(),
                behind: (new.end as i64).into(),
                hash: keys.text_hash(is).into(),
                terms: Arg::Ints(terms),
                now: self.target.now.into(),
            };
            rows.push(row.into());
        }
        self.tx.bulk(&sql::MOVE_PASSAGES, rows).await?;
        if !failpoints::is("erase_keeps_cache") {
            self.tx.execute(&sql::DELETE_VECTORS, vec![org.clone(), Arg::Pairs(gone.clone())]).await?;
        }
        self.tx.execute(&sql::AWAIT_VECTORS, vec![org, Arg::Pairs(gone), self.target.now.into()]).await?;
        Ok(())
    }

    async fn risks_again(&mut self, changes: &ChangedDocuments<'_>) -> Result<(), StoreError> {
        let org = Arg::from(self.org().0);
        let mut rows = Vec::new();
        for row in self.tx.fetch_all(&sql::RISKS, vec![org, changes.pairs()]).await? {
            let of = [sql::risks::PATIENT_ID, sql::risks::DOCUMENT_ID, sql::risks::REVISION];
            let Some((one, change)) = changes.at(&row, of)? else { continue };
            let id = row.uuid(sql::risks::ID)?;
            let new = change.place(span(&row, [sql::risks::EVIDENCE_START, sql::risks::EVIDENCE_END])?);
            let (sealer, [org_id, patient_id]) = self.sealing(one.scope)?;
            let cell = ColumnRef { table: "risk_flag", row: id, column: "evidence" };
            let row = sql::move_risks::Row {
                org_id,
                patient_id,
                id: id.into(),
                quote: sealer.text(cell, new.slice(&change.content.text)),
                first: (new.start as i64).into(),
                behind: (new.end as i64).into(),
                now: self.target.now.into(),
            };
            rows.push(row.into());
        }
        self.tx.bulk(&sql::MOVE_RISKS, rows).await?;
        Ok(())
    }

    /// Words and quotes of findings; their groups are folded again.
    async fn findings_again(&mut self, changes: &ChangedDocuments<'_>) -> Result<(), StoreError> {
        let org = Arg::from(self.org().0);
        let raws: HashMap<(Uuid, Uuid), (&ReRedactedDocument, &TextChange)> = changes
            .0
            .values()
            .map(|pair| ((pair.0.scope.patient().0, raw_id(pair.0.scope, pair.0.document, pair.0.revision)), *pair))
            .collect();
        let (mut rows, mut groups): (Vec<Vec<Arg>>, BTreeSet<GroupKey>) = Default::default();
        let args = vec![org.clone(), changes.patients(), changes.pairs()];
        for row in self.tx.fetch_all(&sql::FINDINGS, args).await? {
            let (patient, id) = (row.uuid(sql::findings::PATIENT_ID)?, row.uuid(sql::findings::ID)?);
            let scope = changes.0.values().map(|(one, _)| one.scope).find(|scope| scope.patient().0 == patient);
            let Some(scope) = scope else { continue };
            let payload = row.blob(sql::findings::PAYLOAD_SEALED)?;
            let words: FindingWords = open_record(self.keys_of(scope)?, finding_cell(id, "payload"), &payload)?;
            let formed = || words.formed_from.last().and_then(|raw| raws.get(&(patient, *raw)).copied());
            let of = [sql::findings::PATIENT_ID, sql::findings::SOURCE_ID, sql::findings::REVISION];
            let Some((_, change)) = changes.at(&row, of)?.or_else(formed) else { continue };
            rows.push(self.reworded(scope, id, &words, change, &row)?);
            groups.insert((scope, row.bytes(sql::findings::GROUP_HASH)?));
        }
        self.tx.bulk(&sql::REWORD_FINDINGS, rows).await?;
        let keyed = groups.iter().map(|(scope, group)| (scope.patient().0, group.to_vec())).collect();
        self.tx.execute(&sql::FORGET_WORDS, vec![org, Arg::Pairs(keyed)]).await?;
        self.touched.extend(groups);
        Ok(())
    }

    fn reworded(
        &self,
        scope: Scope,
        id: Uuid,
        words: &FindingWords,
        change: &TextChange,
        row: &Row,
    ) -> Result<Vec<Arg>, StoreError> {
        let (sealer, [org_id, patient_id]) = self.sealing(scope)?;
        let payload = sealer.record(finding_cell(id, "payload"), &change.clean_words(words))?;
        let [quote, first, behind] =
            match row.opt_blob(sql::findings::EVIDENCE_SEALED)?.filter(|sealed| !sealed.is_empty()) {
                Some(sealed) => {
                    let said = open_text(sealer.keys, finding_cell(id, "evidence"), &sealed)?;
                    let old = span(row, [sql::findings::EVIDENCE_START, sql::findings::EVIDENCE_END])?;
                    // Evidence is literally in its document, or is none.
                    let literal = old.slice(&change.before) == said;
                    let new = if literal { change.place(old) } else { old };
                    let text = if literal { new.slice(&change.content.text).to_owned() } else { change.clean(&said) };
                    let sealed = sealer.text(finding_cell(id, "evidence"), &text);
                    [sealed, (new.start as i64).into(), (new.end as i64).into()]
                }
                None => [Arg::from(Vec::<u8>::new()), Arg::Null, Arg::Null],
            };
        let (id, now) = (id.into(), self.target.now.into());
        Ok(sql::reword_findings::Row { org_id, patient_id, id, payload, quote, first, behind, now }.into())
    }
}

fn span(row: &Row, [start, end]: [usize; 2]) -> Result<Span, StoreError> {
    let offset = |place| usize::try_from(row.i64(place)?).map_err(|_| StoreError::Shape);
    let (start, end) = (offset(start)?, offset(end)?);
    if start > end { Err(StoreError::Shape) } else { Ok(Span::new(start, end)) }
}

/// Terms of removed words are deleted and those of new words added; terms of concepts stay.
fn terms_again(keys: &PatientKeys, terms: Vec<i64>, was: &str, is: &str, language: Language) -> Vec<i64> {
    let of = |text: &str| stems(text, language).into_iter().map(|stem| keys.term(&stem)).collect::<Vec<i64>>();
    let mut gone: HashMap<i64, usize> = HashMap::new();
    of(was).into_iter().for_each(|term| *gone.entry(term).or_default() += 1);
    let mut left: Vec<i64> = terms
        .into_iter()
        .filter(|term| match gone.get_mut(term).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                false
            }
            None => true,
        })
        .collect();
    left.extend(of(is));
    left.sort_unstable();
    left
}
