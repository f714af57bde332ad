//! The exchanges, queues and bindings, declared idempotently; and what is different on a broker. What keeps messages
//! safe (queue type, delays, dead-lettering) is in arguments, so that declaring is enough; limits that an operator may
//! want to change are in policies (`deploy/rabbitmq/definitions.json`). The intake queues of version 0.2 are accepted
//! as they are (docs/rabbitmq.md, "The retired poison queue").

use futures::future::try_join_all;
use lapin::options::{
    BasicPublishOptions, ConfirmSelectOptions, ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, ExchangeKind};
use serde::Serialize;

use super::connection::{BrokerConnection, ConnectionRole};
use super::error::BrokerError;
use super::names::{Names, Queue, Tier, retry_key};
use super::retired::{self, RetiredQueue};
use anamnesis_config::BrokerConfig;

/// A value of a queue's argument or of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum ArgumentValue {
    Text(String),
    Number(i64),
}

impl ArgumentValue {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// A topic exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeSpec {
    pub name: String,
}

/// The arguments of a queue.
pub(crate) type Arguments = Vec<(&'static str, ArgumentValue)>;

/// A durable quorum queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSpec {
    pub name: String,
    pub(crate) arguments: Arguments,
    /// The arguments that version 0.2 declared, where they differ. They are accepted, because a broker cannot change the
    /// arguments of a queue.
    pub(crate) earlier: Option<Arguments>,
}

impl QueueSpec {
    fn new(name: String, arguments: Arguments) -> Self {
        Self { name, arguments, earlier: None }
    }
}

/// A queue bound to an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BindingSpec {
    pub(crate) exchange: String,
    pub(crate) queue: String,
    pub(crate) routing_key: String,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    pub exchanges: Vec<ExchangeSpec>,
    pub queues: Vec<QueueSpec>,
    pub(crate) bindings: Vec<BindingSpec>,
    /// The catch-all queue of earlier versions, which must not be there any more.
    former: String,
    /// The poison queue of version 0.2, which is drained as long as it is there.
    retired: String,
}

/// Most messages and bytes of the catch-all queue.
const CATCH_ALL_MESSAGES: i64 = 100_000;
const CATCH_ALL_BYTES: i64 = 256 << 20;

/// A queue with a limit of its own, without any policy. When it is full it refuses what comes: nothing that is in it is
/// dropped, and what it refuses stays with the publisher.
fn bounded() -> Arguments {
    vec![
        ("x-queue-type", ArgumentValue::text("quorum")),
        ("x-max-length", ArgumentValue::Number(CATCH_ALL_MESSAGES)),
        ("x-max-length-bytes", ArgumentValue::Number(CATCH_ALL_BYTES)),
        ("x-overflow", ArgumentValue::text("reject-publish")),
    ]
}

/// A queue without any limit.
fn quorum() -> Arguments {
    vec![("x-queue-type", ArgumentValue::text("quorum"))]
}

/// Nothing leaves a queue before it is safe in the next one.
fn safely_to(exchange: &str, routing_key: Option<String>) -> Arguments {
    let mut arguments = vec![
        ("x-queue-type", ArgumentValue::text("quorum")),
        ("x-dead-letter-exchange", ArgumentValue::text(exchange)),
        ("x-dead-letter-strategy", ArgumentValue::text("at-least-once")),
        // At-least-once dead-lettering needs it: a full queue refuses new messages instead of dropping old ones.
        ("x-overflow", ArgumentValue::text("reject-publish")),
    ];
    if let Some(key) = routing_key {
        arguments.push(("x-dead-letter-routing-key", ArgumentValue::Text(key)));
    }
    arguments
}

