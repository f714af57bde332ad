//! Reads leave an entry in the audit trail: who, in which role, for what, of whom. One place for all verbs: a verb that reads
//! is a row of [`READS`], and the entry is written when its store is opened or when its answer was given.

use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use clap::ArgMatches;
use uuid::Uuid;

use super::app::App;
use super::{CliError, Exit, PatientAnswer};
use anamnesis_config::{Settings, audit::Reads};
use anamnesis_core::audit::{Actor, CaseReference, Purpose};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_observability::metrics::Metrics;
use anamnesis_observability::metrics::labels::{Endpoint, ReadOutcome};
use anamnesis_sql::Location;
use anamnesis_store::audit_trail::{AuditedAction, PLATFORM};
use anamnesis_store::{Store, StoreError};

/// Verbs that show stored data, or act without a patient, with the code of their entries.
const READS: &[(&str, &str)] = &[
    ("context", "read_context"),
    ("profile", "read_profile"),
    ("memory list", "read_memories"),
    ("memory show", "read_memory"),
    ("memory trace", "read_lineage"),
    ("memory history", "read_history"),
    ("memory contradictions", "read_contradictions"),
    ("memory uncertain", "read_uncertain"),
    ("memory orphans", "read_orphans"),
    ("memory review", "read_review"),
    ("consent show", "read_consents"),
    ("answer list", "read_answers"),
    ("ephemeral status", "read_ephemeral_mode"),
    ("redact receipts", "read_redaction_receipts"),
    ("hold list", "read_holds"),
    ("report confidence", "read_confidence"),
    ("report cohort", "read_cohort"),
    ("export", "exported"),
    ("archive list", "read_archive"),
    ("archive show", "read_archived"),
    ("spool open", "opened_original"),
    ("quarantine list", "listed_quarantine"),
    ("quarantine show", "opened_quarantined"),
    ("quarantine retry", "retried_quarantined"),
    ("quarantine drop", "dropped_quarantined"),
    ("job simulate", "simulated_jobs"),
    ("org set", "organization_set"),
    ("audit list", "read_audit"),
    ("report erasures", "read_receipts"),
    ("erase", "read_receipts"),
    ("events list", "listed_events"),
    ("backup", "backed_up"),
    ("restore", "restored"),
];

/// Reads by those who look after a record. If so configured, a patient's denial of recall closes them, unless a reason
/// is recorded. The patient's own rights (`export`, `privacy`, `consent show` …) stay open.
const CLOSED: &[&str] = &[
    "memory list",
    "memory show",
    "memory trace",
    "memory history",
    "memory contradictions",
    "memory uncertain",
    "memory orphans",
    "memory review",
    "report confidence",
    "archive list",
    "archive show",
];

/// Reads that are counted as reads of memory, by their endpoint. `context` is counted where it is assembled.
const ENDPOINTS: [(&str, Endpoint); 4] = [
    ("profile", Endpoint::Profile),
    ("memory list", Endpoint::List),
    ("memory show", Endpoint::Show),
    ("memory trace", Endpoint::Trace),
];

/// Purposes that open them: a request of the patient, a legal duty, or danger.
const GROUNDS: [Purpose; 3] = [Purpose::PatientRequest, Purpose::Legal, Purpose::BreakGlass];

/// Verbs that name a patient and write their own entries: as commands in the pipeline, or in the transaction of their
/// act.
#[cfg(test)]
const ACTS: &[&str] = &[
    "answer show",
    "audit erase",
    "consent record",
    "ephemeral off",
    "ephemeral on",
    "erase",
    "hold lift",
    "hold set",
    "import",
    "keys rotate",
    "memory add",
    "memory answer",
    "memory confirm",
    "memory correct",
    "memory end",
    "memory forget",
    "memory promote",
    "memory protect",
    "memory recover",
    "memory reinforce",
    "memory revise",
    "memory source",
    "memory supersede",
    "memory verify",
    "privacy",
];

