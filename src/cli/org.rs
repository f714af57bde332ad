//! `org list|set`: the organisations that the store knows, and what each says of itself.

use clap::Subcommand;

use super::output::{self, Format};
use super::patient::known;
use super::world::World;
use super::{Context, Exit, Failure};
use crate::domain::ids::OrgId;
use crate::domain::retention::{PrivacyTier, country};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The organisations that the store knows
    List,
    /// Change what is given, and nothing else
    Set {
        /// The organisation.
        #[arg(long, value_name = "UUID")]
        org: OrgId,
        /// An IANA time zone: nights follow it.
        #[arg(long, value_name = "ZONE", value_parser = zone)]
        time_zone: Option<String>,
        /// standard, summary_only, drop_source or cold_archive: what holds where a patient said nothing.
        #[arg(long, value_name = "TIER", value_parser = |text: &str| known(text, PrivacyTier::ALL, PrivacyTier::code))]
        privacy_tier: Option<PrivacyTier>,
        /// Two letters (ISO 3166-1): what holds where neither patient nor organisation said a tier.
        #[arg(long, value_name = "CODE", value_parser = code)]
        country: Option<String>,
    },
}

fn zone(text: &str) -> Result<String, String> {
    text.parse::<chrono_tz::Tz>().map(|zone| zone.name().to_owned()).map_err(|_| "no IANA time zone".to_owned())
}

fn code(text: &str) -> Result<String, String> {
    country(text).ok_or_else(|| "two letters".to_owned())
}

/// # Errors
/// When the configuration is wrong, the store cannot be opened, or the organisation is not known.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        if let What::Set { org, time_zone, privacy_tier, country } = args.what {
            let set = world.store.set_organization(org, time_zone.as_deref(), privacy_tier, country.as_deref());
            if !set.await? {
                return Err(Failure::usage("the store knows no such organisation"));
            }
        }
        let rows = world.store.organization_rows().await?;
        match context.format_or(Format::Table) {
            Format::Json => output::json(&rows)?,
            Format::Table => {
                let rows = rows.iter().map(|row| {
                    let tier = row.privacy_tier.map(|tier| tier.to_string()).unwrap_or_default();
                    [row.org.to_string(), row.time_zone.clone(), tier, row.country.clone().unwrap_or_default()]
                });
                output::table(&["organisation", "time zone", "privacy tier", "country"], rows)?;
            }
        }
        Ok(Exit::Done)
    })
}
