//! A real RabbitMQ for proofs: names of the test's own on a broker that it shares, and the program as a worker.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anamnesis_config::BrokerConfig;
use anamnesis_core::clock::{Clock as _, Entropy as _, SystemClock, SystemEntropy};
use anamnesis_rabbitmq::consumer::encode_message;
use anamnesis_rabbitmq::topology::Topology;
use anamnesis_rabbitmq::{
    BrokerConnection, ConnectionRole, MessagePublisher as _, Names, OutboundMessage, Publisher, Queue, Tier,
};
use lapin::options::{BasicGetOptions, ExchangeDeleteOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use crate::support::{self, Program};

/// The broker that answers, started where none does.
pub(crate) fn url() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| {
        if let Ok(url) = std::env::var("ANAMNESIS_TEST_AMQP_URL") {
            return url;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/rabbitmq.sh");
        let output = Command::new(script).arg("start").stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "no broker: scripts/rabbitmq.sh start failed");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

/// A broker of a test's own, with these plugins; removed when dropped.
pub(crate) struct PrivateBroker {
    folder: tempfile::TempDir,
    plugins: &'static str,
    tls: Vec<(&'static str, String)>,
    pub(crate) url: String,
}

impl PrivateBroker {
    pub(crate) fn start(plugins: &'static str) -> Self {
        Self::started(plugins, Vec::new())
    }

    /// The same with TLS listeners under the certificates of a folder; `clients` must show one too, or need not.
    pub(crate) fn start_with_tls(plugins: &'static str, certificates: &Path, clients: bool) -> Self {
        let mut tls = vec![("ANAMNESIS_RABBITMQ_TLS", certificates.display().to_string())];
        if clients {
            tls.push(("ANAMNESIS_RABBITMQ_TLS_CLIENTS", "required".to_owned()));
        }
        Self::started(plugins, tls)
    }

    fn started(plugins: &'static str, tls: Vec<(&'static str, String)>) -> Self {
        let mut broker = Self { folder: tempfile::tempdir().unwrap(), plugins, tls, url: String::new() };
        broker.url = broker.script(&["private"]);
        broker
    }

    /// `scripts/rabbitmq.sh` with these arguments, over this broker.
    pub(crate) fn script(&self, arguments: &[&str]) -> String {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/rabbitmq.sh");
        let mut command = Command::new(script);
        command.args(arguments).stderr(Stdio::inherit());
        command.env("ANAMNESIS_RABBITMQ_DIR", self.folder.path()).env("ANAMNESIS_RABBITMQ_PLUGINS", self.plugins);
        command.envs(self.tls.iter().cloned());
        let output = command.output().unwrap();
        assert!(output.status.success(), "scripts/rabbitmq.sh {arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for PrivateBroker {
    fn drop(&mut self) {
        self.script(&["stop"]);
    }
}

/// Uniquely named queues and exchanges of the broker; removed when dropped.
pub(crate) struct TestBroker {
    pub(crate) config: BrokerConfig,
    pub(crate) names: Names,
}

impl TestBroker {
    /// With everything declared.
    pub(crate) async fn new() -> Self {
        let corner = Self::empty();
        anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
        corner
    }

    /// With the queues of version 0.2 that this version declares otherwise.
    pub(crate) async fn of_version_0_2() -> Self {
        let corner = Self::empty();
        let retired = corner.names.retired_poison();
        let quorum = [("x-queue-type", "quorum")];
        let intake = [
            ("x-queue-type", "quorum"),
            ("x-dead-letter-exchange", ""),
            ("x-dead-letter-strategy", "at-least-once"),
            ("x-overflow", "reject-publish"),
            ("x-dead-letter-routing-key", retired.as_str()),
        ];
        let link = corner.link().await;
        let channel = link.channel().await.unwrap();
        let (realtime, bulk) = (corner.names.queue(Queue::Realtime), corner.names.queue(Queue::Bulk));
        for (name, arguments) in [(&retired, &quorum[..]), (&realtime, &intake[..]), (&bulk, &intake[..])] {
            let mut table = FieldTable::default();
            for (argument, value) in arguments {
                table.insert((*argument).into(), AMQPValue::LongString((*value).into()));
            }
            channel.queue_declare(name.as_str().into(), QueueDeclareOptions::durable(), table).await.unwrap();
        }
        link.close().await;
        corner
    }

    /// With nothing declared yet.
    pub(crate) fn empty() -> Self {
        Self::at(url())
    }

    /// The same on another broker.
    pub(crate) fn at(url: &str) -> Self {
        let mut random = [0u8; 8];
        SystemEntropy.fill(&mut random);
        let prefix = format!("t{}", u64::from_le_bytes(random));
        let config =
            BrokerConfig { url: url.into(), prefix: prefix.clone(), outbox_poll_ms: 50, ..BrokerConfig::default() };
        Self { config, names: Names::new(&prefix) }
    }

    pub(crate) async fn link(&self) -> BrokerConnection {
        BrokerConnection::open(&self.config, ConnectionRole::Topology).await.unwrap()
    }

    /// Publishes lines as `publish` does; every one must be confirmed.
    pub(crate) async fn publish(&self, lines: &[Vec<u8>]) {
        let letters: Vec<OutboundMessage> = lines
            .iter()
            .map(|line| encode_message(&self.names.ingest(), line.clone(), false, SystemClock.now()))
            .collect();
        self.send(&letters).await;
    }

    pub(crate) async fn send(&self, letters: &[OutboundMessage]) {
        let publisher = Publisher::new(&self.config, ConnectionRole::Publish, Arc::new(SystemEntropy));
        for window in letters.chunks(500) {
            for result in publisher.publish(window).await {
                result.unwrap();
            }
        }
        publisher.close().await;
    }

    /// Messages that wait in a queue.
    pub(crate) async fn ready(&self, queue: &str) -> u32 {
        let link = self.link().await;
        let channel = link.channel().await.unwrap();
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
        let count = channel.queue_declare(queue.into(), options, FieldTable::default()).await.unwrap().message_count();
        link.close().await;
        count
    }

    /// Takes everything out of a queue: routing keys and bodies.
    pub(crate) async fn taken(&self, queue: &str) -> Vec<(String, Vec<u8>)> {
        let link = self.link().await;
        let channel = link.channel().await.unwrap();
        let mut taken = Vec::new();
        while let Some(got) = channel.basic_get(queue.into(), BasicGetOptions { no_ack: true }).await.unwrap() {
            taken.push((got.delivery.routing_key.as_str().to_owned(), got.delivery.data));
        }
        link.close().await;
        taken
    }

    /// The settings of the program for these names.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        vec![
            ("ANAMNESIS__BROKER__URL".to_owned(), self.config.url.expose_secret().to_owned()),
            ("ANAMNESIS__BROKER__PREFIX".to_owned(), self.names.prefix().to_owned()),
            ("ANAMNESIS__BROKER__OUTBOX_POLL_MS".to_owned(), "50".to_owned()),
        ]
    }

    async fn remove(config: BrokerConfig) {
        let names = Names::new(&config.prefix);
        let Ok(link) = BrokerConnection::open(&config, ConnectionRole::Topology).await else { return };
        let topology = Topology::new(&names);
        let queues = topology.queues.iter().map(|queue| queue.name.clone());
        for queue in queues.chain([names.retired_poison()]) {
            let Ok(channel) = link.channel().await else { return };
            let _ = channel.queue_delete(queue.as_str().into(), QueueDeleteOptions::default()).await;
        }
        for exchange in &topology.exchanges {
            let Ok(channel) = link.channel().await else { return };
            let _ = channel.exchange_delete(exchange.name.as_str().into(), ExchangeDeleteOptions::default()).await;
        }
        link.close().await;
    }

    /// The queues that a message of a producer may be in.
    pub(crate) fn queues(&self) -> Vec<String> {
        let own = Queue::ALL.map(|queue| self.names.queue(queue));
        let tiers = Tier::ALL.map(|tier| self.names.tier(tier));
        own.into_iter().chain(tiers).collect()
    }
}

impl Drop for TestBroker {
    fn drop(&mut self) {
        let config = self.config.clone();
        let cleaning = std::thread::spawn(move || {
            tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(Self::remove(config));
        });
        let _ = cleaning.join();
    }
}

/// A running `anamnesis worker`; killed when dropped.
pub(crate) struct BrokerWorker {
    child: Child,
    pub(crate) address: String,
    log: std::path::PathBuf,
}

impl BrokerWorker {
    /// Starts it over a program's store; `more` is environment.
    pub(crate) async fn start(program: &Program, more: &[(String, String)]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = program.folder.path().join(format!("worker-{port}.log"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.arg("worker").envs(program.environment()).envs(more.iter().cloned());
        command
            .env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}"))
            .env("ANAMNESIS__WORKER__SPOOL", "")
            .env("ANAMNESIS__JOBS__SCHEDULER", "false")
            .env("ANAMNESIS__LOG__FORMAT", "json")
            .current_dir(program.folder.path())
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&log).unwrap())
            .stderr(std::fs::File::options().append(true).open(&log).unwrap());
        Self { child: command.spawn().unwrap(), address: format!("http://127.0.0.1:{port}"), log }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// SIGTERM; how it ended and how long it took.
    pub(crate) fn terminate(mut self) -> (std::process::ExitStatus, Duration) {
        let began = Instant::now();
        let reported = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status().unwrap();
        assert!(reported.success());
        (self.child.wait().unwrap(), began.elapsed())
    }

    /// Waits for it to end without a signal.
    pub(crate) fn ended(mut self) -> (std::process::ExitStatus, String) {
        let status = self.child.wait().unwrap();
        (status, self.log())
    }

    pub(crate) async fn probe(&self, path: &str) -> Option<(u16, String)> {
        support::get(&format!("{}{path}", self.address)).await
    }

    /// All series of one of its metrics, added up.
    pub(crate) async fn sum(&self, metric: &str) -> f64 {
        let Some((_, text)) = self.probe("/metrics").await else { return 0.0 };
        let series = text.lines().filter(|line| line.strip_prefix(metric).is_some_and(|rest| rest.starts_with('{')));
        series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    /// One series of its metrics.
    pub(crate) async fn metric(&self, series: &str) -> f64 {
        let Some((_, text)) = self.probe("/metrics").await else { return 0.0 };
        let line = text.lines().find(|line| line.strip_prefix(series).is_some_and(|rest| rest.starts_with(' ')));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    }
}

impl Drop for BrokerWorker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Polls a condition; a test that waits in vain fails with its name.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut so: impl FnMut() -> F) {
    let patience = Instant::now() + Duration::from_secs(90);
    while !so().await {
        assert!(Instant::now() < patience, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The output of `--output json`.
pub(crate) fn json_output(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no JSON; standard error: {}", String::from_utf8_lossy(&output.stderr)))
}
