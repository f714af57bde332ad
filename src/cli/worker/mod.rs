//! `worker`: the long-running role: consumes from the broker where one is configured, watches a spool folder, ticks the
//! runs, serves probes and metrics, and drains when asked to end.

mod consume;
mod erasure;
mod gate;
mod gauges;
mod leftovers;
mod probes;
mod sealing;
mod spool;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::consume::PipelineHandler;
use self::gate::KeyGate;
use self::probes::WorkerReadiness;
use self::spool::SpoolStatus;
use super::app::App;
use super::producers;
use super::{CliError, Context, Exit};
use crate::http::{self, Probes};
use crate::shutdown::{DRAIN, Shutdown};
use anamnesis_core::clock::{Clock, SystemClock};
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_observability::log;
use anamnesis_observability::metrics::labels::Queue;
use anamnesis_outbox::{Destination, ExchangeDestination, OutboxRelay, WebhookDestination};
use anamnesis_pipeline::isolation::Isolation;
use anamnesis_pipeline::{self as pipeline, Redactors};
use anamnesis_rabbitmq::consumer::Consumer;
use anamnesis_rabbitmq::{BrokerError, ConnectionRole, Names, Publisher};
use anamnesis_sql::Location;

#[derive(Debug, clap::Args)]
pub struct Args {}

/// How long closing the store may take: its connections may hang on an unreachable database.
const CLOSE: Duration = Duration::from_secs(1);
/// Time for closing after the drain; the whole ending stays below [`DRAIN`].
const GOODBYES: Duration = Duration::from_millis(1_500);

/// # Errors
/// When the configuration, the store or the listening address cannot be used.
pub(crate) fn run(_: Args, context: &Context) -> Result<Exit, CliError> {
    let isolation = Isolation::of_this_program(context.config.clone())?;
    // Connecting takes as long: the first message waits for both, not for one after the other.
    std::thread::spawn(pipeline::warm);
    context.block_on(async {
        let app = App::open(context).await?;
        let metrics = Arc::clone(&app.metrics);
        log::on_panic(move || metrics.panics.inc());
        // Earlier counts of commands are there from the first scrape on, because a later jump would look like reads.
        if let Ok(sums) = app.store.stats().samples().await {
            app.metrics.show(sums);
        }
        let shutdown = Shutdown::on_signals()?;
        work(app, isolation, &shutdown).await
    })
}

/// Runs until the shutdown begins, then finishes work in progress.
///
/// # Errors
/// As [`run`], and errors of the broker that only a person can repair.
async fn work(app: App, isolation: Isolation, shutdown: &Shutdown) -> Result<Exit, CliError> {
    let pipeline = Arc::new(app.pipeline()?.with_source(Queue::Spool));
    let draining = shutdown.draining();
    let gate = Arc::new(KeyGate::new(app.store.clone(), Arc::clone(&app.metrics), draining.clone()));
    if app.settings.broker.is_set() {
        producers::must_be_bound(&app.settings.intake)?;
    }
    let broker = app.settings.broker.is_set().then(|| broker(&app, &pipeline, isolation.clone(), &gate));
    let listener = TcpListener::bind(app.settings.http.bind)
        .await
        .map_err(|_| CliError::usage("http.bind: the address is in use or not ours"))?;
    let address = listener.local_addr()?;
    let consumer = broker.as_ref().map(|broker| broker.consumer.status());
    let spool = Arc::new(SpoolStatus::default());
    let (has_spool, watches) = spool_of(&app);
    let readiness = Arc::new(WorkerReadiness {
        spool: has_spool.then(|| Arc::clone(&spool)),
        store: app.store.clone(),
        gate: Arc::clone(&gate),
        location: Location::from_config(&app.settings.store)
            .map_err(|error| CliError::usage(format!("store.url: {error}")))?,
        consumer,
        written: Mutex::default(),
    });
    let probes = Probes { metrics: Arc::clone(&app.metrics), readiness, draining: draining.clone() };
    // Probes are answered until the very end: a draining process still lives.
    let over = CancellationToken::new();
    let serving = tokio::spawn(http::serve(listener, http::router(probes, app.settings.http.timeout()), over.clone()));
    let relay = relay(&app)?;
    let relaying = async {
        match &relay {
            Some(relay) => relay.run(&draining).await,
            None => draining.cancelled().await,
        }
    };
    let scheduler = scheduler(&app, draining.clone()).await?;
    if let Err(error) = app.store.quarantined().drop_without_consent().await {
        tracing::warn!(%error, code = "quarantine", "content without consent is still in quarantine");
    }
    // From now on others send to it as well, so files no longer act for the holder of the store.
    if (app.settings.broker.is_set() || watches)
        && let Err(error) = app.store.key_binding().note_served().await
    {
        tracing::warn!(%error, code = "worker_not_registered", "the store has not recorded yet that a worker uses it");
    }
    tracing::info!(code = "started", %address, scheduler = app.settings.jobs.scheduler, "the worker is ready for work");
    let running_jobs = async {
        if app.settings.jobs.scheduler {
            scheduler.watch().await;
        } else {
            report_successes(&app, &scheduler, &draining).await;
        }
    };
    let watching = spool::watch(&app, (&pipeline, &isolation, &gate), spool, draining.clone());
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
    let counting = gauges::count(&app, &gate, pipeline.outage(), draining.clone());
    let erasing = erasure::complete(&app, &gate, draining.clone());
    let sealing = sealing::seal(&app, &gate, draining.clone());
    let tidying = leftovers::end_terms(&app, draining.clone());
    let all = async { tokio::join!(running_jobs, watching, relaying, counting, erasing, sealing, tidying, consuming) };
    let drained = shutdown.drain(DRAIN - GOODBYES, all).await;
    over.cancel();
    let _ = serving.await;
    let closing = tokio::time::timeout(CLOSE, app.close());
    let _ = tokio::join!(closing, app.metrics.traces.close(CLOSE));
    ended(drained.map(|((), (), (), (), (), (), (), consumed)| consumed))
}

