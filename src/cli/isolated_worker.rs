//! `alone`: processes one message of standard input and reports its disposition. A worker starts it for a message with
//! repeated unfinished attempts: if this process dies, no other work is lost, and the cause is known.

use rustix::process::{Resource, Rlimit, setrlimit};

use super::app::App;
use super::{CliError, Context, Exit, output};
use anamnesis_config as config;
use anamnesis_config::secrets;
use anamnesis_pipeline::Disposition;
use anamnesis_pipeline::isolation::{IsolatedRequest, IsolatedResponse};

/// Processor time for one message, in seconds over all cores: far beyond the largest message's.
const PROCESSOR_SECONDS: u64 = 90;

#[derive(Debug, clap::Args)]
pub struct Args {}

/// # Errors
/// When standard input does not hold a message, or the store cannot be opened.
pub(crate) fn run(_: Args, context: &Context) -> Result<Exit, CliError> {
    // An endless computation dies of it and is known as the cause; a wait for a store uses no processor time.
    let limit = Rlimit { current: Some(PROCESSOR_SECONDS), maximum: None };
    setrlimit(Resource::Cpu, limit).map_err(std::io::Error::from)?;
    let input = secrets::read_wiping(std::io::stdin())?;
    let unreadable = || CliError::usage("standard input: not a message of a worker");
    let asked: IsolatedRequest = serde_json::from_slice(&input).map_err(|_| unreadable())?;
    let settings = config::load_with(context.config.as_deref(), &asked.secrets);
    let settings = settings.map_err(|error| CliError::usage(error.to_string()))?;
    let (queue, raw) = asked.read().ok_or_else(unreadable)?;
    context.block_on(async {
        let app = App::with(settings).await?;
        app.send_spans(context);
        let pipeline = app.pipeline()?;
        let done = pipeline.run_from(queue, vec![raw]).await;
        app.close().await;
        output::json(&IsolatedResponse::from_disposition(done.first().copied().unwrap_or(Disposition::Waits)))?;
        Ok(Exit::Done)
    })
}
