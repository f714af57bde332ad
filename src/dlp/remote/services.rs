//! The additional services of one organisation, asked from code that waits and from code that may not.

use std::sync::{Arc, mpsc};

use super::{Remote, RemoteError, RemoteFinding};
use crate::text::Document;

/// Services, with a thread of their own on which they are asked.
pub struct Services {
    list: Vec<Arc<dyn Remote>>,
    /// `None` without services.
    runtime: Option<tokio::runtime::Runtime>,
}

impl Services {
    /// # Errors
    /// When no thread can be had.
    pub fn new(list: Vec<Arc<dyn Remote>>) -> Result<Self, RemoteError> {
        if list.is_empty() {
            return Ok(Self { list, runtime: None });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Ok(Self { list, runtime: Some(runtime.map_err(|_| RemoteError::Configuration)?) })
    }

    /// What all services find; waits for the last of them, who keep their own time limits.
    ///
    /// # Errors
    /// The first failure of any.
    pub fn find(&self, document: &Document) -> Result<Vec<RemoteFinding>, RemoteError> {
        let Some(runtime) = &self.runtime else { return Ok(Vec::new()) };
        let (told, heard) = mpsc::channel();
        for service in &self.list {
            let (service, told) = (Arc::clone(service), told.clone());
            let (text, language) = (document.text.clone(), document.language);
            runtime.spawn(async move {
                // Nobody hears when another service failed before.
                let _ = told.send(service.find(&text, language).await);
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

impl Drop for Services {
    /// A runtime may not be waited for where others run.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
