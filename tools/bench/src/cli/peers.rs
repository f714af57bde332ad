//! `anamnesis-bench peers`: this program next to other memory libraries, with the same documents, server and
//! embeddings.

use crate::settings_of;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::ingest::PipelineProfile;
use super::stores::{StoreArgs, Stores};
use crate::ingest::{self, DocumentSource, IngestLoad, IngestMeasurement};
use crate::peers::{self, PEERS, Peer, PeerLocation, PeersError};
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::Settings;
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// A Python in which the peers are installed (scripts/peers.txt).
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// How many documents: enough that every slot works several batches.
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u64).range(1..))]
    documents: u64,
    /// Number of documents for a peer that redacts: it needs seconds for a hundred.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..))]
    redacted_documents: u64,
    /// Messages that share one of this program's transactions, and texts of one call of a peer: as a worker takes them that
    /// works off a bulk queue (pipeline.batch_documents).
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..=2048))]
    batch: u16,
    /// Batches that this program works at once (broker.bulk_concurrency).
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    slots: u16,
}

/// Stores of this program's own: two profiles, each with its bare upserts.
const OWN: [PipelineProfile; 2] = [PipelineProfile::Patterns, PipelineProfile::Whole];

/// # Errors
/// When stores cannot be made or a peer fails.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    if !args.store.is_server() {
        return Err(CliError::usage("the peers store their memory on a server: use --store postgres"));
    }
    context.block_on(measured(&args, context))
}

async fn measured(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = settings_of(context)?;
    let stores = Stores::make(&args.store, &settings, 2 * OWN.len() + PEERS.len()).await?;
    let done = compared(args, context, &settings, &stores).await;
    stores.remove().await;
    done
}

async fn compared(args: &Args, context: &Context, settings: &Settings, stores: &Stores) -> Result<Exit, CliError> {
    let options = FakeOptions::default();
    let dimension = options.dimension;
    let server = FakeProvider::start(options).await?;
    let (mut found, mut failed) = (Vec::new(), false);
    for (n, (peer, redacts)) in PEERS.into_iter().enumerate() {
        // The one that redacts takes a hundred milliseconds for a document.
        let documents = if redacts { args.documents.min(args.redacted_documents) } else { args.documents };
        output::note(&format!("{peer}: {documents} documents"));
        let url = stores.administrators_url(2 * OWN.len() + n).unwrap_or_default();
        let embeddings = server.openai_url();
        let batch = usize::from(args.batch);
        let place = PeerLocation {
            python: &args.python,
            folder: stores.folder(),
            url: &url,
            embeddings: &embeddings,
            dimension,
            batch,
        };
        let peer = match peers::run(peer, documents, &place).await {
            // The others took minutes: what they did is reported all the same.
            Err(error @ PeersError::Failed { .. }) => {
                output::note(&error.to_string());
                failed = true;
                Peer::failed(peer, &error)
            }
            done => done.map_err(|error| CliError::failed(error.to_string()))?,
        };
        found.push((peer, redacts));
    }
    let mut own = Vec::new();
    for (n, profile) in OWN.into_iter().enumerate() {
        output::note(&format!("anamnesis, {}: {} documents", profile.name(), args.documents));
        let mut settings = settings.clone();
        stores.configure(2 * n, &mut settings);
        super::ingest::embed_with(&mut settings, &server, dimension);
        profile.configure(&mut settings);
        own.push(one(args, profile, settings, &stores.location(2 * n + 1)).await?);
    }
    print_comparison(context, args, &own, &found)?;
    let whole = !failed && own.iter().all(|own| own.not_stored == 0);
    Ok(if whole { Exit::Done } else { Exit::Partial })
}

async fn one(
    args: &Args,
    profile: PipelineProfile,
    settings: Settings,
    empty: &anamnesis_sql::Location,
) -> Result<IngestMeasurement, CliError> {
    let load = IngestLoad { batch: args.batch.into(), slots: args.slots.into() };
    let app = App::made(settings).await?;
    let pipeline = profile.pipeline(&app)?;
    let own = ingest::measure(&pipeline, &DocumentSource::Generated(args.documents), load, empty, &|_| {}).await;
    app.store.close().await;
    let own = own.map_err(|error| CliError::failed(error.to_string()))?;
    Ok(IngestMeasurement { profile: profile.name(), ..own })
}

/// Each peer next to the comparable profile.
fn print_comparison(
    context: &Context,
    args: &Args,
    own: &[IngestMeasurement],
    found: &[(Peer, bool)],
) -> Result<(), CliError> {
    let comparable = |redacts: bool| own.iter().find(|own| (own.profile == "whole") == redacts);
    let ratio = |(peer, redacts): &(Peer, bool)| {
        Some(comparable(*redacts)?.documents_per_second / peer.documents_per_second()?)
    };
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        let mut rows: Vec<[String; 3]> = Vec::new();
        for own in own {
            rows.push([
                format!("anamnesis, {}", own.profile),
                format!("{:.1}", own.documents_per_second),
                String::new(),
            ]);
        }
        for one in found {
            let peer = &one.0;
            let version = peer.version.as_ref().or(peer.error.as_ref()).cloned().unwrap_or_default();
            let rate = peer.documents_per_second().map(|rate| format!("{rate:.1}")).unwrap_or_default();
            let profile = comparable(one.1).map(|own| own.profile).unwrap_or_default();
            let times = ratio(one).map(|times| format!("{times:.2} ({profile})")).unwrap_or_default();
            rows.push([format!("{} {version}", peer.peer), rate, times]);
        }
        output::table(&["Memory", "Documents per second", "Ratio of anamnesis to it"], rows)?;
    }
    let peers: Vec<Value> = found
        .iter()
        .map(|one| {
            json!({"peer": one.0.peer, "version": one.0.version, "error": one.0.error, "documents": one.0.documents,
                "documents_per_second": one.0.documents_per_second(), "ratio": ratio(one),
                "own_profile": comparable(one.1).map(|own| own.profile)})
        })
        .collect();
    let build = own.first().map(|own| own.build);
    output::json(
        &json!({"bench": "peers", "build": build, "batch": args.batch, "slots": args.slots, "own": own, "peers": peers}),
    )
}
