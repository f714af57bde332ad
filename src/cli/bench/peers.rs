//! `bench peers`: this program beside other memory libraries, with the same documents, server and embeddings.

use std::path::PathBuf;

use serde_json::json;

use super::super::output::{self, Format};
use super::super::world::World;
use super::super::{Context, Exit, Failure};
use super::stores::{StoreArgs, Stores};
use crate::bench::ingest::{self, Source};
use crate::bench::peers::{self, PEERS, Peer, Place};
use crate::bench::provider::{FakeOptions, FakeProvider};
use crate::config;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// A Python in which the peers are installed (scripts/peers.txt).
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// How many documents.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    documents: u64,
}

/// # Errors
/// When stores cannot be made or a peer fails.
pub(super) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    if !args.store.is_server() {
        return Err(Failure::usage("the peers keep their memory on a server: --store postgres"));
    }
    context.block_on(measured(&args, context))
}

async fn measured(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let settings = config::load(context.config.as_deref()).map_err(|error| Failure::usage(error.to_string()))?;
    // Two for this program and its bare upserts, one for each peer.
    let stores = Stores::make(&args.store, &settings, 2 + PEERS.len()).await?;
    let done = compared(args, context, settings, &stores).await;
    stores.remove().await;
    done
}

async fn compared(
    args: &Args,
    context: &Context,
    mut settings: config::Settings,
    stores: &Stores,
) -> Result<Exit, Failure> {
    let options = FakeOptions::default();
    let dimension = options.dimension;
    let server = FakeProvider::start(options).await?;
    let embeddings = server.openai_url();
    let mut found = Vec::new();
    for (n, peer) in PEERS.into_iter().enumerate() {
        output::note(&format!("{peer}: {} documents", args.documents));
        let url = stores.administrators_url(2 + n).unwrap_or_default();
        let place =
            Place { python: &args.python, folder: stores.folder(), url: &url, embeddings: &embeddings, dimension };
        let peer = peers::run(peer, args.documents, &place).await;
        found.push(peer.map_err(|error| Failure::failed(error.to_string()))?);
    }
    stores.settle(&mut settings);
    super::ingest::embed_with(&mut settings, &server, dimension);
    let batch = settings.pipeline.batch_documents;
    let world = World::with(settings).await?;
    let pipeline = world.pipeline()?;
    let source = Source::Generated(args.documents);
    let own = ingest::measure(&pipeline, &source, batch, &stores.location(1), &|_| {}).await;
    world.store.close().await;
    let own = own.map_err(|error| Failure::failed(error.to_string()))?;
    let told = |peer: &Peer| {
        json!({"peer": peer.peer, "version": peer.version, "error": peer.error,
            "documents_per_second": peer.documents_per_second(),
            "ratio": peer.documents_per_second().map(|rate| own.documents_per_second / rate)})
    };
    let peers: Vec<_> = found.iter().map(told).collect();
    if context.format_or(Format::Table) == Format::Table {
        let mut rows = vec![["anamnesis".to_owned(), format!("{:.1}", own.documents_per_second), "1.00".to_owned()]];
        rows.extend(found.iter().map(|peer| match peer.documents_per_second() {
            Some(rate) => [
                format!("{} {}", peer.peer, peer.version.clone().unwrap_or_default()),
                format!("{rate:.1}"),
                format!("{:.2}", own.documents_per_second / rate),
            ],
            None => [peer.peer.clone(), peer.error.clone().unwrap_or_default(), String::new()],
        }));
        output::table(&["Memory", "Documents per second", "anamnesis over it"], rows)?;
    }
    output::json(
        &json!({"bench": "peers", "build": own.build, "documents": own.documents, "not_stored": own.not_stored,
        "documents_per_second": own.documents_per_second, "peers": peers}),
    )?;
    Ok(if own.not_stored == 0 { Exit::Done } else { Exit::Partial })
}
