//! Through which door a message came: what may be said depends on it, and never on what the message calls itself.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The door, with what it shows of who came through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "door", rename_all = "snake_case")]
pub enum Origin {
    /// Somebody who has opened the store with its keys: the verbs of the command line. No binding holds them back, since
    /// they could write to the store without this program.
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