/// Who reads, and on what ground.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ReaderArgs {
    /// Who reads, for the audit trail [default: the operating system's user].
    #[arg(long, global = true, value_name = "ID", env = "ANAMNESIS_ACTOR", value_parser = reader, help_heading = "Audit trail")]
    pub(crate) reader: Option<String>,
    /// Purpose: treatment, operations, patient_request, break_glass, research, quality, legal or support.
    #[arg(long, global = true, value_name = "CODE", env = "ANAMNESIS_PURPOSE", value_parser = purpose, help_heading = "Audit trail")]
    pub(crate) purpose: Option<Purpose>,
    /// Reference of the case or ticket that justifies the access: letters, digits and . _ : / # -
    #[arg(long, global = true, value_name = "REFERENCE", env = "ANAMNESIS_CASE", help_heading = "Audit trail")]
    pub(crate) case: Option<CaseReference>,
}

fn purpose(text: &str) -> Result<Purpose, String> {
    let codes = || Purpose::ALL.iter().map(|purpose| purpose.code()).collect::<Vec<_>>().join(", ");
    Purpose::from_code(text).ok_or_else(|| format!("one of {}", codes()))
}

/// An id, not a sentence: the trail holds no content.
fn reader(text: &str) -> Result<String, &'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._:@/#-".contains(c);
    if (1..=64).contains(&text.len()) && text.chars().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("an id of 1 to 64 letters, digits and . _ : @ / # -")
    }
}

/// The read of the process, if there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadSession {
    read: Option<Arc<AuditedRead>>,
}

#[derive(Debug)]
struct AuditedRead {
    action: &'static str,
    org: OrgId,
    patient: Option<PatientId>,
    subject: Option<Uuid>,
    actor: Actor,
    named: bool,
    /// A denial of recall closes it.
    closed: bool,
    /// The store that was opened, where the entry is written after the answer.
    store: OnceLock<Store>,
    endpoint: Option<Endpoint>,
    /// The answer is that there is nothing.
    empty: AtomicBool,
}

impl ReadSession {
    /// The read that the arguments request.
    pub(crate) fn from_matches(matches: &ArgMatches, reader: &ReaderArgs) -> Self {
        let (path, last) = leaf(matches);
        let Some((_, action)) = READS.iter().find(|(verb, _)| *verb == path) else { return Self::default() };
        // An erasure is an act; its receipts are read.
        if path == "erase" && !last.get_flag("receipts") {
            return Self::default();
        }
        let text = |name: &str| {
            let raw = last.try_get_raw(name).ok().flatten().and_then(|mut values| values.next());
            raw.and_then(std::ffi::OsStr::to_str).map(str::to_owned)
        };
        let id = |name: &str| text(name).and_then(|text| text.parse::<Uuid>().ok());
        // The verb's own argument comes first.
        let given = text("by")
            .filter(|by| self::reader(by).is_ok())
            .or_else(|| reader.reader.clone())
            .or_else(|| text("actor").and_then(|name| self::reader(&name).ok()));
        let role = text("role").or_else(|| std::env::var("ANAMNESIS_ROLE").ok());
        let role = role.filter(|role| ["patient", "clinician", "system", "officer"].contains(&role.as_str()));
        let actor = Actor {
            id: given.clone().unwrap_or_else(user),
            role,
            purpose: reader.purpose,
            reason: reader.case.clone(),
        };
        let read = AuditedRead {
            action,
            org: id("org").map_or(PLATFORM, OrgId),
            patient: id("patient").map(PatientId),
            subject: id("id").or_else(|| id("document")).or_else(|| id("ids")),
            closed: CLOSED.contains(&path.as_str()),
            named: given.is_some() && reader.purpose.is_some(),
            actor,
            store: OnceLock::new(),
            endpoint: ENDPOINTS.iter().find(|(verb, _)| *verb == path).map(|(_, endpoint)| *endpoint),
            empty: AtomicBool::new(false),
        };
        Self { read: Some(Arc::new(read)) }
    }

    /// Called when the store is open and nothing is read yet.
    ///
    /// # Errors
    /// When the configuration requires a reader and there is none, or the read cannot be recorded before it begins.
    pub(crate) async fn opened(&self, app: &App) -> Result<(), CliError> {
        let Some(read) = &self.read else { return Ok(()) };
        if app.settings.audit.require_reader && !read.named {
            return Err(CliError::usage(
                "who reads, and for what? Give --reader ID and --purpose CODE, or set ANAMNESIS_ACTOR and ANAMNESIS_PURPOSE: \
                 audit.require_reader asks for both",
            ));
        }
        if app.settings.audit.denial_closes_tools
            && let Err(failure) = read.permitted(&app.store).await
        {
            read.write(&app.store, "withheld").await?;
            return Err(failure);
        }
        match app.settings.audit.reads {
            Reads::Before => read.write(&app.store, "asked").await,
            Reads::After => {
                // A verb opens one store.
                let _ = read.store.set(app.store.clone());
                Ok(())
            }
        }
    }

