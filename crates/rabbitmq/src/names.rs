//! What exchanges, queues and routing keys are called. Everything begins with the configured prefix, so that two
//! installations can share a virtual host.

use std::collections::BTreeSet;
use std::time::Duration;

use anamnesis_core::document::DocumentType;

/// A queue that the worker consumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    /// Chat, commands, signals, profiles, consents: seen within seconds.
    Realtime,
    /// Everything else.
    Bulk,
    /// Messages that exceeded the delivery limit of the broker: processed one by one, in isolated processes.
    Poison,
}

impl Queue {
    pub const ALL: [Queue; 3] = [Queue::Realtime, Queue::Bulk, Queue::Poison];

    /// First word of the routing keys that lead here.
    pub fn name(self) -> &'static str {
        match self {
            Self::Realtime => "realtime",
            Self::Bulk => "bulk",
            Self::Poison => "poison",
        }
    }
}

/// A delay queue: a message stays in it before it is delivered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    Seconds5,
    Minute1,
    Minutes10,
    Hour1,
}

impl Tier {
    pub const ALL: [Tier; 4] = [Tier::Seconds5, Tier::Minute1, Tier::Minutes10, Tier::Hour1];

    /// The tier of the retry after so many.
    pub(crate) fn after(retries: u32) -> Self {
        match retries {
            0 => Self::Seconds5,
            1 => Self::Minute1,
            2 => Self::Minutes10,
            _ => Self::Hour1,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Seconds5 => "5s",
            Self::Minute1 => "1m",
            Self::Minutes10 => "10m",
            Self::Hour1 => "1h",
        }
    }

    /// How long a message waits.
    pub(crate) fn wait(self) -> Duration {
        Duration::from_secs(match self {
            Self::Seconds5 => 5,
            Self::Minute1 => 60,
            Self::Minutes10 => 600,
            Self::Hour1 => 3_600,
        })
    }
}

/// The names of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    prefix: String,
}

impl Names {
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The exchange that producers publish to.
    pub fn ingest(&self) -> String {
        format!("{}.ingest", self.prefix)
    }

    /// The exchange that leads into the tiers.
    pub fn retry(&self) -> String {
        format!("{}.retry", self.prefix)
    }

    /// The exchange of events.
    pub fn events(&self) -> String {
        format!("{}.events", self.prefix)
    }

    pub fn queue(&self, queue: Queue) -> String {
        format!("{}.ingest.{}", self.prefix, queue.name())
    }

    /// The poison queue of versions before 0.3. Intake queues that those versions declared still dead-letter to it.
    pub fn retired_poison(&self) -> String {
        format!("{}.ingest.parked", self.prefix)
    }

    pub fn tier(&self, tier: Tier) -> String {
        format!("{}.retry.{}", self.prefix, tier.name())
    }

    /// Notices of quarantined messages: ids and reason codes.
    pub fn quarantine(&self) -> String {
        format!("{}.quarantine", self.prefix)
    }

    /// The exchange to which an event goes that no subscriber's queue takes.
    pub fn unrouted(&self) -> String {
        format!("{}.events.unrouted", self.prefix)
    }

    /// The bounded queue that stores such events until they are read.
    pub fn catch_all(&self) -> String {
        format!("{}.events.catch_all", self.prefix)
    }

    /// The catch-all queue of earlier versions, which was bound to every event and had no limit of its own.
    pub(crate) fn former_catch_all(&self) -> String {
        format!("{}.events.mailbox", self.prefix)
    }
}

/// The routing key under which a retry leaves: the tier, the queue to come back to, and what it was.
pub(crate) fn retry_key(tier: Tier, queue: Queue, routing_key: &str) -> String {
    let home = if queue == Queue::Realtime { queue } else { Queue::Bulk };
    let mut words = routing_key.split('.').skip_while(|word| Tier::ALL.iter().any(|tier| tier.name() == *word));
    let first = words.next().unwrap_or_default();
    let rest: Vec<&str> = if [Queue::Realtime, Queue::Bulk].iter().any(|queue| queue.name() == first) {
        words.collect()
    } else {
        std::iter::once(first).chain(words).filter(|word| !word.is_empty()).collect()
    };
    let mut key = format!("{}.{}", tier.name(), home.name());
    for word in rest {
        // A routing key holds at most 255 bytes.
        if key.len() + word.len() + 1 > 255 {
            break;
        }
        key.push('.');
        key.push_str(word);
    }
    key
}

/// The queue for a message of this type: `document_type` where it is a document.
pub(crate) fn queue_for(message_type: &str, document_type: Option<&str>) -> Queue {
    match (message_type, document_type) {
        ("anamnesis.document.submitted.v1", Some("chat_message")) => Queue::Realtime,
        ("anamnesis.document.submitted.v1", _) => Queue::Bulk,
        _ => Queue::Realtime,
    }
}

/// Every queue that messages of a type go to.
pub fn keys_of(message_type: &str) -> Vec<Queue> {
    let of = |document_type: &DocumentType| queue_for(message_type, Some(document_type.code()));
    let used: BTreeSet<Queue> = DocumentType::ALL.iter().map(of).collect();
    used.into_iter().collect()
}

/// The routing key for it.
pub(crate) fn routing_key(message_type: &str, document_type: Option<&str>) -> String {
    let queue = queue_for(message_type, document_type).name();
    let plain = !message_type.is_empty()
        && message_type.len() <= 200
        && message_type.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if plain { format!("{queue}.{message_type}") } else { format!("{}.unknown", Queue::Bulk.name()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_knows_its_way_home_however_often_it_goes() {
        let first = retry_key(Tier::Seconds5, Queue::Bulk, "bulk.anamnesis.document.submitted.v1");
        assert_eq!(first, "5s.bulk.anamnesis.document.submitted.v1");
        let second = retry_key(Tier::Minute1, Queue::Bulk, &first);
        assert_eq!(second, "1m.bulk.anamnesis.document.submitted.v1");
        assert_eq!(retry_key(Tier::Hour1, Queue::Realtime, ""), "1h.realtime");
        assert_eq!(retry_key(Tier::Hour1, Queue::Poison, "bulk.x"), "1h.bulk.x");
        assert!(retry_key(Tier::Hour1, Queue::Bulk, &"x".repeat(255)).len() <= 255);
    }

    #[test]
    fn chat_and_commands_are_real_time_and_the_rest_is_bulk() {
        let key = routing_key("anamnesis.document.submitted.v1", Some("chat_message"));
        assert_eq!(key, "realtime.anamnesis.document.submitted.v1");
        assert_eq!(queue_for("anamnesis.document.submitted.v1", Some("clinical_note")), Queue::Bulk);
        assert_eq!(queue_for("anamnesis.memory.command.v1", None), Queue::Realtime);
        assert_eq!(routing_key("not a type", None), "bulk.unknown");
    }

    #[test]
    fn the_tiers_grow_and_the_last_one_stays() {
        let waits: Vec<u64> = (0..6).map(|n| Tier::after(n).wait().as_secs()).collect();
        assert_eq!(waits, [5, 60, 600, 3_600, 3_600, 3_600]);
    }
}
