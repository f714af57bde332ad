//! `org list|set`: the organisations that the store knows, and what each says of itself.

use clap::Subcommand;

use super::app::App;
use super::output::{self, OutputFormat};
use super::patient::known;
use super::{CliError, Context, Exit};
use anamnesis_core::consent::Withdrawal;
use anamnesis_core::ids::OrgId;
use anamnesis_core::retention::{PrivacyTier, country};
use anamnesis_store::organizations::{OrganizationChange, OrganizationUpdate};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: OrgSubcommand,
}

#[derive(Debug, Subcommand)]
enum OrgSubcommand {
    /// List the organisations of the store
    List,
    /// Change the given settings of an organisation
    Set {
        /// The organisation.
        #[arg(long, value_name = "UUID")]
        org: OrgId,
        /// IANA time zone, for the schedule of job runs.
        #[arg(long, value_name = "ZONE", value_parser = zone)]
        time_zone: Option<String>,
        /// standard, summary_only, drop_source or cold_archive: for patients without a tier of their own.
        #[arg(long, value_name = "TIER", value_parser = |text: &str| known(text, PrivacyTier::ALL, PrivacyTier::code))]
        privacy_tier: Option<PrivacyTier>,
        /// Country (ISO 3166-1, two letters): gives the tier if neither patient nor organisation has one.
        #[arg(long, value_name = "CODE", value_parser = code)]
        country: Option<String>,
        /// true: nothing is stored of a patient without a consent in force.
        #[arg(long, value_name = "BOOL")]
        consent_required: Option<bool>,
        /// keep or forget: the effect on memories when a patient withdraws consent.
        #[arg(long, value_name = "WHAT", value_parser = |text: &str| known(text, Withdrawal::ALL, Withdrawal::code))]
        withdrawal: Option<Withdrawal>,
        /// English text of `profile --emergency`; empty: the text of the country.
        #[arg(long, value_name = "TEXT", value_parser = text)]
        emergency_text_en: Option<String>,
        /// Spanish text of `profile --emergency`; empty: the text of the country.
        #[arg(long, value_name = "TEXT", value_parser = text)]
        emergency_text_es: Option<String>,
        /// Accept a policy that was changed outside the program, after you checked it.
        #[arg(long)]
        seen: bool,
    },
}

fn zone(text: &str) -> Result<String, String> {
    text.parse::<chrono_tz::Tz>().map(|zone| zone.name().to_owned()).map_err(|_| "no IANA time zone".to_owned())
}

fn code(text: &str) -> Result<String, String> {
    country(text).ok_or_else(|| "two letters".to_owned())
}

/// At most a screen: it is read in a hurry.
fn text(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.chars().count() > 1000 { Err("at most 1000 characters".to_owned()) } else { Ok(text.to_owned()) }
}

/// # Errors
/// When the configuration is wrong, the store cannot be opened, or the organisation is not known.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        if let OrgSubcommand::Set {
            org,
            time_zone,
            privacy_tier,
            country,
            consent_required,
            withdrawal,
            emergency_text_en,
            emergency_text_es,
            seen,
        } = args.what
        {
            let change = OrganizationChange {
                time_zone,
                privacy_tier,
                country,
                consent_required,
                withdrawal,
                emergency_text_en,
                emergency_text_es,
                seen,
            };
            match app.store.organization().set_organization(org, &change).await? {
                OrganizationUpdate::Applied => {}
                OrganizationUpdate::Unknown => return Err(CliError::usage("the store knows no such organisation")),
                OrganizationUpdate::Forged => {
                    return Err(CliError::failed(
                        "the policy of this organisation was changed behind the program, and nothing was changed now: look at \
                         `anamnesis org list`, and give all that is to hold with --seen",
                    ));
                }
            }
        }
        let rows = app.store.organization().organization_rows().await?;
        match context.format_or(OutputFormat::Table) {
            OutputFormat::Json => output::json(&rows)?,
            OutputFormat::Table => {
                let rows = rows.iter().map(|row| {
                    let tier = row.privacy_tier.map(|tier| tier.to_string()).unwrap_or_default();
                    let consent = if row.consent_required { "required" } else { "not required" };
                    let country = row.country.clone().unwrap_or_default();
                    let consent = format!("{consent}, {} after withdrawal", row.withdrawal);
                    [row.org.to_string(), row.time_zone.clone(), tier, country, consent]
                });
                output::table(&["organisation", "time zone", "privacy tier", "country", "consent"], rows)?;
            }
        }
        Ok(Exit::Done)
    })
}