impl Topology {
    pub fn new(names: &Names) -> Self {
        let bind = |exchange: String, queue: String, routing_key: String| BindingSpec { exchange, queue, routing_key };
        let exchanges = [names.ingest(), names.retry(), names.events(), names.unrouted()]
            .map(|name| ExchangeSpec { name })
            .to_vec();
        let mut queues = Vec::new();
        let mut bindings = Vec::new();
        for queue in [Queue::Realtime, Queue::Bulk] {
            // Messages beyond the delivery limit go to the poison queue, through the default exchange.
            let arguments = safely_to("", Some(names.queue(Queue::Poison)));
            let earlier = Some(safely_to("", Some(names.retired_poison())));
            queues.push(QueueSpec { name: names.queue(queue), arguments, earlier });
            bindings.push(bind(names.ingest(), names.queue(queue), format!("{}.#", queue.name())));
            for tier in Tier::ALL {
                let back = format!("{}.{}.#", tier.name(), queue.name());
                bindings.push(bind(names.ingest(), names.queue(queue), back));
            }
        }
        queues.push(QueueSpec::new(names.queue(Queue::Poison), quorum()));
        for tier in Tier::ALL {
            let mut arguments = safely_to(&names.ingest(), None);
            let wait = i64::try_from(tier.wait().as_millis()).unwrap_or(i64::MAX);
            arguments.push(("x-message-ttl", ArgumentValue::Number(wait)));
            queues.push(QueueSpec::new(names.tier(tier), arguments));
            bindings.push(bind(names.retry(), names.tier(tier), format!("{}.#", tier.name())));
        }
        queues.push(QueueSpec::new(names.quarantine(), quorum()));
        bindings.push(bind(names.events(), names.quarantine(), "anamnesis.message.quarantined.v1".to_owned()));
        queues.push(QueueSpec::new(names.catch_all(), bounded()));
        bindings.push(bind(names.unrouted(), names.catch_all(), "#".to_owned()));
        let (former, retired) = (names.former_catch_all(), names.retired_poison());
        Self { exchanges, queues, bindings, former, retired }
    }

    /// Declares all of it. What is there already stays as it is, intake queues of version 0.2 included.
    ///
    /// # Errors
    /// When something of the same name is different there, or the user may not.
    pub async fn declare(&self, connection: &BrokerConnection) -> Result<(), BrokerError> {
        match self.declare_with(connection, &self.queues).await {
            Err(refused @ BrokerError::Mismatch { .. }) => match self.queues_with_earlier_intake(connection).await? {
                Some(queues) => self.declare_with(connection, &queues).await,
                None => Err(refused),
            },
            done => done,
        }
    }

    /// The queues to declare on a broker whose intake queues are of version 0.2; `None` where they are not. These
    /// dead-letter to the retired queue, so that it must be there.
    async fn queues_with_earlier_intake(
        &self,
        connection: &BrokerConnection,
    ) -> Result<Option<Vec<QueueSpec>>, BrokerError> {
        let sources = retired::sources(connection, &self.queues).await?;
        if sources.is_empty() {
            return Ok(None);
        }
        let mut queues = self.queues.clone();
        for queue in queues.iter_mut().filter(|queue| sources.contains(&queue.name)) {
            if let Some(earlier) = queue.earlier.take() {
                queue.arguments = earlier;
            }
        }
        queues.push(QueueSpec::new(self.retired.clone(), quorum()));
        Ok(Some(queues))
    }

    async fn declare_with(&self, connection: &BrokerConnection, queues: &[QueueSpec]) -> Result<(), BrokerError> {
        let channel = connection.channel().await?;
        // One after the other on the channel, but pipelined, without waiting for each answer: a start and a
        // reconnection pay for three answers and not for thirty.
        try_join_all(self.exchanges.iter().map(|exchange| declare_exchange(connection, &channel, exchange, false)))
            .await?;
        let queues = queues.iter().map(|queue| {
            let options = QueueDeclareOptions::durable();
            connection
                .within("declare", channel.queue_declare(queue.name.as_str().into(), options, table(&queue.arguments)))
        });
        try_join_all(queues).await?;
        let bindings = self.bindings.iter().map(|binding| {
            let (queue, exchange) = (binding.queue.as_str().into(), binding.exchange.as_str().into());
            let (key, options) = (binding.routing_key.as_str().into(), QueueBindOptions::default());
            connection.within("bind", channel.queue_bind(queue, exchange, key, options, FieldTable::default()))
        });
        try_join_all(bindings).await?;
        connection.within("close", channel.close(200, "OK".into())).await
    }

