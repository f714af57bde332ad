//! `bench jobs`: what a night costs among many memories.

use super::super::output::{self, Format};
use super::super::world::World;
use super::super::{Context, Exit, Failure};
use super::stores::{StoreArgs, Stores};
use crate::bench::nights::{self, Measured, Size};
use crate::config::{self, Settings};
use crate::jobs::policy::Policies;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Memories that are stored.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    memories: u64,
    /// Memories that expire in the measured night; half as many more fall below their threshold.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    due: u64,
}

/// # Errors
/// When the store cannot be made or a night does not end well.
pub(super) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    if args.memories < args.due.saturating_mul(2) {
        return Err(Failure::usage("--memories is at least twice --due"));
    }
    let measured = context.block_on(measured(&args, context))?;
    if context.format_or(Format::Table) == Format::Table {
        table(&measured)?;
    }
    output::json(&measured)?;
    let right = measured.again_changed == 0 && measured.changed >= args.due;
    Ok(if right { Exit::Done } else { Exit::Failed })
}

async fn measured(args: &Args, context: &Context) -> Result<Measured, Failure> {
    let mut settings = config::load(context.config.as_deref()).map_err(|error| Failure::usage(error.to_string()))?;
    let stores = Stores::make(&args.store, &settings, 1).await?;
    stores.settle(0, &mut settings);
    let measured = nights(args, settings).await;
    stores.remove().await;
    measured
}

async fn nights(args: &Args, settings: Settings) -> Result<Measured, Failure> {
    let policies = Policies::load(settings.jobs.directory()).map_err(|error| Failure::usage(error.to_string()))?;
    let world = World::with(settings).await?;
    let progress = output::progress_count(Some(args.memories));
    let told = |done| progress.set_position(done);
    let size = Size { memories: args.memories, due: args.due };
    let measured = nights::measure(&world.store, policies, size, &told).await;
    progress.finish_and_clear();
    world.store.close().await;
    measured.map_err(|error| Failure::failed(error.to_string()))
}

fn table(m: &Measured) -> Result<(), Failure> {
    let ms = |figure: f64| format!("{figure:.1}");
    let rows = [
        ("Store", m.store.to_owned()),
        ("Memories", m.memories.to_string()),
        ("Due to expire", m.due.to_string()),
        ("A night, ms", ms(m.night_ms)),
        ("Rows looked at, changed", format!("{}, {}", m.examined, m.changed)),
        ("The same night again, ms", ms(m.again_ms)),
        ("Rows that the repetition changed", m.again_changed.to_string()),
        ("A night after another rate of decay, ms", ms(m.anew_ms)),
        ("One statement over every row, ms", ms(m.whole_update_ms)),
        ("Former over latter", format!("{:.2}", m.anew_over_update)),
        ("Size on disk after over before", format!("{:.2}", m.growth)),
        ("Most memory, MB", format!("{:.1}", m.peak_bytes as f64 / 1e6)),
    ];
    output::table(&["Measure", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))?;
    if m.build == "debug" {
        output::note("This is a development build: for figures that mean something, build with --release.");
    }
    Ok(())
}
