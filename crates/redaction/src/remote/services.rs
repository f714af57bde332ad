//! The additional services of one organisation, called from blocking and from asynchronous code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use super::error::RemoteError;
use super::service::{ExternalFinding, Remote};
use anamnesis_text::{Document, Language};

/// Services, with a thread on which they are called.
pub struct Services {
    list: Vec<Arc<dyn Remote>>,
    runtime: Option<tokio::runtime::Runtime>,
    /// Whether the last call failed, so that an outage and its end are logged once each.
    away: AtomicBool,
}

impl Services {
    /// # Errors
    /// If the thread cannot be started.
    pub fn new(list: Vec<Arc<dyn Remote>>) -> Result<Self, RemoteError> {
        if list.is_empty() {
            return Ok(Self { list, runtime: None, away: AtomicBool::new(false) });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Ok(Self { list, runtime: Some(runtime.map_err(|_| RemoteError::Thread)?), away: AtomicBool::new(false) })
    }

    /// The findings of all services. Waits for the last of them; each has its own time limit.
    ///
    /// # Errors
    /// The first failure of any service.
    pub fn find(&self, document: &Document) -> Result<Vec<ExternalFinding>, RemoteError> {
        let Some(runtime) = &self.runtime else { return Ok(Vec::new()) };
        let found = self.all(runtime, document);
        let failure = found.as_ref().err().filter(|error| error.is_retryable());
        if self.away.swap(failure.is_some(), Ordering::Relaxed) != failure.is_some() {
            match failure {
                Some(error) => tracing::warn!(code = "redaction_service", failure = error.code(), "{error}"),
                None => tracing::info!(code = "redaction_service", "the additional redaction services respond again"),
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
                let _ = told.send(asked(service.as_ref(), &text, language).await);
            });
        }
        drop(told);
        let mut found = Vec::new();
        for _ in &self.list {
            // A service that panics drops its sender.
            found.extend(heard.recv().map_err(|_| RemoteError::Unreachable)??);
        }
        Ok(found)
    }
}

const PROBE: &str = "Hello.";

/// A refused text is its own fault only if the service accepts a probe at that moment. A service that refuses
/// everything is misconfigured, and no document is quarantined for it.
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
    /// A runtime may not block while it is dropped inside another runtime.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