    /// What is missing or different on the broker, as far as AMQP tells: existence, types and arguments. A refused
    /// question costs a channel each, nothing is created.
    ///
    /// # Errors
    /// When the broker cannot be asked.
    pub async fn differences(&self, connection: &BrokerConnection) -> Result<Vec<TopologyDifference>, BrokerError> {
        let mut found = Vec::new();
        for exchange in &self.exchanges {
            let channel = connection.channel().await?;
            let there = declare_exchange(connection, &channel, exchange, true).await;
            let same = match there {
                Ok(()) => declare_exchange(connection, &channel, exchange, false).await,
                missing => missing,
            };
            note(&mut found, "exchange", &exchange.name, same)?;
        }
        let mut needs_retired = false;
        for queue in &self.queues {
            let same = confirm(connection, &queue.name, &queue.arguments).await;
            if matches!(same, Err(BrokerError::Mismatch { .. })) && retired::is_source(connection, queue).await? {
                needs_retired = true;
            } else {
                note(&mut found, "queue", &queue.name, same)?;
            }
        }
        if needs_retired {
            note(&mut found, "queue", &self.retired, confirm(connection, &self.retired, &quorum()).await)?;
        }
        let channel = connection.channel().await?;
        let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
        let asked = channel.queue_declare(self.former.as_str().into(), passive, FieldTable::default());
        match connection.within("passive", asked).await {
            Ok(_) => found.push(former(&self.former)),
            Err(BrokerError::Missing) => {}
            // It is there with other properties.
            Err(BrokerError::Mismatch { .. }) => found.push(former(&self.former)),
            Err(error) => return Err(error),
        }
        Ok(found)
    }

    /// The poison queue of version 0.2, where the broker still has it.
    ///
    /// # Errors
    /// When the broker cannot be asked.
    pub async fn retired_queue(&self, connection: &BrokerConnection) -> Result<Option<RetiredQueue>, BrokerError> {
        let Some((messages, consumers)) = counts(connection, &self.retired).await? else { return Ok(None) };
        let sources = retired::sources(connection, &self.queues).await?;
        Ok(Some(RetiredQueue { name: self.retired.clone(), messages, consumers, sources }))
    }
}

