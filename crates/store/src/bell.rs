//! Rings when a commit left events in the outbox, so that the relay of the same process publishes them at once. Only a
//! hint: what nobody rang for is found by the relay's own sweep.

use std::collections::BTreeSet;
use std::sync::Mutex;

use tokio::sync::Notify;

use anamnesis_core::ids::OrgId;

/// Organisations whose outbox holds something new.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<BTreeSet<OrgId>>,
    notify: Notify,
}

impl Bell {
    pub(super) fn ring(&self, org: OrgId) {
        self.lock().insert(org);
        self.notify.notify_one();
    }

    /// Waits until it rings, or has rung since the last time.
    pub async fn rings(&self) {
        self.notify.notified().await;
    }

    /// For whom it rang since the last time.
    pub fn taken(&self) -> BTreeSet<OrgId> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<OrgId>> {
        self.rung.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