    /// Whether a patient permits a read of data whose owner is only known from an opened row.
    ///
    /// # Errors
    /// When the patient does not, where a denial closes such reads.
    pub(crate) async fn permits(&self, app: &App, scope: Scope) -> Result<(), CliError> {
        match &self.read {
            Some(read) if app.settings.audit.denial_closes_tools => read.permitted_of(&app.store, scope).await,
            _ => Ok(()),
        }
    }

    /// Records an act on the whole store, by a verb that does not work in it. If the store cannot be opened for
    /// writing, as by a role that only reads, a warning says that the trail lacks it.
    pub(crate) async fn note(&self, settings: &Settings) {
        let Some(read) = &self.read else { return };
        // A key store without a store: opening one would create it.
        if matches!(Location::from_config(&settings.store), Ok(Location::File(path)) if !path.exists()) {
            return;
        }
        let written = match App::with(settings.clone()).await {
            Ok(app) => {
                let written = read.write(&app.store, "done").await;
                app.store.close().await;
                written
            }
            Err(failure) => Err(failure),
        };
        if written.is_err() {
            super::output::note("this was done, and is not in the audit trail: the store cannot be written to");
        }
    }

    /// The answer will be that there is nothing, for the metrics.
    pub(crate) fn finds(&self, nothing: bool) {
        if let Some(read) = &self.read {
            read.empty.store(nothing, Ordering::Relaxed);
        }
    }

    /// Counts the read by its endpoint and its outcome. Wrong arguments read nothing.
    pub(crate) fn count<T>(&self, result: &Result<T, CliError>, metrics: &Metrics) {
        let Some((read, endpoint)) = self.read.as_ref().and_then(|read| Some((read, read.endpoint?))) else { return };
        let outcome = match result {
            Err(failure) if failure.exit() == Exit::Usage => return,
            _ if read.empty.load(Ordering::Relaxed) => ReadOutcome::Empty,
            Ok(_) => ReadOutcome::Hit,
            Err(failure) if failure.answer_code() == Some("withheld") => ReadOutcome::Refused,
            Err(_) => ReadOutcome::Error,
        };
        metrics.recall.reads.with_labels((endpoint, outcome)).inc();
    }

    /// Called when the answer was given or refused.
    ///
    /// # Errors
    /// The verb's own error; or that its read could not be recorded.
    pub(crate) async fn ended<T: 'static>(&self, result: Result<T, CliError>) -> Result<T, CliError> {
        let opened = self.read.as_ref().and_then(|read| Some((read, read.store.get()?)));
        let Some((read, store)) = opened else { return result };
        let outcome = match &result {
            Ok(done) => match (done as &dyn std::any::Any).downcast_ref::<Exit>() {
                Some(Exit::Failed) => "refused",
                Some(Exit::Partial) => "partial",
                _ => "done",
            },
            Err(failure) if failure.exit() == Exit::Usage => "refused",
            Err(failure) => failure.answer_code().unwrap_or("failed"),
        };
        let written = read.write(store, outcome).await;
        result.and_then(|done| written.map(|()| done))
    }
}

impl AuditedRead {
    /// Whether the patient permits this read.
    async fn permitted(&self, store: &Store) -> Result<(), CliError> {
        let Some(patient) = self.patient.filter(|_| self.closed) else { return Ok(()) };
        // An id that is none is for the verb to refuse.
        let Ok(scope) = Scope::new(self.org, patient) else { return Ok(()) };
        self.permitted_of(store, scope).await
    }

    /// The same for a patient whom the arguments need not name.
    async fn permitted_of(&self, store: &Store, scope: Scope) -> Result<(), CliError> {
        if self.actor.purpose.is_some_and(|purpose| GROUNDS.contains(&purpose)) {
            return Ok(());
        }
        match store.organization().may_recall(scope).await {
            Err(StoreError::NoConsent) => {
                let why = "no_consent: the patient does not permit that this is read; --purpose patient_request, legal or break_glass \
                           is a ground that the audit trail keeps";
                Err(CliError::failed(why).answering(PatientAnswer::from_store_error(&StoreError::NoConsent)))
            }
            // The verb reports look-ups that fail.
            _ => Ok(()),
        }
    }

