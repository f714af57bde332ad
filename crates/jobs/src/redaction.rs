//! Redaction again: documents, and facts of patients outside documents, that an older policy or older recognisers
//! redacted (seed 003, "DLP Integration"). The job reads the redacted text, the only one there is: more may be removed,
//! nothing is restored.

use std::sync::OnceLock;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::next_after;
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_pipeline::Redactors;
use anamnesis_redaction::{Redacted, RedactionError, Redactor, SurrogateKey};
use anamnesis_sql::Transaction;
use anamnesis_store::maintenance::ProjectionRules;
use anamnesis_store::re_redaction::{self, DocumentKey, OutdatedDocument};
use anamnesis_store::records::{DocumentContent, StoredReplacement};
use anamnesis_store::redaction_changes::{PatientFacts, ReRedactedDocument, TextChange, facts_due, facts_of};
use anamnesis_store::{Keys, StoreError};
use anamnesis_text::{Document, Language, Span};
use uuid::Uuid;

/// Thresholds of `jobs/redaction.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedactionThresholds {
    /// Whether stored documents are redacted again at all.
    pub(crate) again: bool,
}

impl Thresholds for RedactionThresholds {
    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }
}

/// The job.
pub(crate) struct Redaction {
    pub(crate) redactors: Redactors,
    pub(crate) thresholds: RedactionThresholds,
    pub(crate) rules: ProjectionRules,
}

status!(
    /// Result of a redaction run: documents.
    RedactionStatus {
        examined,
        /// Nothing more was taken: they carry the version of today.
        stamped,
        /// More was redacted, in the text and in everything derived from it.
        redacted,
        /// Patients whose profile, preferences, commands and imported records passed; not documents.
        patients,
        /// Of these, those from whom something more was taken.
        patients_redacted,
        /// They could not be redacted, or belong to a patient without a key: as they were, and due again.
        failed,
    }
    changed: stamped | redacted | patients | patients_redacted
);

/// The outcome for one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedactionEnd {
    Stamped,
    Redacted,
    Failed,
}

/// The subject of a second redaction.
enum RedactionTarget {
    Document(OutdatedDocument),
    /// A patient's facts outside documents.
    Facts(PatientId),
}

/// One document to redact again, or the facts of one patient.
pub(crate) struct RepeatedRedaction {
    of: RedactionTarget,
    /// Known when it is done; never in a preview.
    ended: OnceLock<RedactionEnd>,
}

impl RepeatedRedaction {
    fn new(of: RedactionTarget) -> Self {
        Self { of, ended: OnceLock::new() }
    }

    fn patient(&self) -> PatientId {
        match &self.of {
            RedactionTarget::Document(due) => due.patient,
            RedactionTarget::Facts(patient) => *patient,
        }
    }
}

/// Documents first, then patients. Their shape distinguishes them, because older versions wrote only the first.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum RedactionCursor {
    Document(DocumentKey),
    Patient(Uuid),
}

impl Redaction {
    /// # Errors
    /// Of the database. `None` for an organisation whose policy is not known: nothing of it is touched.
    async fn redactor(&self, tx: &mut Transaction, org: OrgId) -> Result<Option<std::sync::Arc<Redactor>>, JobError> {
        let policy = re_redaction::policy(tx, org).await?.unwrap_or_else(|| "safe_harbor".to_owned());
        Ok(self.redactors.get(org, &policy).cloned())
    }
}

#[async_trait]
impl Job for Redaction {
    const NAME: JobName = JobName::Redaction;
    type Change = RepeatedRedaction;
    type Status = RedactionStatus;

