//! One connection's life: channels, consumers, and the reasons to end it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::{Stream, StreamExt as _};
use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicQosOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Consumer as Deliveries};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::acker::{AckChannel, Acker, ChannelClosed};
use super::queue_worker::{QueueWorker, pauses};
use super::supervisor::Consumer;
use super::{InboundMessage, QueueLimits, prefetch};
use crate::{BrokerConnection, BrokerError, Names, Queue, topology};

/// How often the backlog is compared with what arrives.
const PROBE_INTERVAL: Duration = Duration::from_secs(10);
/// Consecutive probes that find messages waiting while nothing is worked and nothing arrives, after which the session is
/// given up.
const IDLE_PROBES: u32 = 3;
/// How long finishing may take while the process drains: below its own deadline, so that there is time to say goodbye.
pub(super) const FINISH: Duration = Duration::from_secs(7);

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The process drains; everything in progress was finished or will come again.
    Drained,
    /// The connection or a channel broke; another session may do better.
    Lost(BrokerError),
}

/// Acknowledges by the channel that delivered: never by another.
pub(super) struct SessionAckChannel {
    channel: Channel,
    limit: Duration,
}

#[async_trait]
impl AckChannel for SessionAckChannel {
    async fn ack(&self, tag: u64, multiple: bool) -> Result<bool, ChannelClosed> {
        if !self.channel.status().connected() {
            return Ok(false);
        }
        let sending = self.channel.basic_ack(tag, BasicAckOptions { multiple });
        match tokio::time::timeout(self.limit, sending).await {
            Ok(Ok(())) => Ok(true),
            Ok(Err(_)) | Err(_) => Err(ChannelClosed),
        }
    }
}

/// Opens the channels of a connection and works until something ends it.
pub(super) async fn live(
    consumer: &Consumer,
    mut connection: BrokerConnection,
    draining: &CancellationToken,
) -> SessionEnd {
    let stop = CancellationToken::new();
    let ending = match open(consumer, &connection, &stop).await {
        Ok(open) => {
            connection.wait_for_answers(consumer.settings.broker.rpc_timeout());
            consumer.status.connected();
            tracing::info!(code = "consuming", "the worker consumes from the broker");
            supervise(consumer, &connection, open, draining, &stop).await
        }
        Err(error) => SessionEnd::Lost(error),
    };
    stop.cancel();
    connection.close().await;
    ending
}

/// A queue of the broker that a session consumes.
struct ConsumedQueue {
    /// How its messages are processed.
    queue: Queue,
    name: String,
    /// The consumer tag.
    tag: &'static str,
}