    async fn write(&self, store: &Store, outcome: &str) -> Result<(), CliError> {
        if failpoints::is("read_unaudited") {
            return Ok(());
        }
        let Self { action, org, patient, subject, .. } = self;
        let unwritten = |_| CliError::failed("this read cannot be written to the audit trail");
        // An unknown organisation has no chain, so the entry is in that of the platform.
        let known =
            *org == PLATFORM || store.intake().organizations(&[*org]).await.map_err(unwritten)?.contains_key(org);
        let done = if known {
            AuditedAction { org: *org, patient: *patient, action, subject: *subject, outcome }
        } else {
            AuditedAction {
                org: PLATFORM,
                patient: None,
                action,
                subject: Some(org.0),
                outcome: "unknown_organization",
            }
        };
        store.audit_trail().audit(&self.actor, done).await.map_err(unwritten)
    }
}

/// The words of the verb, and the arguments of its last word.
fn leaf(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut path, mut at) = (Vec::new(), matches);
    while let Some((name, below)) = at.subcommand() {
        path.push(name);
        at = below;
    }
    (path.join(" "), at)
}

/// The user as whom the process runs.
pub(super) fn user() -> String {
    std::fs::metadata("/proc/self").map_or_else(|_| "unknown".to_owned(), |own| format!("uid:{}", own.uid()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    /// Leaves of the command line that have an argument `--patient`.
    fn of_patients(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name()).trim().to_owned();
            if below.get_arguments().any(|argument| argument.get_id() == "patient") {
                found.insert(path.clone());
            }
            of_patients(below, &path, found);
        }
    }

    /// An argument with the name of a global one of another type ends the program when it is parsed.
    #[test]
    fn no_verb_has_an_argument_with_the_name_of_a_global_one() {
        fn own(command: &clap::Command, global: &BTreeSet<String>, path: &str) {
            for below in command.get_subcommands() {
                let path = format!("{path} {}", below.get_name());
                let known =
                    |argument: &&clap::Arg| !argument.is_global_set() && global.contains(argument.get_id().as_str());
                let twice: Vec<_> = below.get_arguments().filter(known).map(clap::Arg::get_id).collect();
                assert!(twice.is_empty(), "{path}: {twice:?}");
                own(below, global, &path);
            }
        }
        let command = Cli::command();
        let global = command.get_arguments().filter(|argument| argument.is_global_set());
        let global: BTreeSet<String> = global.map(|argument| argument.get_id().to_string()).collect();
        assert!(global.contains("reader"), "{global:?}");
        own(&command, &global, "anamnesis");
    }

    fn leaves(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name()).trim().to_owned();
            if !below.is_subcommand_required_set() {
                found.insert(path.clone());
            }
            leaves(below, &path, found);
        }
    }

    #[test]
    fn every_verb_that_names_a_patient_is_a_read_that_is_written_down_or_an_act_that_writes_its_own() {
        let mut found = BTreeSet::new();
        of_patients(&Cli::command(), "", &mut found);
        let known: BTreeSet<String> =
            READS.iter().map(|(verb, _)| *verb).chain(ACTS.iter().copied()).map(str::to_owned).collect();
        assert!(found.len() > 20, "the command line is read");
        let unknown: Vec<_> = found.difference(&known).collect();
        assert_eq!(unknown, Vec::<&String>::new(), "verbs of which the audit trail says nothing");
        let mut all = BTreeSet::new();
        leaves(&Cli::command(), "", &mut all);
        let misnamed: Vec<_> = known.difference(&all).collect();
        assert_eq!(misnamed, Vec::<&String>::new(), "no verb is called so, and its read would not be written down");
    }

    #[test]
    fn a_reader_is_an_id_and_no_sentence() {
        assert!(reader("dr.perez@clinic.example").is_ok());
        for text in ["", "the patient asked me", &"a".repeat(65)] {
            assert!(reader(text).is_err());
        }
    }
}
