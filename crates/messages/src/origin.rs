//! The intake endpoint of a message: permissions depend on it, never on what the message says about itself.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The intake endpoint of a message, with the sender's identity as far as the endpoint proves it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "door", rename_all = "snake_case")]
pub enum MessageOrigin {
    /// A process that has opened the store with its keys: the verbs of the command line. Not subject to bindings, since
    /// it could write to the store without this program.
    #[default]
    Operator,
    /// A file, under the producer that `intake.files.source` names.
    Files,
    /// The broker.
    Broker {
        /// `user_id`, which the broker has compared with the connection.
        user: Option<String>,
        /// When it came first; `None`: now.
        received: Option<DateTime<Utc>>,
    },
}
