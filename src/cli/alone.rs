//! `alone`: works one message of standard input and says what became of it. A worker starts it for a message that was
//! begun again and again and never ended: if this process dies, nobody else does, and it is known of what.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::world::World;
use super::{Context, Exit, Failure, output};
use anamnesis_config as config;
use anamnesis_config::secrets::{self, Handed};
use anamnesis_core::reason::Reason;
use anamnesis_messages::{Attributes, Origin, Problem, Refusal};
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::metrics::labels::Queue;
use anamnesis_pipeline::{Disposition, Raw};

/// Processor time for one message, in seconds over all cores: far beyond what the largest message takes.
const PROCESSOR_SECONDS: u64 = 90;

#[derive(Debug, clap::Args)]
pub struct Args {}

/// What the worker writes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Asked {
    /// A code of [`Queue`].
    queue: String,
    attributes: Option<Attributes>,
    /// The door that it came through.
    origin: Origin,
    /// Reason, problem and field of what the headers already show to be wrong.
    refused: Option<(Reason, Problem, Option<String>)>,
    body: String,
    /// The worker's variables that hold secrets: by this pipe, since an environment can be read by whoever runs as the
    /// same user.
    secrets: Handed,
}

/// What this process writes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answer {
    /// A code of [`Disposition`], or `waits`.
    disposition: String,
    /// Of a message that was set aside.
    reason: Option<Reason>,
}

impl Answer {
    pub(crate) fn of(disposition: Disposition) -> Self {
        let reason = match disposition {
            Disposition::Quarantined(reason) => Some(reason),
            _ => None,
        };
        Self { disposition: word(disposition).to_owned(), reason }
    }

    /// `None` for a word of another version.
    pub(crate) fn disposition(self) -> Option<Disposition> {
        let quarantined = self.reason.map(Disposition::Quarantined);
        let open = [Disposition::Retry, Disposition::Waits];
        let plain = [Disposition::Stored, Disposition::Duplicate, Disposition::Ephemeral].into_iter().chain(open);
        plain.chain(quarantined).find(|one| word(*one) == self.disposition)
    }
}

/// Tells a try that counts from one that does not.
fn word(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Waits => "waits",
        other => other.code(),
    }
}

/// Counts what is written.
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Asked {
    pub(crate) fn new(queue: Queue, message: &Raw) -> Self {
        let refused = message.refused.as_ref().map(|r| (r.reason, r.problem, r.field.clone()));
        let body = STANDARD.encode(&message.body);
        Self {
            queue: queue.code().to_owned(),
            attributes: message.attributes.clone(),
            origin: message.origin.clone(),
            refused,
            body,
            secrets: Handed::of_this_process(),
        }
    }

    /// As it is written to the pipe; wiped when it is dropped.
    pub(crate) fn written(&self) -> Option<Zeroizing<Vec<u8>>> {
        // Measured first: a buffer that grows leaves copies that nobody wipes.
        let mut length = Length(0);
        serde_json::to_writer(&mut length, self).ok()?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(length.0));
        serde_json::to_writer(&mut *bytes, self).ok()?;
        Some(bytes)
    }

    fn raw(self) -> Option<Raw> {
        let refused = self.refused.map(|(reason, problem, field)| Refusal { reason, problem, field });
        let body = STANDARD.decode(self.body).ok()?;
        Some(Raw { body, attributes: self.attributes, refused, origin: self.origin })
    }
}

/// # Errors
/// When standard input does not hold a message, or the store cannot be opened.
pub(crate) fn run(_: Args, context: &Context) -> Result<Exit, Failure> {
    // What computes without end dies of it, and is known as the cause; what waits for a store uses no processor.
    let limit = Rlimit { current: Some(PROCESSOR_SECONDS), maximum: None };
    setrlimit(Resource::Cpu, limit).map_err(std::io::Error::from)?;
    let input = secrets::read_wiping(std::io::stdin())?;
    let unreadable = || Failure::usage("standard input: not a message of a worker");
    let asked: Asked = serde_json::from_slice(&input).map_err(|_| unreadable())?;
    let queue = Queue::of_code(&asked.queue).ok_or_else(unreadable)?;
    let settings = config::load_with(context.config.as_deref(), &asked.secrets);
    let settings = settings.map_err(|error| Failure::usage(error.to_string()))?;
    let raw = asked.raw().ok_or_else(unreadable)?;
    context.block_on(async {
        let world = World::with(settings).await?;
        let pipeline = world.pipeline()?;
        let done = pipeline.run_from(queue, vec![raw]).await;
        world.store.close().await;
        output::json(&Answer::of(done.first().copied().unwrap_or(Disposition::Waits)))?;
        Ok(Exit::Done)
    })
}
