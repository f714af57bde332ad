//! Publishing: persistent, mandatory, confirmed, each within a time limit. A message counts as published when the broker
//! has confirmed it and has not given it back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Confirmation, PublisherConfirm};
use tokio::sync::Mutex;

use super::backoff::Backoff;
use super::connection::{BrokerConnection, ConnectionRole};
use super::error::BrokerError;
use anamnesis_config::BrokerConfig;
use anamnesis_core::clock::Entropy;
use anamnesis_core::failpoints;

/// A message to publish.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboundMessage {
    pub exchange: String,
    pub routing_key: String,
    pub properties: BasicProperties,
    pub body: Vec<u8>,
}

impl OutboundMessage {
    /// With the user who sends it, whom the broker compares with the connection. A name too long for the protocol is left
    /// out.
    #[must_use]
    pub fn by(mut self, user: Option<&str>) -> Self {
        if let Some(user) = user.filter(|user| user.len() <= 255) {
            self.properties = self.properties.with_user_id(user.into());
        }
        self
    }
}

/// Prefix of the headers that carry a CloudEvent's attributes in binary mode.
pub const CE_PREFIX: &str = "cloudEvents_";

/// A CloudEvent in binary mode: JSON with its attributes as headers, its id as `message_id`.
pub fn event_message(
    exchange: String,
    routing_key: &str,
    attributes: &[(&str, &str)],
    body: Vec<u8>,
) -> OutboundMessage {
    let mut headers = FieldTable::default();
    let mut properties = BasicProperties::default().with_content_type("application/json".into());
    for (name, value) in attributes {
        headers.insert(format!("{CE_PREFIX}{name}").as_str().into(), AMQPValue::LongString((*value).into()));
        // The libraries of OpenTelemetry look for it under its own name.
        if *name == "traceparent" {
            headers.insert((*name).into(), AMQPValue::LongString((*value).into()));
        }
        if *name == "id" && value.len() <= 255 {
            properties = properties.with_message_id((*value).into());
        }
    }
    OutboundMessage {
        exchange,
        routing_key: routing_key.to_owned(),
        properties: properties.with_headers(headers),
        body,
    }
}

/// Where messages are published: a broker, or a model of one.
#[async_trait]
pub trait MessagePublisher: Send + Sync {
    /// One result per message, in order.
    async fn publish(&self, messages: &[OutboundMessage]) -> Vec<Result<(), BrokerError>>;
}

/// Publishes over a connection of its own, which is opened when it is needed and again when it broke.
pub struct Publisher {
    config: BrokerConfig,
    role: ConnectionRole,
    state: Mutex<PublisherState>,
}

struct PublisherState {
    open: Option<Arc<OpenChannel>>,
    backoff: Backoff,
    /// Before this no further attempt to connect.
    retry_not_before: Option<Instant>,
}

struct OpenChannel {
    connection: BrokerConnection,
    channel: Channel,
}

const PERSISTENT: u8 = 2;