/// Whether a queue with these arguments is there. Creates nothing; a refusal costs a channel.
///
/// # Errors
/// [`BrokerError::Missing`], [`BrokerError::Mismatch`], or when the broker cannot be asked.
pub(crate) async fn confirm(
    connection: &BrokerConnection,
    name: &str,
    arguments: &[(&'static str, ArgumentValue)],
) -> Result<(), BrokerError> {
    let channel = connection.channel().await?;
    let ask = |passive: bool| {
        let options = QueueDeclareOptions { passive, ..QueueDeclareOptions::durable() };
        channel.queue_declare(name.into(), options, table(arguments))
    };
    match connection.within("passive", ask(true)).await {
        Ok(_) => connection.within("declare", ask(false)).await.map(drop),
        Err(missing) => Err(missing),
    }
}

/// Messages that are ready in a queue, and those who consume it; `None` where it is not there.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn counts(connection: &BrokerConnection, queue: &str) -> Result<Option<(u32, u32)>, BrokerError> {
    let channel = connection.channel().await?;
    let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
    match connection.within("passive", channel.queue_declare(queue.into(), passive, FieldTable::default())).await {
        Ok(found) => Ok(Some((found.message_count(), found.consumer_count()))),
        Err(BrokerError::Missing) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the user of a connection may publish to an exchange. The message that asks bears another user's name: a broker
/// looks at the right to write first and then refuses the name, so that no message ever gets into a queue.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn may_publish(
    connection: &BrokerConnection,
    exchange: &str,
    routing_key: &str,
) -> Result<bool, BrokerError> {
    let channel = connection.channel().await?;
    connection.within("confirm_select", channel.confirm_select(ConfirmSelectOptions::default())).await?;
    let properties = BasicProperties::default().with_user_id("nobody, asked by anamnesis doctor".into());
    let options = BasicPublishOptions { mandatory: true, immediate: false };
    let asked =
        async { channel.basic_publish(exchange.into(), routing_key.into(), options, &[], properties).await?.await };
    match connection.within("publish", asked).await {
        Ok(_) | Err(BrokerError::Mismatch { .. }) => Ok(true),
        Err(BrokerError::Forbidden { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The routing key of a retry, as a worker publishes it.
pub fn retry_key_of_a_worker() -> String {
    retry_key(Tier::Seconds5, Queue::Bulk, "bulk.anamnesis.document.submitted.v1")
}

/// Declares the topology of a configuration over a separate connection. Returns the retired queue, where the broker
/// still has it.
///
/// # Errors
/// As [`Topology::declare`].
pub async fn apply(config: &BrokerConfig) -> Result<Option<RetiredQueue>, BrokerError> {
    let connection = BrokerConnection::open(config, ConnectionRole::Topology).await?;
    let topology = Topology::new(&Names::new(&config.prefix));
    let retired = match topology.declare(&connection).await {
        Ok(()) => topology.retired_queue(&connection).await,
        Err(error) => Err(error),
    };
    connection.close().await;
    retired
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopologyDifference {
    /// exchange, queue, binding or policy.
    pub kind: &'static str,
    pub name: String,
    /// What is different, and what follows from it.
    pub problem: String,
    /// What to do.
    pub remedy: &'static str,
}

pub(super) const APPLY: &str = "anamnesis topology apply";
pub(super) const RECREATE: &str =
    "it cannot be changed in place: drain it, delete it, then run `anamnesis topology apply`";

/// The catch-all queue of an earlier version is still there.
pub(super) fn former(name: &str) -> TopologyDifference {
    TopologyDifference {
        kind: "queue",
        name: name.to_owned(),
        problem: "is of an earlier version: it takes every event, without a limit of its own".to_owned(),
        remedy: "read what it holds, then delete it; subscribers have queues of their own, the rest is in `.catch_all`",
    }
}

fn note(
    found: &mut Vec<TopologyDifference>,
    kind: &'static str,
    name: &str,
    asked: Result<(), BrokerError>,
) -> Result<(), BrokerError> {
    let (problem, remedy) = match asked {
        Ok(()) => return Ok(()),
        Err(BrokerError::Missing) => ("is not there: nothing can be routed through it".to_owned(), APPLY),
        Err(BrokerError::Mismatch { what }) => (what, RECREATE),
        Err(error) => return Err(error),
    };
    found.push(TopologyDifference { kind, name: name.to_owned(), problem, remedy });
    Ok(())
}

async fn declare_exchange(
    connection: &BrokerConnection,
    channel: &Channel,
    exchange: &ExchangeSpec,
    passive: bool,
) -> Result<(), BrokerError> {
    let options = ExchangeDeclareOptions { durable: true, passive, ..ExchangeDeclareOptions::default() };
    let declaring =
        channel.exchange_declare(exchange.name.as_str().into(), ExchangeKind::Topic, options, FieldTable::default());
    connection.within("exchange", declaring).await
}

fn table(arguments: &[(&'static str, ArgumentValue)]) -> FieldTable {
    let mut table = FieldTable::default();
    for (name, value) in arguments {
        let value = match value {
            ArgumentValue::Text(text) => AMQPValue::LongString(text.as_str().into()),
            ArgumentValue::Number(number) => AMQPValue::LongLongInt(*number),
        };
        table.insert((*name).into(), value);
    }
    table
}
