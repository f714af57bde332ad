//! `worker`: the long-running role: consumes from the broker where one is configured, watches a spool folder, ticks the
//! nights, serves probes and metrics, and drains when asked to end.

mod census;
mod consume;
mod erasing;
mod gate;
mod leftovers;
mod probes;
mod sealing;
mod spool;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::consume::Through;
use self::gate::Gate;
use self::probes::Ready;
use self::spool::SpoolStatus;
use super::producers;
use super::world::World;
use super::{Context, Exit, Failure};
use crate::http::{self, Probes};
use crate::shutdown::{DRAIN, Shutdown};
use anamnesis_core::clock::{Clock, SystemClock};
use anamnesis_jobs::night::Night;
use anamnesis_jobs::policy::Policies;
use anamnesis_observability::log;
use anamnesis_observability::metrics::labels::Queue;
use anamnesis_outbox::{Destination, Exchange, Hook, Relay};
use anamnesis_pipeline::isolation::Isolation;
use anamnesis_pipeline::{self as pipeline, Redactors};
use anamnesis_rabbitmq::consumer::Consumer;
use anamnesis_rabbitmq::{BrokerError, Names, Publisher, Role};
use anamnesis_sql::Location;

#[derive(Debug, clap::Args)]
pub struct Args {}

/// How long closing the store may take: its connections may hang on a database that is away.
const CLOSE: Duration = Duration::from_secs(1);
/// What the drain leaves for goodbyes: all of an ending stays below [`DRAIN`].
const GOODBYES: Duration = Duration::from_millis(1_500);

/// # Errors
/// When the configuration, the store or the listening address cannot be used.
pub(crate) fn run(_: Args, context: &Context) -> Result<Exit, Failure> {
    let isolation = Isolation::of_this_program(context.config.clone())?;
    // Connecting takes as long: the first message waits for both, not for one after the other.
    std::thread::spawn(pipeline::warm);
    context.block_on(async {
        let world = World::open(context).await?;
        let metrics = Arc::clone(&world.metrics);
        log::on_panic(move || metrics.panics.inc());
        // What commands counted before is there from the first scrape on: a later jump would look like reads.
        if let Ok(sums) = world.store.samples().await {
            world.metrics.show(sums);
        }
        let shutdown = Shutdown::on_signals()?;
        work(world, isolation, &shutdown).await
    })
}

/// Runs until the shutdown begins, then finishes what is in hand.
///
/// # Errors
/// As [`run`], and what the broker says that only a person can put right.
async fn work(world: World, isolation: Isolation, shutdown: &Shutdown) -> Result<Exit, Failure> {
    let pipeline = Arc::new(world.pipeline()?.fed_by(Queue::Spool));
    let draining = shutdown.draining();
    let gate = Arc::new(Gate::new(world.store.clone(), Arc::clone(&world.metrics), draining.clone()));
    if world.settings.broker.is_set() {
        producers::must_be_bound(&world.settings.intake)?;
    }
    let broker = world.settings.broker.is_set().then(|| broker(&world, &pipeline, isolation.clone(), &gate));
    let listener = TcpListener::bind(world.settings.http.bind)
        .await
        .map_err(|_| Failure::usage("http.bind: the address is in use or not ours"))?;
    let address = listener.local_addr()?;
    let consumer = broker.as_ref().map(|broker| broker.consumer.status());
    let spool = Arc::new(SpoolStatus::default());
    let (has_spool, watches) = spool_of(&world);
    let readiness = Arc::new(Ready {
        spool: has_spool.then(|| Arc::clone(&spool)),
        store: world.store.clone(),
        gate: Arc::clone(&gate),
        location: Location::of(&world.settings.store).map_err(|error| Failure::usage(format!("store.url: {error}")))?,
        consumer,
        written: Mutex::default(),
    });
    let probes = Probes { metrics: Arc::clone(&world.metrics), readiness, draining: draining.clone() };
    // Probes are answered until the very end: a draining process still lives.
    let over = CancellationToken::new();
    let serving =
        tokio::spawn(http::serve(listener, http::router(probes, world.settings.http.timeout()), over.clone()));
    let relay = relay(&world)?;
    let relaying = async {
        match &relay {
            Some(relay) => relay.run(&draining).await,
            None => draining.cancelled().await,
        }
    };
    let night = night(&world, draining.clone()).await?;
    if let Err(error) = world.store.drop_without_consent().await {
        tracing::warn!(%error, code = "quarantine", "what came without consent is still in quarantine");
    }
    // From now on others send to it as well: no file speaks for the holder of the store any more.
    if (world.settings.broker.is_set() || watches)
        && let Err(error) = world.store.note_served().await
    {
        tracing::warn!(%error, code = "served", "it is not noted yet that a worker serves this store");
    }
    tracing::info!(code = "started", %address, tick = world.settings.jobs.tick, "the worker takes work");
    let nights = async {
        if world.settings.jobs.tick {
            night.watch().await;
        } else {
            report_successes(&world, &night, &draining).await;
        }
    };
    let watching = spool::watch(&world, (&pipeline, &isolation, &gate), spool, draining.clone());
    let consuming = async {
        let consumed = match &broker {
            Some(broker) => broker.run(&draining).await,
            None => Ok(()),
        };
        // A broker that refuses us is for a person to see: the process ends and says why.
        if consumed.is_err() {
            shutdown.begin();
        }
        consumed
    };
    let counting = census::count(&world, &gate, pipeline.outage(), draining.clone());
    let erasing = erasing::complete(&world, &gate, draining.clone());
    let sealing = sealing::seal(&world, &gate, draining.clone());
    let tidying = leftovers::end_terms(&world, draining.clone());
    let all = async { tokio::join!(nights, watching, relaying, counting, erasing, sealing, tidying, consuming) };
    let drained = shutdown.drain(DRAIN - GOODBYES, all).await;
    over.cancel();
    let _ = serving.await;
    let closing = tokio::time::timeout(CLOSE, world.close());
    let _ = tokio::join!(closing, world.metrics.traces.close(CLOSE));
    ended(drained.map(|((), (), (), (), (), (), (), consumed)| consumed))
}

