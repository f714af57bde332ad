//! `alone`: works one message of standard input and says what became of it. A worker starts it for a message that was
//! begun again and again and never ended: if this process dies, nobody else does, and it is known of what.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::world::World;
use super::{Context, Exit, Failure, output};
use crate::broker::Queue;
use crate::intake::amqp::{Message, label};
use crate::intake::{Attributes, Problem, Refusal};
use crate::pipeline::{Disposition, Raw};

#[derive(Debug, clap::Args)]
pub struct Args {}

/// What the worker writes.
#[derive(Serialize, Deserialize)]
pub struct Asked {
    realtime: bool,
    attributes: Option<Attributes>,
    /// Reason, problem and field of what the headers already show to be wrong.
    refused: Option<(crate::domain::reason::Reason, Problem, Option<String>)>,
    body: String,
}

/// What this process writes.
#[derive(Serialize, Deserialize)]
pub struct Answer {
    /// A code of [`Disposition`].
    pub disposition: String,
}

impl Asked {
    pub fn new(queue: Queue, message: &Message) -> Self {
        let refused = message.refused.as_ref().map(|r| (r.reason, r.problem, r.field.clone()));
        let body = STANDARD.encode(&message.body);
        Self { realtime: queue == Queue::Realtime, attributes: message.attributes.clone(), refused, body }
    }

    fn raw(self) -> Option<Raw> {
        let refused = self.refused.map(|(reason, problem, field)| Refusal { reason, problem, field });
        Some(Raw { body: STANDARD.decode(self.body).ok()?, attributes: self.attributes, refused })
    }
}

/// # Errors
/// When standard input does not hold a message, or the store cannot be opened.
pub fn run(_: Args, context: &Context) -> Result<Exit, Failure> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let unreadable = || Failure::usage("standard input: not a message of a worker");
    let asked: Asked = serde_json::from_slice(&input).map_err(|_| unreadable())?;
    let queue = if asked.realtime { Queue::Realtime } else { Queue::Bulk };
    let raw = asked.raw().ok_or_else(unreadable)?;
    context.block_on(async {
        let world = World::open(context).await?;
        let pipeline = world.pipeline()?;
        let done = pipeline.run_from(label(queue), vec![raw]).await;
        world.store.close().await;
        let disposition = done.first().copied().unwrap_or(Disposition::Retry).code().to_owned();
        output::json(&Answer { disposition })?;
        Ok(Exit::Done)
    })
}
