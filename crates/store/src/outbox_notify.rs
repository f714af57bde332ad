//! Notifies when a commit left events in the outbox, so that the relay of the same process publishes them immediately.
//! It is only a hint: the relay's periodic poll finds events without a notification.

use std::collections::BTreeSet;
use std::sync::Mutex;

use tokio::sync::Notify;

use anamnesis_core::ids::OrgId;

/// Organisations whose outbox holds something new.
#[derive(Debug, Default)]
pub struct OutboxNotifier {
    organizations: Mutex<BTreeSet<OrgId>>,
    notify: Notify,
}

impl OutboxNotifier {
    pub(super) fn notify_org(&self, org: OrgId) {
        self.lock().insert(org);
        self.notify.notify_one();
    }

    /// Waits until it rings, or has organizations since the last time.
    pub async fn notified_of_events(&self) {
        self.notify.notified().await;
    }

    /// The organisations that were notified since the last call.
    pub fn take_organizations(&self) -> BTreeSet<OrgId> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<OrgId>> {
        self.organizations.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
