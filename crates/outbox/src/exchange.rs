//! The events exchange, and where an event goes that nobody subscribes for.

use async_trait::async_trait;

use super::event::SOURCE;
use super::{Destination, Event, Taken};
use anamnesis_rabbitmq::{BrokerError, Letter, Names, Outlet as _, Publisher, event_letter};

/// Its name among the destinations.
pub const EXCHANGE: &str = "exchange";

/// Publishes events, each mandatory and confirmed. One that no subscriber's queue takes comes back and goes to the bounded
/// catch-all queue; where that is full or missing, it stays in the outbox.
pub struct Exchange {
    publisher: Publisher,
    names: Names,
}

impl Exchange {
    pub fn new(publisher: Publisher, names: Names) -> Self {
        Self { publisher, names }
    }

    fn letter(&self, exchange: String, event: &Event) -> Letter {
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
        event_letter(exchange, &event.kind, &attributes, event.data.to_string().into_bytes())
    }
}

#[async_trait]
impl Destination for Exchange {
    fn name(&self) -> &str {
        EXCHANGE
    }

    fn address(&self, event: &Event) -> String {
        format!("{}:{}", self.names.events(), event.kind)
    }

    async fn deliver(&self, events: &[Event]) -> Vec<Taken> {
        let letters: Vec<Letter> = events.iter().map(|event| self.letter(self.names.events(), event)).collect();
        let mut sent = self.publisher.publish(&letters).await;
        let returned: Vec<usize> = (0..sent.len()).filter(|at| sent[*at] == Err(BrokerError::Unroutable)).collect();
        if !returned.is_empty() {
            let letters: Vec<Letter> =
                returned.iter().map(|at| self.letter(self.names.unrouted(), &events[*at])).collect();
            for (at, result) in returned.into_iter().zip(self.publisher.publish(&letters).await) {
                sent[at] = result;
            }
        }
        if let Some(error) = sent.iter().find_map(|sent| sent.as_ref().err()) {
            tracing::warn!(code = error.code(), "events wait in the outbox");
        }
        sent.iter().map(|sent| if sent.is_ok() { Taken::Yes } else { Taken::Failed }).collect()
    }

    async fn close(&self) {
        self.publisher.close().await;
    }
}
