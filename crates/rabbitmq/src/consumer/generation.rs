//! One connection's life: channels, consumers, and the reasons to end it.

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

use super::lane::{Lane, pauses};
use super::settle::{Acks, Gone, Settler};
use super::supervisor::Consumer;
use super::{Limits, Message, prefetch};
use crate::{BrokerError, Link, Queue, topology};

/// How often the backlog is compared with what arrives.
const LOOK: Duration = Duration::from_secs(10);
/// Looks in a row at messages that wait while nothing is worked and nothing arrives, after which the generation is
/// given up.
const PATIENCE: u32 = 3;
/// How long finishing may take while the process drains: below its own deadline, so that there is time to say goodbye.
pub(super) const FINISH: Duration = Duration::from_secs(7);

/// How a generation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// The process drains; everything in hand was finished or will come again.
    Drained,
    /// Another generation may do better.
    Over(BrokerError),
}

/// Acknowledges by the channel that delivered: never by another.
pub(super) struct ChannelAcks {
    channel: Channel,
    limit: Duration,
}

#[async_trait]
impl Acks for ChannelAcks {
    async fn ack(&self, tag: u64, multiple: bool) -> Result<bool, Gone> {
        if !self.channel.status().connected() {
            return Ok(false);
        }
        let sending = self.channel.basic_ack(tag, BasicAckOptions { multiple });
        match tokio::time::timeout(self.limit, sending).await {
            Ok(Ok(())) => Ok(true),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }
}

/// Opens the channels of a connection and works until something ends it.
pub(super) async fn live(consumer: &Consumer, mut link: Link, draining: &CancellationToken) -> Ending {
    let over = CancellationToken::new();
    let ending = match open(consumer, &link, &over).await {
        Ok(open) => {
            link.wait_for_answers(consumer.settings.broker.answer_timeout());
            consumer.status.connected();
            tracing::info!(code = "consuming", "the worker consumes from the broker");
            attend(consumer, &link, open, draining, &over).await
        }
        Err(error) => Ending::Over(error),
    };
    over.cancel();
    link.close().await;
    ending
}

/// What runs in a generation.
struct Open {
    lanes: JoinSet<(Queue, Result<(), Gone>)>,
    consumers: Vec<(Channel, &'static str)>,
    eyes: Channel,
    watched: Vec<(Queue, Arc<Lane<ChannelAcks>>)>,
}

async fn open(consumer: &Consumer, link: &Link, over: &CancellationToken) -> Result<Open, BrokerError> {
    let mut open =
        Open { lanes: JoinSet::new(), consumers: Vec::new(), eyes: link.channel().await?, watched: Vec::new() };
    for queue in Queue::ALL {
        let limits = Limits::of(&consumer.settings, queue);
        let channel = link.channel().await?;
        // Before consuming: the library buffers without a bound whatever arrives.
        let prefetch = prefetch(&consumer.settings, &limits);
        link.within("qos", channel.basic_qos(prefetch, BasicQosOptions::default())).await?;
        let tag = queue.word();
        let name = consumer.names.queue(queue);
        let consuming = channel.basic_consume(
            name.as_str().into(),
            tag.into(),
            BasicConsumeOptions::default(),
            FieldTable::default(),
        );
        let deliveries = link.within("consume", consuming).await?;
        let lane = Arc::new(lane(consumer, queue, limits, &channel, over));
        open.consumers.push((channel, tag));
        open.watched.push((queue, Arc::clone(&lane)));
        let arrivals = messages(deliveries, consumer.settings.intake.max_body_bytes);
        open.lanes.spawn(async move { (queue, lane.run(arrivals).await) });
    }
    Ok(open)
}

fn lane(
    consumer: &Consumer,
    queue: Queue,
    limits: Limits,
    channel: &Channel,
    over: &CancellationToken,
) -> Lane<ChannelAcks> {
    let (brake, resend) = pauses(&consumer.entropy);
    let acks = ChannelAcks { channel: channel.clone(), limit: consumer.settings.broker.answer_timeout() };
    Lane {
        queue,
        names: consumer.names.clone(),
        limits,
        work: Arc::clone(&consumer.work),
        outlet: Arc::clone(&consumer.outlet),
        settler: Settler::new(acks),
        status: Arc::clone(&consumer.status),
        metrics: Arc::clone(&consumer.metrics),
        over: over.clone(),
        brake,
        resend,
        in_progress: consumer.in_progress.clone(),
    }
}

/// Deliveries as messages; ends when the server cancels the consumer or the channel breaks.
fn messages(deliveries: Deliveries, max_body_bytes: usize) -> impl Stream<Item = Message> + Unpin {
    let read = move |delivery: Delivery| {
        let Delivery { delivery_tag, redelivered, properties, data, ref routing_key, .. } = delivery;
        Message::new(delivery_tag, redelivered, routing_key.as_str(), properties, data, max_body_bytes)
    };
    // The first error is the last word of a channel.
    Box::pin(
        deliveries
            .take_while(|delivery| std::future::ready(delivery.is_ok()))
            .filter_map(move |delivery| std::future::ready(delivery.ok().map(read))),
    )
}

async fn attend(
    consumer: &Consumer,
    link: &Link,
    mut open: Open,
    draining: &CancellationToken,
    over: &CancellationToken,
) -> Ending {
    let ending = tokio::select! {
        biased;
        () = draining.cancelled() => Ending::Drained,
        ended = open.lanes.join_next() => Ending::Over(why(link, ended)),
        error = watch(consumer, link, &open.eyes, &open.watched) => Ending::Over(error),
    };
    if ending == Ending::Drained {
        finish(open, over).await;
    } else {
        // What is in work goes on to its commit; its acknowledgement will fail, and it comes again as a duplicate.
        over.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(1), async { while open.lanes.join_next().await.is_some() {} })
            .await;
        open.lanes.detach_all();
    }
    ending
}

fn why(link: &Link, ended: Option<Result<(Queue, Result<(), Gone>), tokio::task::JoinError>>) -> BrokerError {
    match ended {
        _ if !link.is_open() => BrokerError::lost("connection_broken"),
        Some(Ok((_, Ok(())))) => BrokerError::lost("consumer_cancelled"),
        Some(Ok((_, Err(Gone)))) => BrokerError::lost("channel_over"),
        Some(Err(_)) | None => BrokerError::lost("panicked"),
    }
}

/// No new messages, then an end to what is in hand. What was prefetched and not begun goes back when the connection closes.
async fn finish(mut open: Open, over: &CancellationToken) {
    for (channel, tag) in &open.consumers {
        let cancelling = channel.basic_cancel((*tag).into(), BasicCancelOptions { nowait: true });
        let _ = tokio::time::timeout(Duration::from_millis(500), cancelling).await;
    }
    over.cancel();
    let finishing = async { while open.lanes.join_next().await.is_some() {} };
    if tokio::time::timeout(FINISH, finishing).await.is_err() {
        tracing::warn!(code = "overdue", "work in hand was given up; it will be offered again");
    }
    open.lanes.abort_all();
}

/// Returns when the connection is over, or when messages wait and none comes.
async fn watch(
    consumer: &Consumer,
    link: &Link,
    eyes: &Channel,
    lanes: &[(Queue, Arc<Lane<ChannelAcks>>)],
) -> BrokerError {
    let (mut idle, mut arrivals) = (0, consumer.status.arrivals());
    loop {
        tokio::time::sleep(LOOK).await;
        if !link.is_open() {
            return BrokerError::lost("connection_broken");
        }
        let mut beside_backlog = false;
        for (queue, lane) in lanes {
            let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
            let name = consumer.names.queue(*queue);
            let asking = eyes.queue_declare(name.as_str().into(), options, FieldTable::default());
            let ready = match link.within("look", asking).await {
                Ok(queue) => queue.message_count(),
                Err(error) => return error,
            };
            consumer.metrics.ingest.backlog.of(super::label(*queue)).set(i64::from(ready));
            // Messages in the queue, or in our hands, and nobody works.
            beside_backlog |= ready > 0 || !lane.settler.is_empty().await;
        }
        match topology::counts(link, &consumer.names.catch_all()).await {
            Ok(found) => consumer.metrics.store.catch_all.set(found.map_or(0, |(ready, _)| i64::from(ready))),
            // A queue that nobody here consumes ends no intake.
            Err(error) => tracing::debug!(code = error.code(), "the catch-all queue could not be asked for its length"),
        }
        let before = std::mem::replace(&mut arrivals, consumer.status.arrivals());
        beside_backlog &= consumer.status.working() == 0 && before == arrivals;
        idle = if beside_backlog { idle + 1 } else { 0 };
        if idle >= PATIENCE {
            consumer.status.stalled();
            return BrokerError::lost("idle_beside_backlog");
        }
    }
}