    fn from_dependencies(JobDependencies { policies, redactors, .. }: &JobDependencies<'_>) -> Self {
        let redactors = (*redactors).clone();
        Self { redactors, thresholds: policies.redaction.thresholds.clone(), rules: policies.rules() }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<RepeatedRedaction>, JobError> {
        let redactor = self.redactor(tx, window.org).await?.filter(|_| self.thresholds.again);
        let Some(redactor) = redactor else { return Ok(JobPage::end()) };
        let version = redactor.revision();
        let after = match from
            .map(RunCursor::read::<RedactionCursor>)
            .transpose()?
            .unwrap_or(RedactionCursor::Document(DocumentKey::START))
        {
            RedactionCursor::Patient(after) => after,
            RedactionCursor::Document(after) => {
                let due = re_redaction::due(tx, window.org, &version, window.after(after)).await?;
                if !due.is_empty() {
                    let next = next_after(&due, window, |last| RedactionCursor::Document(last.place()));
                    let next = next.or_else(|| Some(RunCursor::write(&RedactionCursor::Patient(Uuid::nil()))));
                    let examined = due.len() as u64;
                    return Ok(JobPage {
                        changes: due
                            .into_iter()
                            .map(|due| RepeatedRedaction::new(RedactionTarget::Document(due)))
                            .collect(),
                        examined,
                        next,
                    });
                }
                Uuid::nil()
            }
        };
        let due = facts_due(tx, window.org, &version, window.after(after)).await?;
        let next = next_after(&due, window, |last| RedactionCursor::Patient(last.0));
        Ok(JobPage {
            changes: due.into_iter().map(|patient| RepeatedRedaction::new(RedactionTarget::Facts(patient))).collect(),
            examined: 0,
            next,
        })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[RepeatedRedaction],
    ) -> Result<(), JobError> {
        let Some(redactor) = self.redactor(tx, window.org).await? else { return Ok(()) };
        let keys = context.keys_by_scope(window.org, changes.iter().map(RepeatedRedaction::patient)).await?;
        let all = || changes.iter().map(|again| reviewed(again, window.org, &redactor, &keys));
        let reviewed: Vec<Option<ReRedactedDocument>> = run_blocking(|| all().collect::<Result<_, JobError>>())?;
        let reviewed: Vec<ReRedactedDocument> = reviewed.into_iter().flatten().collect();
        let shift = context.shift(window, &keys, &self.rules);
        if !reviewed.is_empty() {
            shift.redact_again(tx, &reviewed).await?;
        }
        let mut facts = Vec::new();
        for again in changes {
            let RedactionTarget::Facts(patient) = again.of else { continue };
            facts.extend(facts_again(tx, (again, patient), window.org, (&redactor, &keys)).await?);
        }
        Ok(shift.redact_facts(tx, &redactor.revision(), &facts).await?)
    }

    fn tally(&self, page: &JobPage<RepeatedRedaction>) -> RedactionStatus {
        let counted = |documents: bool, wanted: &[Option<RedactionEnd>]| {
            let of = page.changes.iter().filter(|again| matches!(again.of, RedactionTarget::Document(_)) == documents);
            of.filter(|again| wanted.contains(&again.ended.get().copied())).count() as u64
        };
        let count = |wanted: &[Option<RedactionEnd>]| counted(true, wanted);
        RedactionStatus {
            examined: page.examined,
            // A preview redacts nothing, so all due documents are reported together.
            stamped: count(&[Some(RedactionEnd::Stamped), None]),
            redacted: count(&[Some(RedactionEnd::Redacted)]),
            patients: counted(false, &[Some(RedactionEnd::Stamped), Some(RedactionEnd::Redacted), None]),
            patients_redacted: counted(false, &[Some(RedactionEnd::Redacted)]),
            failed: count(&[Some(RedactionEnd::Failed)]) + counted(false, &[Some(RedactionEnd::Failed)]),
        }
    }
}

/// Computation, and waiting for additional services, outside the tasks of the runtime where it has other threads.
fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// One document under the current redactor.
///
/// # Errors
/// When an additional service cannot be reached now: the run waits and continues from here.
fn reviewed(
    again: &RepeatedRedaction,
    org: OrgId,
    redactor: &Redactor,
    keys: &Keys,
) -> Result<Option<ReRedactedDocument>, JobError> {
    let RedactionTarget::Document(due) = &again.of else { return Ok(None) };
    let ended = match review(due, org, redactor, keys) {
        Ok(reviewed) => {
            let ended = if reviewed.change.is_some() { RedactionEnd::Redacted } else { RedactionEnd::Stamped };
            let _ = again.ended.set(ended);
            return Ok(Some(reviewed));
        }
        Err(RedactionFailure::ServiceUnavailable) => return Err(JobError::Service),
        Err(RedactionFailure::Refused) => RedactionEnd::Failed,
    };
    let _ = again.ended.set(ended);
    Ok(None)
}

/// The facts of one patient under the redactor of today; `None` where they stay as they were.
///
/// # Errors
/// As [`reviewed`].
async fn facts_again(
    tx: &mut Transaction,
    (again, patient): (&RepeatedRedaction, PatientId),
    org: OrgId,
    (redactor, keys): (&Redactor, &Keys),
) -> Result<Option<(Scope, PatientFacts)>, JobError> {
    let scope = Scope::new(org, patient).ok();
    let Some((scope, keys)) = scope.and_then(|scope| Some((scope, keys.get(&scope)?))) else {
        let _ = again.ended.set(RedactionEnd::Failed);
        return Ok(None);
    };
    let facts = facts_of(tx, keys).await?;
    let surrogate = SurrogateKey::new(*keys.surrogate());
    let clean = |text: &str| -> Result<String, RedactionFailure> {
        let document = Document::plain(text, Language::Unknown);
        Ok(redactor.redact_again(&document, &surrogate)?.document().text.clone())
    };
    match run_blocking(|| facts.changed(&clean)) {
        Ok(changed) => {
            let _ = again.ended.set(if changed.is_empty() { RedactionEnd::Stamped } else { RedactionEnd::Redacted });
            Ok(Some((scope, changed)))
        }
        Err(RedactionFailure::ServiceUnavailable) => Err(JobError::Service),
        Err(RedactionFailure::Refused) => {
            let _ = again.ended.set(RedactionEnd::Failed);
            Ok(None)
        }
    }
}

/// Why one document stays as it was.
enum RedactionFailure {
    /// It may pass later tonight.
    ServiceUnavailable,
    Refused,
}

impl From<RedactionError> for RedactionFailure {
    fn from(error: RedactionError) -> Self {
        if matches!(error, RedactionError::ServiceAway(_)) { Self::ServiceUnavailable } else { Self::Refused }
    }
}

impl From<StoreError> for RedactionFailure {
    fn from(_: StoreError) -> Self {
        Self::Refused
    }
}

fn review(
    due: &OutdatedDocument,
    org: OrgId,
    redactor: &Redactor,
    keys: &Keys,
) -> Result<ReRedactedDocument, RedactionFailure> {
    let scope = Scope::new(org, due.patient).map_err(|_| RedactionFailure::Refused)?;
    let surrogate = SurrogateKey::new(*keys.get(&scope).ok_or(RedactionFailure::Refused)?.surrogate());
    let (content, document) = due.open(scope, keys)?;
    let redacted = redactor.redact_again(&document, &surrogate)?;
    let short = |text: &String| -> Result<String, RedactionFailure> {
        let document = Document::plain(text.clone(), Language::Unknown);
        Ok(redactor.redact_again(&document, &surrogate)?.document().text.clone())
    };
    let renewed = renewed(&content, &redacted, &short)?;
    let changed = renewed != content;
    let moves = redacted.redactions().iter().map(|one| (one.source, one.redacted)).collect();
    let change =
        changed.then_some(TextChange { before: document.text, content: renewed, language: document.language, moves });
    let (version, archived) = (redacted.policy().to_owned(), due.archived);
    Ok(ReRedactedDocument { scope, document: due.id.0, revision: due.revision, version, archived, change })
}

/// Earlier replacements at their current position, and new ones at their position in the original text.
fn merged_replacements(before: &[StoredReplacement], redacted: &Redacted) -> Vec<StoredReplacement> {
    let on = |place: usize| redacted.place_of(place);
    let back = |place: usize| {
        let last = before[..before.partition_point(|taken| taken.redacted.end <= place)].last();
        last.map_or(place, |taken| taken.source.end + (place - taken.redacted.end))
    };
    let earlier = before.iter().map(|taken| {
        let redacted = Span::new(on(taken.redacted.start), on(taken.redacted.end));
        StoredReplacement { redacted, ..taken.clone() }
    });
    let later = redacted.redactions().iter().map(|one| {
        let source = Span::new(back(one.source.start), back(one.source.end));
        StoredReplacement { source, ..anamnesis_pipeline::stored_replacement(one) }
    });
    let mut all: Vec<StoredReplacement> = earlier.chain(later).collect();
    all.sort_by_key(|taken| (taken.redacted.start, taken.redacted.end));
    all
}

/// The stored record with the current text. Its short texts are redacted separately, as they were at arrival.
fn renewed(
    content: &DocumentContent,
    redacted: &Redacted,
    short: &dyn Fn(&String) -> Result<String, RedactionFailure>,
) -> Result<DocumentContent, RedactionFailure> {
    let maybe = |text: &Option<String>| text.as_ref().map(short).transpose();
    let mut file = content.file.clone();
    if let Some(file) = &mut file {
        file.name = short(&file.name)?;
        file.uri = maybe(&file.uri)?;
        file.starts = file.starts.iter().map(|start| redacted.border_of(*start)).collect();
    }
    Ok(DocumentContent {
        text: redacted.document().text.clone(),
        turns: redacted.document().turns.iter().map(|turn| (turn.speaker, turn.span.start, turn.span.end)).collect(),
        producer_themes: content.producer_themes.iter().map(short).collect::<Result<_, _>>()?,
        proxy_agent: maybe(&content.proxy_agent)?,
        file,
        redactions: merged_replacements(&content.redactions, redacted),
        ..content.clone()
    })
}
