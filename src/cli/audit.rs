//! `audit`: what was done to whose record and by whom; the check that nobody changed it since; heads to be kept elsewhere.

use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use clap::Subcommand;
use serde_json::json;
use uuid::Uuid;

use super::output::{self, Format};
use super::patient::{Of, Point};
use super::world::World;
use super::{Context, Exit, Failure};
use anamnesis_core::audit::{self, Actor, Head, Report, Verdict};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_jobs::policy::Policies;
use anamnesis_store::auditing::{Shown, Which};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis audit list --org $ORG --patient $PATIENT\n  \
    anamnesis audit heads --output json > /mnt/witness/heads.ndjson\n  \
    anamnesis audit verify --heads /mnt/witness/heads.ndjson")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Entries, newest first
    List(List),
    /// Check each entry and block; exit code 0 with a head that was kept elsewhere, 3 without one, 1 or 5 when it is not right
    Verify(Verify),
    /// The newest head of each organisation: keep them where writers of the store cannot write
    Heads {
        /// As they were at this instant or at the end of this date.
        #[arg(long, value_name = "DATE")]
        as_of: Option<Point>,
    },
    /// Take a patient and the persons out of the patient's entries; the chain still shows that nothing else was changed
    Erase {
        #[command(flatten)]
        of: Of,
        /// Who asks for it: an id that the trail keeps.
        #[arg(long, value_name = "UUID")]
        by: Uuid,
    },
}

#[derive(Debug, clap::Args)]
struct List {
    /// The organisation [default: acts that belong to none].
    #[arg(long, value_name = "UUID")]
    org: Option<OrgId>,
    /// Only of this patient.
    #[arg(long, value_name = "UUID", requires = "org")]
    patient: Option<PatientId>,
    /// Only this action.
    #[arg(long, value_name = "CODE", default_value = "")]
    action: String,
    /// Only by this person or program.
    #[arg(long = "of-actor", value_name = "ID")]
    of_actor: Option<String>,
    /// From this date or instant on.
    #[arg(long, value_name = "DATE")]
    since: Option<Point>,
    /// Up to this date (with it) or instant (without it).
    #[arg(long, value_name = "DATE")]
    until: Option<Point>,
    /// At most so many.
    #[arg(long, default_value_t = 100)]
    limit: u32,
}

#[derive(Debug, clap::Args)]
struct Verify {
    /// Only this organisation [default: all, and acts that belong to none].
    #[arg(long, value_name = "UUID")]
    org: Option<OrgId>,
    /// Heads that were kept elsewhere: NDJSON, as `audit heads --output json` prints and a worker appends to `audit.head_file`.
    #[arg(long, value_name = "FILE")]
    heads: Option<PathBuf>,
}

/// # Errors
/// When the configuration is wrong, or the store cannot be read or written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        let format = context.format_or(Format::Table);
        match args.what {
            What::List(list) => show(&world, &list, format).await,
            What::Verify(verify) => check(&world, &verify, format).await,
            What::Heads { as_of } => heads(&world, as_of, format).await,
            What::Erase { of, by } => {
                let actor = Actor { id: by.to_string(), ..Actor::default() };
                let erased = world.store.erase_audit(of.scope()?, &actor).await?;
                match format {
                    Format::Json => output::json(&json!({"erased": erased}))?,
                    Format::Table => {
                        output::line(&format!("{erased} entries name neither the patient nor who acted any more."))?
                    }
                }
                Ok(Exit::Done)
            }
        }
    })
}

async fn show(world: &World, list: &List, format: Format) -> Result<Exit, Failure> {
    let which = Which {
        org: list.org.unwrap_or(anamnesis_store::auditing::PLATFORM),
        patient: list.patient,
        action: list.action.clone(),
        actor: list.of_actor.clone().unwrap_or_default(),
        since: list.since.map_or(DateTime::UNIX_EPOCH, Point::start),
        until: list.until.map_or_else(|| world.clock.now() + TimeDelta::days(1), Point::end),
        most: list.limit.into(),
    };
    let entries = world.store.audit_entries(&which).await?;
    match format {
        Format::Json => output::json(&entries)?,
        Format::Table if entries.is_empty() => output::line("No entry.")?,
        Format::Table => output::table(
            &["at", "action", "by", "role", "for", "patient", "on", "outcome"],
            entries.iter().map(cells),
        )?,
    }
    Ok(Exit::Done)
}

fn cells(entry: &Shown) -> [String; 8] {
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

async fn heads(world: &World, as_of: Option<Point>, format: Format) -> Result<Exit, Failure> {
    let orgs = world.store.audited_organizations().await?;
    if as_of.is_none() {
        for org in &orgs {
            world.store.seal_audit(*org).await?;
        }
    }
    let heads = world.store.audit_heads(&orgs, as_of.map_or_else(|| world.clock.now(), Point::last)).await?;
    match format {
        Format::Json => heads.iter().try_for_each(output::json)?,
        Format::Table => {
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

async fn check(world: &World, verify: &Verify, format: Format) -> Result<Exit, Failure> {
    let heads = verify.heads.as_deref().map(read_heads).transpose()?.unwrap_or_default();
    let term_began = term_began(world, world.clock.now())?;
    let known = world.store.audited_organizations().await?;
    let mut orgs = verify.org.map_or_else(|| known.clone(), |org| vec![org]);
    // A head of an organisation that is not there is not in any chain.
    orgs.extend(heads.iter().map(|head| head.org).filter(|org| verify.org.is_none() && !known.contains(org)));
    orgs.sort_unstable();
    orgs.dedup();
    let mut reports = Vec::new();
    for org in orgs {
        let report = world.store.check_audit(org, &heads, term_began).await?;
        if report.blocks + report.unsealed + report.faults > 0 {
            reports.push(report);
        }
    }
    match format {
        Format::Json => reports.iter().try_for_each(output::json)?,
        Format::Table if reports.is_empty() => output::line("No entry.")?,
        Format::Table => print(&reports)?,
    }
    Ok(ended(&reports))
}

/// The worst of them.
fn ended(reports: &[Report]) -> Exit {
    let any = |verdict| reports.iter().any(|report| report.verdict == verdict);
    if any(Verdict::Invalid) {
        Exit::Failed
    } else if any(Verdict::Diverged) {
        Exit::Diverged
    } else if any(Verdict::Unanchored) {
        Exit::Partial
    } else {
        Exit::Done
    }
}

fn print(reports: &[Report]) -> Result<(), Failure> {
    let row = |report: &Report| {
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

pub(super) fn read_heads(path: &std::path::Path) -> Result<Vec<Head>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|_| Failure::usage(format!("--heads: {} cannot be read", path.display())))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let heads = lines.map(|(at, line)| {
        let wrong =
            |_| Failure::usage(format!("--heads: line {} is no head: org, block, hash and sealed_at as JSON", at + 1));
        serde_json::from_str(line).map_err(wrong)
    });
    heads.collect()
}

/// When entries of the platform's own chain are past their term.
pub(super) fn term_began(world: &World, now: DateTime<Utc>) -> Result<DateTime<Utc>, Failure> {
    let policies =
        Policies::load(world.settings.jobs.directory()).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(now - TimeDelta::days(policies.upkeep.thresholds.audit_days.into()))
}