/// Whether a spool is configured, and whether its files may be taken.
fn spool_of(app: &App) -> (bool, bool) {
    let has_spool = !app.settings.worker.spool.as_os_str().is_empty();
    let watches = has_spool && app.settings.intake.lets_files_in();
    if has_spool && !watches {
        tracing::warn!(code = "spool_unbound", "files of the spool are not processed: {}", producers::FILES_UNBOUND);
    }
    (has_spool, watches)
}

/// If CronJobs run the jobs, a worker exports the results from the ledger.
async fn report_successes(app: &App, scheduler: &JobScheduler, draining: &CancellationToken) {
    let pause = Duration::from_secs(app.settings.worker.store_stats_interval_seconds.clamp(1, 86_400));
    while !draining.is_cancelled() {
        if let Err(error) = scheduler.observe().await {
            tracing::warn!(code = "ledger_unavailable", %error, "the ledger of job runs cannot be read");
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => return,
        }
    }
}

fn ended(drained: Result<Result<(), BrokerError>, crate::shutdown::DrainOverdue>) -> Result<Exit, CliError> {
    match drained {
        Ok(Ok(())) => {
            tracing::info!(code = "ended", "all work in progress is finished");
            Ok(Exit::Done)
        }
        Ok(Err(error)) => {
            tracing::error!(code = error.code(), "the broker cannot be used; the worker ends");
            Err(CliError::usage(error.to_string()))
        }
        Err(_) => {
            tracing::warn!(code = "drain_timeout", "work in progress was abandoned and will be redelivered");
            Ok(Exit::Partial)
        }
    }
}

/// The relay of the outbox, if there is a destination.
fn relay(app: &App) -> Result<Option<OutboxRelay>, CliError> {
    let config = &app.settings.broker;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut destinations: Vec<Arc<dyn Destination>> = Vec::new();
    if config.is_set() {
        let publisher = Publisher::new(config, ConnectionRole::Relay, Arc::clone(&app.entropy));
        destinations.push(Arc::new(ExchangeDestination::new(publisher, Names::new(&config.prefix))));
    }
    for webhook in &config.webhooks {
        let hook =
            WebhookDestination::new(webhook, Arc::clone(&clock)).map_err(|error| CliError::usage(error.to_string()))?;
        destinations.push(Arc::new(hook));
    }
    if destinations.is_empty() {
        return Ok(None);
    }
    let (store, metrics) = (app.store.clone(), Arc::clone(&app.metrics));
    let entropy = Arc::clone(&app.entropy);
    Ok(Some(OutboxRelay::new(store, destinations, metrics, clock, entropy, config.outbox_poll())))
}

/// The worker's broker components.
struct BrokerRole {
    consumer: Consumer,
    retries: Arc<Publisher>,
}

fn broker(
    app: &App,
    pipeline: &Arc<anamnesis_pipeline::Pipeline>,
    isolation: Isolation,
    gate: &Arc<KeyGate>,
) -> BrokerRole {
    let retries = Arc::new(Publisher::new(&app.settings.broker, ConnectionRole::Publish, Arc::clone(&app.entropy)));
    let work = Arc::new(PipelineHandler { pipeline: Arc::clone(pipeline), isolation, gate: Arc::clone(gate) });
    let (metrics, entropy) = (Arc::clone(&app.metrics), Arc::clone(&app.entropy));
    let consumer = Consumer::new(&app.settings, work, Arc::clone(&retries) as _, metrics, entropy);
    BrokerRole { consumer, retries }
}

impl BrokerRole {
    async fn run(&self, draining: &CancellationToken) -> Result<(), BrokerError> {
        let consumed = self.consumer.run(draining).await;
        self.retries.close().await;
        consumed
    }
}

/// The job scheduler of this app.
///
/// # Errors
/// When a policy cannot be read.
pub(crate) async fn scheduler(app: &App, shutdown: CancellationToken) -> Result<Arc<JobScheduler>, CliError> {
    let policies = Policies::load(app.settings.jobs.directory()).map_err(|error| CliError::usage(error.to_string()))?;
    let observer = Arc::clone(&app.metrics) as _;
    let redactors = Redactors::load(&app.settings.redaction).map_err(|error| CliError::usage(error.to_string()))?;
    let clock = app.store.clock().clone();
    let writer = pipeline::writer(&app.settings.extraction.llm, clock);
    let writer = writer.map_err(|error| CliError::usage(error.to_string()))?;
    let scheduler = JobScheduler::over(&app.jobs_store().await?, policies, observer, shutdown)
        .redacting(redactors)
        .with_writer(writer);
    Ok(Arc::new(scheduler.with_models(app.models()?).with_traces(app.metrics.traces.clone())))
}
