//! The events exchange, and the destination of events without a subscriber.

use async_trait::async_trait;

use super::event::SOURCE;
use super::{DeliveryOutcome, Destination, OutboxEvent};
use anamnesis_rabbitmq::{BrokerError, MessagePublisher as _, Names, OutboundMessage, Publisher, event_message};

/// Its name among the destinations.
pub const EXCHANGE: &str = "exchange";

/// Publishes events, each mandatory and confirmed. One that no subscriber's queue takes comes back and goes to the bounded
/// catch-all queue; where that is full or missing, it stays in the outbox.
pub struct ExchangeDestination {
    publisher: Publisher,
    names: Names,
}

impl ExchangeDestination {
    pub fn new(publisher: Publisher, names: Names) -> Self {
        Self { publisher, names }
    }

    fn outbound_message(&self, exchange: String, event: &OutboxEvent) -> OutboundMessage {
        let (id, time) = (event.id.to_string(), event.time_text());
        let partition = event.partition.map(|partition| partition.to_string());
        let mut attributes = vec![
            ("specversion", "1.0"),
            ("id", id.as_str()),
            ("source", SOURCE),
            ("type", event.kind.as_str()),
            ("time", time.as_str()),
        ];
        if let Some(partition) = &partition {
            attributes.push(("partitionkey", partition));
        }
        if let Some(traceparent) = &event.traceparent {
            attributes.push(("traceparent", traceparent));
        }
        event_message(exchange, &event.kind, &attributes, event.data.to_string().into_bytes())
    }
}

#[async_trait]
impl Destination for ExchangeDestination {
    fn name(&self) -> &str {
        EXCHANGE
    }

    fn address(&self, event: &OutboxEvent) -> String {
        format!("{}:{}", self.names.events(), event.kind)
    }

    async fn deliver(&self, events: &[OutboxEvent]) -> Vec<DeliveryOutcome> {
        let messages: Vec<OutboundMessage> =
            events.iter().map(|event| self.outbound_message(self.names.events(), event)).collect();
        let mut sent = self.publisher.publish(&messages).await;
        let returned: Vec<usize> = (0..sent.len()).filter(|at| sent[*at] == Err(BrokerError::Unroutable)).collect();
        if !returned.is_empty() {
            let messages: Vec<OutboundMessage> =
                returned.iter().map(|at| self.outbound_message(self.names.unrouted(), &events[*at])).collect();
            for (at, result) in returned.into_iter().zip(self.publisher.publish(&messages).await) {
                sent[at] = result;
            }
        }
        if let Some(error) = sent.iter().find_map(|sent| sent.as_ref().err()) {
            tracing::warn!(code = error.code(), "events wait in the outbox");
        }
        sent.iter().map(|sent| if sent.is_ok() { DeliveryOutcome::Accepted } else { DeliveryOutcome::Failed }).collect()
    }

    async fn close(&self) {
        self.publisher.close().await;
    }
}
