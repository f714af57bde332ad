//! The additional services of one organisation, asked from code that waits and from code that may not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use super::error::RemoteError;
use super::service::{ExternalFinding, Remote};
use anamnesis_text::{Document, Language};

/// Services, with a thread of their own on which they are asked.
pub struct Services {
    list: Vec<Arc<dyn Remote>>,
    /// `None` without services.
    runtime: Option<tokio::runtime::Runtime>,
    /// Whether the last question failed: a service that is away is logged once, and once when it is back.
    away: AtomicBool,
}

impl Services {
    /// # Errors
    /// When no thread can be had.
    pub fn new(list: Vec<Arc<dyn Remote>>) -> Result<Self, RemoteError> {
        if list.is_empty() {
            return Ok(Self { list, runtime: None, away: AtomicBool::new(false) });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Ok(Self { list, runtime: Some(runtime.map_err(|_| RemoteError::Thread)?), away: AtomicBool::new(false) })
    }

    /// What all services find; waits for the last of them, who keep their own time limits.
    ///
    /// # Errors
    /// The first failure of any.
    pub fn find(&self, document: &Document) -> Result<Vec<ExternalFinding>, RemoteError> {
        let Some(runtime) = &self.runtime else { return Ok(Vec::new()) };
        let found = self.all(runtime, document);
        let failure = found.as_ref().err().filter(|error| error.is_retryable());
        if self.away.swap(failure.is_some(), Ordering::Relaxed) != failure.is_some() {
            match failure {
                Some(error) => tracing::warn!(code = "redaction_service", failure = error.code(), "{error}"),
                None => tracing::info!(code = "redaction_service", "the additional redaction services answer again"),
            }
        }
        found
    }

    fn all(&self, runtime: &tokio::runtime::Runtime, document: &Document) -> Result<Vec<ExternalFinding>, RemoteError> {
        let (told, heard) = mpsc::channel();
        for service in &self.list {
            let (service, told) = (Arc::clone(service), told.clone());
            let (text, language) = (document.text.clone(), document.language);
            runtime.spawn(async move {
                // No one hears when another service failed before.
                let _ = told.send(asked(service.as_ref(), &text, language).await);
            });
        }
        drop(told);
        let mut found = Vec::new();
        for _ in &self.list {
            // A service that panics hangs up.
            found.extend(heard.recv().map_err(|_| RemoteError::Unreachable)??);
        }
        Ok(found)
    }
}

/// A text that every service takes: it says whether a refusal was about the document.
const PROBE: &str = "Hello.";

/// What a service finds. A refusal of the text counts as one only where the service takes another text at that moment: a
/// service that refuses everything is misconfigured, and no document is to blame.
async fn asked(service: &dyn Remote, text: &str, language: Language) -> Result<Vec<ExternalFinding>, RemoteError> {
    match service.find(text, language).await {
        Err(RemoteError::Document) => match service.find(PROBE, language.or_detect(text)).await {
            Ok(_) => Err(RemoteError::Document),
            Err(RemoteError::Document) => Err(RemoteError::Refused),
            Err(error) => Err(error),
        },
        answered => answered,
    }
}

impl Drop for Services {
    /// A runtime may not be waited for where others run.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