/// What runs in a session.
struct SessionTasks {
    workers: JoinSet<(Queue, Result<(), ChannelClosed>)>,
    consumers: Vec<(Channel, &'static str)>,
    probe: Channel,
    monitored: Vec<(ConsumedQueue, Arc<QueueWorker<SessionAckChannel>>)>,
}

/// The queues of this version and, while the broker has it, the retired poison queue. Before `topology apply` a broker of
/// version 0.2 has no poison queue: a worker that may not declare then consumes the retired one alone.
async fn consumed(names: &Names, connection: &BrokerConnection) -> Result<Vec<ConsumedQueue>, BrokerError> {
    let current = |queue: Queue| ConsumedQueue { queue, name: names.queue(queue), tag: queue.name() };
    let mut queues: Vec<ConsumedQueue> = Queue::ALL.into_iter().map(current).collect();
    let retired = names.retired_poison();
    if topology::counts(connection, &retired).await?.is_some() {
        if topology::counts(connection, &names.queue(Queue::Poison)).await?.is_none() {
            queues.retain(|consumed| consumed.queue != Queue::Poison);
        }
        queues.push(ConsumedQueue { queue: Queue::Poison, name: retired, tag: "parked" });
    }
    Ok(queues)
}

async fn open(
    consumer: &Consumer,
    connection: &BrokerConnection,
    stop: &CancellationToken,
) -> Result<SessionTasks, BrokerError> {
    let mut open = SessionTasks {
        workers: JoinSet::new(),
        consumers: Vec::new(),
        probe: connection.channel().await?,
        monitored: Vec::new(),
    };
    for consumed in consumed(&consumer.names, connection).await? {
        let ConsumedQueue { queue, tag, .. } = consumed;
        let limits = QueueLimits::from_settings(&consumer.settings, queue);
        let channel = connection.channel().await?;
        // Before consuming: the library buffers without a bound whatever arrives.
        let prefetch = prefetch(&consumer.settings, &limits);
        connection.within("qos", channel.basic_qos(prefetch, BasicQosOptions::default())).await?;
        let consuming = channel.basic_consume(
            consumed.name.as_str().into(),
            tag.into(),
            BasicConsumeOptions::default(),
            FieldTable::default(),
        );
        let deliveries = connection.within("consume", consuming).await?;
        let worker = Arc::new(worker(consumer, queue, limits, &channel, stop));
        open.consumers.push((channel, tag));
        open.monitored.push((consumed, Arc::clone(&worker)));
        let arrivals = messages(deliveries, consumer.settings.intake.max_body_bytes);
        open.workers.spawn(async move { (queue, worker.run(arrivals).await) });
    }
    Ok(open)
}

fn worker(
    consumer: &Consumer,
    queue: Queue,
    limits: QueueLimits,
    channel: &Channel,
    stop: &CancellationToken,
) -> QueueWorker<SessionAckChannel> {
    let (brake, resend) = pauses(&consumer.entropy);
    let acks = SessionAckChannel { channel: channel.clone(), limit: consumer.settings.broker.rpc_timeout() };
    QueueWorker {
        queue,
        names: consumer.names.clone(),
        limits,
        handler: Arc::clone(&consumer.handler),
        publisher: Arc::clone(&consumer.publisher),
        acker: Acker::new(acks),
        status: Arc::clone(&consumer.status),
        metrics: Arc::clone(&consumer.metrics),
        stop: stop.clone(),
        brake,
        resend,
        in_progress: consumer.in_progress.clone(),
    }
}

/// Deliveries as messages; ends when the server cancels the consumer or the channel breaks.
fn messages(deliveries: Deliveries, max_body_bytes: usize) -> impl Stream<Item = InboundMessage> + Unpin {
    let read = move |delivery: Delivery| {
        let Delivery { delivery_tag, redelivered, properties, data, ref routing_key, .. } = delivery;
        InboundMessage::new(delivery_tag, redelivered, routing_key.as_str(), properties, data, max_body_bytes)
    };
    // The first error is the last word of a channel.
    Box::pin(
        deliveries
            .take_while(|delivery| std::future::ready(delivery.is_ok()))
            .filter_map(move |delivery| std::future::ready(delivery.ok().map(read))),
    )
}

async fn supervise(
    consumer: &Consumer,
    connection: &BrokerConnection,
    mut open: SessionTasks,
    draining: &CancellationToken,
    stop: &CancellationToken,
) -> SessionEnd {
    let ending = tokio::select! {
        biased;
        () = draining.cancelled() => SessionEnd::Drained,
        ended = open.workers.join_next() => SessionEnd::Lost(why(connection, ended)),
        error = watch(consumer, connection, &open.probe, &open.monitored) => SessionEnd::Lost(error),
    };
    if ending == SessionEnd::Drained {
        finish(open, stop).await;
    } else {
        // What is in work goes on to its commit; its acknowledgement will fail, and it comes again as a duplicate.
        stop.cancel();
        let _ =
            tokio::time::timeout(Duration::from_secs(1), async { while open.workers.join_next().await.is_some() {} })
                .await;
        open.workers.detach_all();
    }
    ending
}

fn why(
    connection: &BrokerConnection,
    ended: Option<Result<(Queue, Result<(), ChannelClosed>), tokio::task::JoinError>>,
) -> BrokerError {
    match ended {
        _ if !connection.is_open() => BrokerError::lost("connection_broken"),
        Some(Ok((_, Ok(())))) => BrokerError::lost("consumer_cancelled"),
        Some(Ok((_, Err(ChannelClosed)))) => BrokerError::lost("channel_closed"),
        Some(Err(_)) | None => BrokerError::lost("panicked"),
    }
}

/// Stops deliveries, then finishes what is in progress. What was prefetched and not begun goes back when the connection closes.
async fn finish(mut open: SessionTasks, stop: &CancellationToken) {
    for (channel, tag) in &open.consumers {
        let cancelling = channel.basic_cancel((*tag).into(), BasicCancelOptions { nowait: true });
        let _ = tokio::time::timeout(Duration::from_millis(500), cancelling).await;
    }
    stop.cancel();
    let finishing = async { while open.workers.join_next().await.is_some() {} };
    if tokio::time::timeout(FINISH, finishing).await.is_err() {
        tracing::warn!(code = "drain_timeout", "work in progress was abandoned and will be redelivered");
    }
    open.workers.abort_all();
}

/// Returns when the connection is over, or when messages wait and none comes.
async fn watch(
    consumer: &Consumer,
    connection: &BrokerConnection,
    probe: &Channel,
    workers: &[(ConsumedQueue, Arc<QueueWorker<SessionAckChannel>>)],
) -> BrokerError {
    let (mut idle, mut arrivals) = (0, consumer.status.arrivals());
    loop {
        tokio::time::sleep(PROBE_INTERVAL).await;
        if !connection.is_open() {
            return BrokerError::lost("connection_broken");
        }
        let mut beside_backlog = false;
        // The retired queue counts as the poison queue.
        let mut backlog: BTreeMap<Queue, i64> = BTreeMap::new();
        for (consumed, worker) in workers {
            let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
            let asking = probe.queue_declare(consumed.name.as_str().into(), options, FieldTable::default());
            let ready = match connection.within("look", asking).await {
                Ok(queue) => queue.message_count(),
                Err(error) => return error,
            };
            *backlog.entry(consumed.queue).or_default() += i64::from(ready);
            // Messages in the queue or unacknowledged here, and no work in progress.
            beside_backlog |= ready > 0 || !worker.acker.is_empty().await;
        }
        for (queue, ready) in backlog {
            consumer.metrics.ingest.backlog.with_labels(super::label(queue)).set(ready);
        }
        match topology::counts(connection, &consumer.names.catch_all()).await {
            Ok(found) => consumer.metrics.store.catch_all.set(found.map_or(0, |(ready, _)| i64::from(ready))),
            // This queue is not consumed here: an error about it ends no intake.
            Err(error) => tracing::debug!(code = error.code(), "the length of the catch-all queue could not be read"),
        }
        let before = std::mem::replace(&mut arrivals, consumer.status.arrivals());
        beside_backlog &= consumer.status.working() == 0 && before == arrivals;
        idle = if beside_backlog { idle + 1 } else { 0 };
        if idle >= IDLE_PROBES {
            consumer.status.stalled();
            return BrokerError::lost("idle_with_backlog");
        }
    }
}