impl Publisher {
    pub fn new(config: &BrokerConfig, role: ConnectionRole, entropy: Arc<dyn Entropy>) -> Self {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2), entropy);
        let state = PublisherState { open: None, backoff, retry_not_before: None };
        Self { config: config.clone(), role, state: Mutex::new(state) }
    }

    /// The open channel, or a new one.
    ///
    /// # Errors
    /// When the broker cannot be reached, or has not been for a moment ago.
    async fn open(&self) -> Result<Arc<OpenChannel>, BrokerError> {
        let mut state = self.state.lock().await;
        if let Some(open) =
            state.open.as_ref().filter(|open| open.connection.is_open() && open.channel.status().connected())
        {
            return Ok(Arc::clone(open));
        }
        state.open = None;
        if state.retry_not_before.is_some_and(|until| Instant::now() < until) {
            return Err(BrokerError::lost("reconnect_backoff"));
        }
        match self.connect().await {
            Ok(open) => {
                state.backoff.reset();
                state.retry_not_before = None;
                let open = Arc::new(open);
                state.open = Some(Arc::clone(&open));
                Ok(open)
            }
            Err(error) => {
                state.retry_not_before = Some(Instant::now() + state.backoff.pause());
                Err(error)
            }
        }
    }

    async fn connect(&self) -> Result<OpenChannel, BrokerError> {
        let connection = BrokerConnection::open(&self.config, self.role).await?;
        let channel = connection.channel().await?;
        connection.within("confirm_select", channel.confirm_select(ConfirmSelectOptions::default())).await?;
        Ok(OpenChannel { connection, channel })
    }

    /// Forgets a connection that let us down, so that the next call opens another.
    async fn drop_open(&self, broken: &Arc<OpenChannel>) {
        let mut state = self.state.lock().await;
        if state.open.as_ref().is_some_and(|open| Arc::ptr_eq(open, broken)) {
            state.open = None;
        }
    }

    async fn send(&self, open: &OpenChannel, message: &OutboundMessage) -> Result<PublisherConfirm, BrokerError> {
        if open.connection.is_blocked() {
            return Err(BrokerError::Blocked);
        }
        let options = BasicPublishOptions { mandatory: !failpoints::is("no_mandatory"), immediate: false };
        let sending = open.channel.basic_publish(
            message.exchange.as_str().into(),
            message.routing_key.as_str().into(),
            options,
            &message.body,
            message.properties.clone().with_delivery_mode(PERSISTENT),
        );
        open.connection.within("publish", sending).await
    }

    /// Says goodbye to the broker.
    pub async fn close(&self) {
        let open = self.state.lock().await.open.take();
        if let Some(open) = open.and_then(Arc::into_inner) {
            open.connection.close().await;
        }
    }
}

#[async_trait]
impl MessagePublisher for Publisher {
    async fn publish(&self, messages: &[OutboundMessage]) -> Vec<Result<(), BrokerError>> {
        if messages.is_empty() {
            return Vec::new();
        }
        let open = match self.open().await {
            Ok(open) => open,
            Err(error) => return messages.iter().map(|_| Err(error.clone())).collect(),
        };
        let mut sent = Vec::with_capacity(messages.len());
        for message in messages {
            // After the first failure nothing more is sent: the connection is over or blocked.
            let previous = match sent.last() {
                Some(Err(error)) => Some(BrokerError::clone(error)),
                _ => None,
            };
            sent.push(match previous {
                Some(error) => Err(error),
                None => self.send(&open, message).await,
            });
        }
        let mut results = Vec::with_capacity(sent.len());
        let deadline = tokio::time::Instant::now() + self.config.rpc_timeout();
        for confirm in sent {
            results.push(match confirm {
                Ok(confirm) => confirmed(&open, confirm, deadline).await,
                Err(error) => Err(error),
            });
        }
        let broken = |result: &Result<(), BrokerError>| matches!(result, Err(error) if !matches!(error, BrokerError::Unroutable | BrokerError::Nacked));
        if results.iter().any(broken) {
            self.drop_open(&open).await;
        }
        results
    }
}

async fn confirmed(
    open: &OpenChannel,
    confirm: PublisherConfirm,
    deadline: tokio::time::Instant,
) -> Result<(), BrokerError> {
    match tokio::time::timeout_at(deadline, confirm).await {
        Ok(Ok(Confirmation::Ack(None))) => Ok(()),
        Ok(Ok(Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)))) => Err(BrokerError::Unroutable),
        Ok(Ok(Confirmation::Nack(None) | Confirmation::NotRequested)) => Err(BrokerError::Nacked),
        Ok(Err(error)) => Err(open.connection.error(&error)),
        // A broker in alarm says so to whom publishes, and answers no more.
        Err(_) if open.connection.is_blocked() => Err(BrokerError::Blocked),
        Err(_) => Err(BrokerError::Late { step: "confirm" }),
    }
}
