//! `audit`: acts on records and their actors; the check that entries are unchanged; block heads to store elsewhere.

use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use clap::Subcommand;
use serde_json::json;
use uuid::Uuid;

use super::app::App;
use super::output::{self, OutputFormat};
use super::patient::{PatientArgs, TimePoint};
use super::{CliError, Context, Exit};
use anamnesis_core::audit::{self, Actor, ChainReport, ChainVerdict, Head};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_jobs::policy::Policies;
use anamnesis_store::audit_trail::{AuditEntryView, AuditFilter};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis audit list --org $ORG --patient $PATIENT\n  \
    anamnesis audit heads --output json > /mnt/witness/heads.ndjson\n  \
    anamnesis audit verify --heads /mnt/witness/heads.ndjson")]
pub struct Args {
    #[command(subcommand)]
    what: AuditSubcommand,
}

#[derive(Debug, Subcommand)]
enum AuditSubcommand {
    /// List entries, newest first
    List(ListArgs),
    /// Verify all entries and blocks. Exit code 0: verified against a head stored elsewhere. 3: no such head. 1 or 5: not valid
    Verify(VerifyArgs),
    /// Print the newest head of each organisation, to store where writers of the store have no access
    Heads {
        /// The heads at this instant, or at the end of this date.
        #[arg(long, value_name = "DATE")]
        as_of: Option<TimePoint>,
    },
    /// Erase patient and persons from the entries of a patient; the chain stays verifiable
    Erase {
        #[command(flatten)]
        of: PatientArgs,
        /// Id of the person who requests it, for the audit trail.
        #[arg(long, value_name = "UUID")]
        by: Uuid,
    },
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// The organisation [default: entries without an organisation].
    #[arg(long, value_name = "UUID")]
    org: Option<OrgId>,
    /// Only entries of this patient.
    #[arg(long, value_name = "UUID", requires = "org")]
    patient: Option<PatientId>,
    /// Only entries with this action.
    #[arg(long, value_name = "CODE", default_value = "")]
    action: String,
    /// Only entries of this person or program.
    #[arg(long = "of-actor", value_name = "ID")]
    of_actor: Option<String>,
    /// Start: a date or an instant.
    #[arg(long, value_name = "DATE")]
    since: Option<TimePoint>,
    /// End: a date (inclusive) or an instant (exclusive).
    #[arg(long, value_name = "DATE")]
    until: Option<TimePoint>,
    /// Maximum number of entries.
    #[arg(long, default_value_t = 100)]
    limit: u32,
}

#[derive(Debug, clap::Args)]
struct VerifyArgs {
    /// Only this organisation [default: all entries].
    #[arg(long, value_name = "UUID")]
    org: Option<OrgId>,
    /// Heads stored elsewhere (NDJSON): the output of `audit heads --output json`, or `audit.head_file` of a worker.
    #[arg(long, value_name = "FILE")]
    heads: Option<PathBuf>,
}

/// # Errors
/// When the configuration is wrong, or the store cannot be read or written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        let format = context.format_or(OutputFormat::Table);
        match args.what {
            AuditSubcommand::List(list) => show(&app, &list, format).await,
            AuditSubcommand::Verify(verify) => check(&app, &verify, format).await,
            AuditSubcommand::Heads { as_of } => heads(&app, as_of, format).await,
            AuditSubcommand::Erase { of, by } => {
                let actor = Actor { id: by.to_string(), ..Actor::default() };
                let erased = app.store.audit_trail().erase_audit(of.scope()?, &actor).await?;
                match format {
                    OutputFormat::Json => output::json(&json!({"erased": erased}))?,
                    OutputFormat::Table => {
                        output::line(&format!("{erased} entries name neither the patient nor who acted any more."))?
                    }
                }
                Ok(Exit::Done)
            }
        }
    })
}

async fn show(app: &App, list: &ListArgs, format: OutputFormat) -> Result<Exit, CliError> {
    let which = AuditFilter {
        org: list.org.unwrap_or(anamnesis_store::audit_trail::PLATFORM),
        patient: list.patient,
        action: list.action.clone(),
        actor: list.of_actor.clone().unwrap_or_default(),
        since: list.since.map_or(DateTime::UNIX_EPOCH, TimePoint::start),
        until: list.until.map_or_else(|| app.clock.now() + TimeDelta::days(1), TimePoint::end),
        most: list.limit.into(),
    };
    let entries = app.store.audit_trail().audit_entries(&which).await?;
    match format {
        OutputFormat::Json => output::json(&entries)?,
        OutputFormat::Table if entries.is_empty() => output::line("No entry.")?,
        OutputFormat::Table => output::table(
            &["at", "action", "by", "role", "for", "patient", "on", "outcome"],
            entries.iter().map(cells),
        )?,
    }
    Ok(Exit::Done)
}