/// Whether a spool is configured, and whether its files may be taken.
fn spool_of(world: &World) -> (bool, bool) {
    let has_spool = !world.settings.worker.spool.as_os_str().is_empty();
    let watches = has_spool && world.settings.intake.lets_files_in();
    if has_spool && !watches {
        tracing::warn!(
            code = "spool_unbound",
            "files of the spool are left where they are: {}",
            producers::FILES_UNBOUND
        );
    }
    (has_spool, watches)
}

/// Where CronJobs run the jobs, a worker exports what the ledger says of them.
async fn report_successes(world: &World, night: &Night, draining: &CancellationToken) {
    let pause = Duration::from_secs(world.settings.worker.census_seconds.clamp(1, 86_400));
    while !draining.is_cancelled() {
        if let Err(error) = night.observe().await {
            tracing::warn!(code = "ledger_unavailable", %error, "the ledger of job runs cannot be read");
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => return,
        }
    }
}

fn ended(drained: Result<Result<(), BrokerError>, crate::shutdown::Overdue>) -> Result<Exit, Failure> {
    match drained {
        Ok(Ok(())) => {
            tracing::info!(code = "ended", "everything in hand is finished");
            Ok(Exit::Done)
        }
        Ok(Err(error)) => {
            tracing::error!(code = error.code(), "the broker cannot be used; the worker ends");
            Err(Failure::usage(error.to_string()))
        }
        Err(_) => {
            tracing::warn!(code = "overdue", "work in hand was given up; it will be offered again");
            Ok(Exit::Partial)
        }
    }
}

/// The relay of the outbox, where there is anybody to tell.
fn relay(world: &World) -> Result<Option<Relay>, Failure> {
    let config = &world.settings.broker;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut destinations: Vec<Arc<dyn Destination>> = Vec::new();
    if config.is_set() {
        let publisher = Publisher::new(config, Role::Relay, Arc::clone(&world.entropy));
        destinations.push(Arc::new(Exchange::new(publisher, Names::new(&config.prefix))));
    }
    for webhook in &config.webhooks {
        let hook = Hook::new(webhook, Arc::clone(&clock)).map_err(|error| Failure::usage(error.to_string()))?;
        destinations.push(Arc::new(hook));
    }
    if destinations.is_empty() {
        return Ok(None);
    }
    let (store, metrics) = (world.store.clone(), Arc::clone(&world.metrics));
    let entropy = Arc::clone(&world.entropy);
    Ok(Some(Relay::new(store, destinations, metrics, clock, entropy, config.relay_pause())))
}

/// What the worker has of the broker.
struct Broker {
    consumer: Consumer,
    retries: Arc<Publisher>,
}

fn broker(
    world: &World,
    pipeline: &Arc<anamnesis_pipeline::Pipeline>,
    isolation: Isolation,
    gate: &Arc<Gate>,
) -> Broker {
    let retries = Arc::new(Publisher::new(&world.settings.broker, Role::Publish, Arc::clone(&world.entropy)));
    let work = Arc::new(Through { pipeline: Arc::clone(pipeline), isolation, gate: Arc::clone(gate) });
    let (metrics, entropy) = (Arc::clone(&world.metrics), Arc::clone(&world.entropy));
    let consumer = Consumer::new(&world.settings, work, Arc::clone(&retries) as _, metrics, entropy);
    Broker { consumer, retries }
}

impl Broker {
    async fn run(&self, draining: &CancellationToken) -> Result<(), BrokerError> {
        let consumed = self.consumer.run(draining).await;
        self.retries.close().await;
        consumed
    }
}

/// The nights over this world.
///
/// # Errors
/// When a policy cannot be read.
pub(crate) async fn night(world: &World, shutdown: CancellationToken) -> Result<Arc<Night>, Failure> {
    let policies =
        Policies::load(world.settings.jobs.directory()).map_err(|error| Failure::usage(error.to_string()))?;
    let observer = Arc::clone(&world.metrics) as _;
    let redactors = Redactors::load(&world.settings.redaction).map_err(|error| Failure::usage(error.to_string()))?;
    let clock = world.store.clock().clone();
    let writer = pipeline::writer(&world.settings.extraction.model, clock);
    let writer = writer.map_err(|error| Failure::usage(error.to_string()))?;
    let night =
        Night::over(&world.jobs_store().await?, policies, observer, shutdown).redacting(redactors).with_writer(writer);
    Ok(Arc::new(night.with_models(world.models()?).with_traces(world.metrics.traces.clone())))
}
