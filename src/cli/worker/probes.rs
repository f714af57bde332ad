//! What the worker says of itself to Kubernetes.

use std::sync::Arc;

use async_trait::async_trait;

use crate::http::{Check, Readiness};
use crate::intake::amqp::Status;
use crate::store::engine::Access;
use crate::store::{Store, StoreError};

/// Ready while the store and the right key store answer and, where a broker is configured, its messages are consumed. Dead when messages wait
/// and nothing is done about them.
pub struct Ready {
    pub store: Store,
    pub consumer: Option<Arc<Status>>,
}

#[async_trait]
impl Readiness for Ready {
    async fn check(&self) -> Vec<Check> {
        let store = match self.store.db().read(Access::Platform).await {
            Ok(_) => Check::ready("store"),
            Err(_) => Check::failed("store", "store_unavailable"),
        };
        let broker = self.consumer.as_ref().map(|status| match status.trouble() {
            None => Check::ready("broker"),
            Some(code) => Check::failed("broker", code),
        });
        let keys = match self.store.check_keys().await {
            Err(StoreError::Key(_)) => Check::failed("keys", "keys_unavailable"),
            // A store that does not answer says nothing of its keys, and has its own check.
            _ => Check::ready("keys"),
        };
        [store, keys].into_iter().chain(broker).collect()
    }

    fn dead(&self) -> Option<&'static str> {
        self.consumer.as_ref().and_then(|status| status.dead())
    }
}