fn cells(entry: &AuditEntryView) -> [String; 8] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let id = |id: Option<Uuid>| id.map(|id| id.to_string()).unwrap_or_default();
    let ground = [text(&entry.purpose), text(&entry.reason)].join(" ").trim().to_owned();
    let by = if entry.erased { "(erased)".to_owned() } else { entry.actor.clone() };
    [
        entry.at.format("%Y-%m-%d %H:%M:%S").to_string(),
        entry.action.clone(),
        by,
        text(&entry.role),
        ground,
        id(entry.patient_id),
        id(entry.subject_id),
        entry.outcome.clone(),
    ]
}

async fn heads(app: &App, as_of: Option<TimePoint>, format: OutputFormat) -> Result<Exit, CliError> {
    let orgs = app.store.audit_trail().audited_organizations().await?;
    if as_of.is_none() {
        for org in &orgs {
            app.store.audit_trail().seal_audit(*org).await?;
        }
    }
    let heads =
        app.store.audit_trail().audit_heads(&orgs, as_of.map_or_else(|| app.clock.now(), TimePoint::last)).await?;
    match format {
        OutputFormat::Json => heads.iter().try_for_each(output::json)?,
        OutputFormat::Table => {
            let row = |head: &Head| {
                let at = head.sealed_at.format("%Y-%m-%d %H:%M:%S").to_string();
                [head.org.to_string(), head.block.to_string(), at, head.hash.clone()]
            };
            output::table(&["organisation", "block", "sealed at", "hash"], heads.iter().map(row))?;
            output::line(&format!("anamnesis_audit_head {}", audit::gauge(&heads)))?;
        }
    }
    Ok(Exit::Done)
}

async fn check(app: &App, verify: &VerifyArgs, format: OutputFormat) -> Result<Exit, CliError> {
    let heads = verify.heads.as_deref().map(read_heads).transpose()?.unwrap_or_default();
    let term_began = term_began(app, app.clock.now())?;
    let known = app.store.audit_trail().audited_organizations().await?;
    let mut orgs = verify.org.map_or_else(|| known.clone(), |org| vec![org]);
    // A head of an organisation that is not there is not in any chain.
    orgs.extend(heads.iter().map(|head| head.org).filter(|org| verify.org.is_none() && !known.contains(org)));
    orgs.sort_unstable();
    orgs.dedup();
    let mut reports = Vec::new();
    for org in orgs {
        let report = app.store.audit_trail().check_audit(org, &heads, term_began).await?;
        if report.blocks + report.unsealed + report.faults > 0 {
            reports.push(report);
        }
    }
    match format {
        OutputFormat::Json => reports.iter().try_for_each(output::json)?,
        OutputFormat::Table if reports.is_empty() => output::line("No entry.")?,
        OutputFormat::Table => print(&reports)?,
    }
    Ok(ended(&reports))
}

/// The worst of them.
fn ended(reports: &[ChainReport]) -> Exit {
    let any = |verdict| reports.iter().any(|report| report.verdict == verdict);
    if any(ChainVerdict::Invalid) {
        Exit::Failed
    } else if any(ChainVerdict::Diverged) {
        Exit::Diverged
    } else if any(ChainVerdict::Unanchored) {
        Exit::Partial
    } else {
        Exit::Done
    }
}

fn print(reports: &[ChainReport]) -> Result<(), CliError> {
    let row = |report: &ChainReport| {
        let counts = [report.blocks, report.entries, report.unsealed, report.unsigned, report.erased, report.faults];
        let [blocks, entries, unsealed, unsigned, erased, faults] = counts.map(|count| count.to_string());
        [report.org.to_string(), report.verdict.to_string(), blocks, entries, unsealed, unsigned, erased, faults]
    };
    let header = ["organisation", "verdict", "blocks", "entries", "not sealed", "not signed", "erased", "faults"];
    output::table(&header, reports.iter().map(row))?;
    let findings = reports.iter().flat_map(|report| report.findings.iter().map(move |finding| (report.org, finding)));
    let findings: Vec<[String; 4]> = findings
        .map(|(org, finding)| {
            let block = finding.block.map(|block| block.to_string()).unwrap_or_default();
            let entry = finding.entry.map(|entry| entry.to_string()).unwrap_or_default();
            [org.to_string(), finding.fault.to_string(), block, entry]
        })
        .collect();
    if !findings.is_empty() {
        output::table(&["organisation", "fault", "block", "entry"], findings)?;
    }
    Ok(())
}

pub(super) fn read_heads(path: &std::path::Path) -> Result<Vec<Head>, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|_| CliError::usage(format!("--heads: {} cannot be read", path.display())))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let heads = lines.map(|(at, line)| {
        let wrong =
            |_| CliError::usage(format!("--heads: line {} is no head: org, block, hash and sealed_at as JSON", at + 1));
        serde_json::from_str(line).map_err(wrong)
    });
    heads.collect()
}

/// When entries of the platform's own chain are past their term.
pub(super) fn term_began(app: &App, now: DateTime<Utc>) -> Result<DateTime<Utc>, CliError> {
    let policies = Policies::load(app.settings.jobs.directory()).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(now - TimeDelta::days(policies.upkeep.thresholds.audit_days.into()))
}
