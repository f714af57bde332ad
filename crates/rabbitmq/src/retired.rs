//! The poison queue of version 0.2, `.ingest.parked`. Intake queues that version 0.2 declared dead-letter to it, and a
//! broker cannot change the arguments of a queue. Workers therefore consume it as long as the broker has it.

use serde::Serialize;

use super::connection::BrokerConnection;
use super::error::BrokerError;
use super::topology::{QueueSpec, confirm};

/// The retired queue of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RetiredQueue {
    pub(crate) name: String,
    /// Messages that are ready. Those that a worker has and did not acknowledge are not counted.
    pub(crate) messages: u32,
    pub(crate) consumers: u32,
    /// The intake queues that still dead-letter to it.
    pub(crate) sources: Vec<String>,
}

impl RetiredQueue {
    /// Its state in one line.
    pub fn describe(&self) -> String {
        let Self { name, messages, consumers, sources } = self;
        let state = format!("queue {name}: retired, being drained ({messages} messages, {consumers} consumers)");
        if sources.is_empty() { state } else { format!("{state}; dead letters of {} still arrive", sources.join(", ")) }
    }
}

/// Whether the broker has a queue with the arguments of version 0.2.
///
/// # Errors
/// When the broker cannot be asked.
pub(crate) async fn is_source(connection: &BrokerConnection, queue: &QueueSpec) -> Result<bool, BrokerError> {
    let Some(earlier) = &queue.earlier else { return Ok(false) };
    match confirm(connection, &queue.name, earlier).await {
        Ok(()) => Ok(true),
        Err(BrokerError::Missing | BrokerError::Mismatch { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The names of the queues that have the arguments of version 0.2.
///
/// # Errors
/// When the broker cannot be asked.
pub(crate) async fn sources(connection: &BrokerConnection, queues: &[QueueSpec]) -> Result<Vec<String>, BrokerError> {
    let mut found = Vec::new();
    for queue in queues {
        if is_source(connection, queue).await? {
            found.push(queue.name.clone());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_names_the_queues_that_still_dead_letter_to_it() {
        let mut retired =
            RetiredQueue { name: "a.ingest.parked".to_owned(), messages: 2, consumers: 1, sources: Vec::new() };
        assert_eq!(retired.describe(), "queue a.ingest.parked: retired, being drained (2 messages, 1 consumers)");
        retired.sources = vec!["a.ingest.realtime".to_owned(), "a.ingest.bulk".to_owned()];
        assert!(retired.describe().ends_with("; dead letters of a.ingest.realtime, a.ingest.bulk still arrive"));
    }
}
