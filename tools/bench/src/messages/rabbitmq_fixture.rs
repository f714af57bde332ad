//! The broker's side of `anamnesis-bench messages`: exchanges and queues under a prefix of its own, filled, drained by nothing but
//! the client library, and removed again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicQosOptions, ExchangeDeleteOptions, QueueDeclareOptions,
    QueueDeleteOptions, QueuePurgeOptions,
};
use lapin::types::{AMQPValue, FieldTable};

use anamnesis_config::BrokerConfig;
use anamnesis_core::clock::{Clock as _, SystemClock, SystemEntropy};
use anamnesis_rabbitmq::consumer::encode_message;
use anamnesis_rabbitmq::topology::{self, Topology};
use anamnesis_rabbitmq::{
    BrokerConnection, BrokerError, ConnectionRole, MessagePublisher as _, Names, OutboundMessage, Publisher, Queue,
};

/// Messages that are in flight to the broker at once while a queue is filled.
const WINDOW: usize = 1_000;

/// Everything under one prefix. Removed by [`BrokerFixture::remove`].
pub(crate) struct BrokerFixture {
    config: BrokerConfig,
    names: Names,
}

impl BrokerFixture {
    /// Declares the topology of `config.prefix`, and next to it a quorum queue for the bare consumer.
    ///
    /// # Errors
    /// Of the broker.
    pub(crate) async fn make(config: BrokerConfig) -> Result<Self, BrokerError> {
        let corner = Self { names: Names::new(&config.prefix), config };
        topology::apply(&corner.config).await?;
        let link = BrokerConnection::open(&corner.config, ConnectionRole::Topology).await?;
        let channel = link.channel().await?;
        let mut arguments = FieldTable::default();
        arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
        let bare = corner.bare();
        let declaring = channel.queue_declare(bare.as_str().into(), QueueDeclareOptions::durable(), arguments);
        link.within("declare", declaring).await?;
        link.close().await;
        Ok(corner)
    }

    fn bare(&self) -> String {
        format!("{}.bare", self.names.prefix())
    }

    /// Sends bodies as `publish` does, each confirmed.
    ///
    /// # Errors
    /// Of the broker.
    pub(crate) async fn send(&self, bodies: impl Iterator<Item = Vec<u8>>) -> Result<(), BrokerError> {
        let exchange = self.names.ingest();
        self.publish(bodies.map(|body| encode_message(&exchange, body, false, SystemClock.now()))).await
    }

    /// Those of the bodies that belong into the bulk queue.
    ///
    /// # Errors
    /// Of the broker.
    pub(crate) async fn send_bulk(&self, bodies: impl Iterator<Item = Vec<u8>>) -> Result<(), BrokerError> {
        let exchange = self.names.ingest();
        let letters = bodies.map(|body| encode_message(&exchange, body, false, SystemClock.now()));
        self.publish(letters.filter(|message| message.routing_key.starts_with(Queue::Bulk.name()))).await
    }

    /// The same bodies into the queue of the bare consumer.
    ///
    /// # Errors
    /// Of the broker.
    pub(crate) async fn send_bare(&self, bodies: impl Iterator<Item = Vec<u8>>) -> Result<(), BrokerError> {
        let (exchange, queue) = (String::new(), self.bare());
        let directly = |body: Vec<u8>| OutboundMessage {
            exchange: exchange.clone(),
            routing_key: queue.clone(),
            ..encode_message(&exchange, body, false, SystemClock.now())
        };
        self.publish(bodies.map(directly)).await
    }

    async fn publish(&self, mut letters: impl Iterator<Item = OutboundMessage>) -> Result<(), BrokerError> {
        let publisher = Publisher::new(&self.config, ConnectionRole::Publish, Arc::new(SystemEntropy));
        loop {
            let window: Vec<OutboundMessage> = letters.by_ref().take(WINDOW).collect();
            if window.is_empty() {
                break;
            }
            for sent in publisher.publish(&window).await {
                sent?;
            }
        }
        publisher.close().await;
        Ok(())
    }

    /// Takes so many messages out of the bare queue with the client library alone: one acknowledgement for `batch` of
    /// them. The clock runs from the question for messages to the last acknowledgement.
    ///
    /// # Errors
    /// Of the broker.
    pub(crate) async fn drain_bare(&self, messages: u64, prefetch: u16, batch: u64) -> Result<Duration, BrokerError> {
        let link = BrokerConnection::open(&self.config, ConnectionRole::Consume).await?;
        let channel = link.channel().await?;
        link.within("qos", channel.basic_qos(prefetch, BasicQosOptions::default())).await?;
        let started = Instant::now();
        let (queue, options) = (self.bare(), BasicConsumeOptions::default());
        let consuming = channel.basic_consume(queue.as_str().into(), "bare".into(), options, FieldTable::default());
        let mut deliveries = link.within("consume", consuming).await?;
        for taken in 1..=messages {
            let next = link.within("delivery", async { deliveries.next().await.transpose() }).await?;
            let Some(delivery) = next else { return Err(BrokerError::lost("consumer_cancelled")) };
            if taken % batch.max(1) == 0 || taken == messages {
                let acking = channel.basic_ack(delivery.delivery_tag, BasicAckOptions { multiple: true });
                link.within("ack", acking).await?;
            }
        }
        // The answer to a question after the last acknowledgement says that it arrived.
        self.ready(&link, &queue).await?;
        let took = started.elapsed();
        link.close().await;
        Ok(took)
    }

    async fn ready(&self, link: &BrokerConnection, queue: &str) -> Result<u32, BrokerError> {
        let channel = link.channel().await?;
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
        let asking = channel.queue_declare(queue.into(), options, FieldTable::default());
        let ready = link.within("look", asking).await?.message_count();
        link.within("close", channel.close(200, "OK".into())).await?;
        Ok(ready)
    }

    /// Messages that wait in the bulk queue.
    ///
    /// # Errors
    /// Of the broker.
    pub(crate) async fn waiting(&self) -> Result<u32, BrokerError> {
        let link = BrokerConnection::open(&self.config, ConnectionRole::Topology).await?;
        let waiting = self.ready(&link, &self.names.queue(Queue::Bulk)).await?;
        link.close().await;
        Ok(waiting)
    }

    /// Empties the intake and the catch-all queue of events.
    ///
    /// # Errors
    /// Of the broker.
    pub(crate) async fn purge(&self) -> Result<(), BrokerError> {
        let link = BrokerConnection::open(&self.config, ConnectionRole::Topology).await?;
        let channel = link.channel().await?;
        for queue in [self.names.queue(Queue::Realtime), self.names.queue(Queue::Bulk), self.names.catch_all()] {
            let purging = channel.queue_purge(queue.as_str().into(), QueuePurgeOptions::default());
            link.within("purge", purging).await?;
        }
        link.close().await;
        Ok(())
    }

    /// What cannot be removed stays, under its prefix.
    pub(crate) async fn remove(&self) {
        let Ok(link) = BrokerConnection::open(&self.config, ConnectionRole::Topology).await else { return };
        let topology = Topology::new(&self.names);
        let queues = topology.queues.iter().map(|queue| queue.name.clone()).chain([self.bare()]);
        for queue in queues {
            let Ok(channel) = link.channel().await else { return };
            let _ =
                link.within("delete", channel.queue_delete(queue.as_str().into(), QueueDeleteOptions::default())).await;
        }
        for exchange in &topology.exchanges {
            let Ok(channel) = link.channel().await else { return };
            let name = exchange.name.as_str().into();
            let _ = link.within("delete", channel.exchange_delete(name, ExchangeDeleteOptions::default())).await;
        }
        link.close().await;
    }
}
