//! The store: rows, vectors and keys of patients with one interface. Statements are written once, engines differ in
//! `engine/` only; sealing and opening happen here and nowhere else.

pub mod admission;
pub mod answers;
pub mod audit_trail;
mod batch;
pub mod binding;
pub mod cohorts;
mod command_metrics;
pub mod confidence_trends;
pub mod consents;
pub mod covered;
pub mod decay_index;
pub mod digest;
pub mod due_transitions;
mod encrypted_columns;
pub mod erasure;
pub mod legacy;
pub mod legal_holds;
mod memory_history;
mod missing_rows;
pub mod organizations;
pub mod outbox;
pub mod outbox_admin;
pub mod outbox_claims;
mod outbox_notify;
mod paging;
pub mod pending_embeddings;
pub mod privacy;
mod profile_check;
pub mod purge;
pub mod quarantine;
pub mod re_redaction;
pub mod read;
pub mod reconciliation;
pub mod records;
pub mod recurrence;
pub mod retention;
mod roles;
mod statements;
pub mod stats;
pub mod summary_inputs;
pub mod upkeep;
pub mod vectors;
mod write;

pub use encrypted_columns::document_row;
pub use paging::PageRequest;
pub(crate) use roles::{
    AuditStore, ErasureStore, GenerationStore, IntakeStore, KeyStoreBinding, MemoryReader, OrganizationStore,
    OutboxStore, QuarantineStore, StatsStore,
};
pub use statements::NamedStatement;
pub use write::{maintenance, projections, redaction_changes};

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use uuid::Uuid;

use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_core::confidence::DecayPolicy;
use anamnesis_core::lifecycle::LifecyclePolicy;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyError, KeyStore, OpenError, PatientKeys};
use anamnesis_sql::{Database, DbError, Fault};
pub(crate) use outbox_notify::OutboxNotifier;

/// Keys of the patients of a batch.
pub type Keys = HashMap<Scope, Arc<PatientKeys>>;

/// Errors of the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A sealed cell has another shape than its column.
    #[error("an encrypted value has an invalid format for its column")]
    Shape,
    /// Nothing of the patient can be read any more, and nothing may be stored.
    #[error("the patient was erased: the key was destroyed")]
    Erased,
    /// The patient does not permit readers to see the memories.
    #[error("the consent of the patient does not permit this")]
    NoConsent,
    /// Another worker stored one of the messages, or a consent, first: admit again.
    #[error("another worker changed the row first")]
    Race,
    /// A finding's evidence is not literally in its document.
    #[error("the evidence is not a literal quote of the redacted text")]
    Ungrounded,
}

impl StoreError {
    /// Whether the same batch may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Db(error) => error.is_transient(),
            // The right key store may return while the program runs; messages must not be quarantined meanwhile.
            Self::Key(_) => true,
            Self::Race => true,
            Self::Open(_) | Self::Shape | Self::Ungrounded | Self::Erased | Self::NoConsent => false,
        }
    }

    /// Whether the store or the rows that were being written are at fault.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Db(error) => error.fault(),
            Self::Key(_) | Self::Race => Fault::Store,
            Self::Ungrounded => Fault::Rows,
            // A cell of this patient does not open. Only this patient is affected, and the message is not at fault.
            Self::Open(_) | Self::Shape | Self::Erased | Self::NoConsent => Fault::Unclear,
        }
    }
}

/// The access to all rows.
#[derive(Clone)]
pub struct Store {
    db: Database,
    keys: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    policy: LifecyclePolicy,
    decay: DecayPolicy,
    outbox_notifier: Arc<OutboxNotifier>,
    /// Batches that this process committed.
    commits: Arc<AtomicU64>,
    /// The newest generation of the key store that the binding is known to have.
    noted: Arc<AtomicU64>,
    /// Batches whose end, or whose beginning, this process could not be sure to have written.
    unended: Arc<Mutex<Vec<Uuid>>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("db", &self.db).finish_non_exhaustive()
    }
}

impl Store {
    pub fn new(db: Database, keys: Arc<dyn KeyStore>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let (policy, decay) = (LifecyclePolicy::default(), DecayPolicy::default());
        Self {
            db,
            keys,
            clock,
            entropy,
            policy,
            decay,
            outbox_notifier: Arc::default(),
            commits: Arc::default(),
            noted: Arc::default(),
            unended: Arc::default(),
        }
    }

    /// Sets the intervals of the configured policies (`jobs::policy::Policies::lifecycle`), so that projection at
    /// writing and the jobs agree.
    #[must_use]
    pub fn with_policy(self, policy: LifecyclePolicy) -> Self {
        Self { policy, ..self }
    }

    /// With the rates of the configured policy (`jobs/decay.toml`).
    #[must_use]
    pub fn with_decay(self, decay: DecayPolicy) -> Self {
        Self { decay, ..self }
    }

    pub fn db(&self) -> &Database {
        &self.db
    }

    pub fn keys(&self) -> &Arc<dyn KeyStore> {
        &self.keys
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub fn entropy(&self) -> &Arc<dyn Entropy> {
        &self.entropy
    }

    /// Notifies when there is something new in the outbox.
    pub fn outbox_notifier(&self) -> &OutboxNotifier {
        &self.outbox_notifier
    }

    /// Counts a committed batch. The server's planner must know early what its tables hold, and seldom again:
    /// statistics are asked for after the 1st, 8th, 64th … batch of a process, next to the work. The server itself
    /// takes into account how many pages a table has by now; asked at each doubling, statistics took a twentieth of the
    /// first 25,000 documents.
    fn count_commit(&self) {
        let count = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() && count.trailing_zeros().is_multiple_of(3) {
            let db = self.db.clone();
            tokio::spawn(async move {
                if let Err(error) = db.refresh_statistics().await {
                    tracing::debug!(%error, code = "statistics", "the planner statistics of the store were not refreshed");
                }
            });
        }
    }

    pub fn policy(&self) -> &LifecyclePolicy {
        &self.policy
    }

    pub fn decay(&self) -> &DecayPolicy {
        &self.decay
    }

    pub async fn close(&self) {
        self.db.close().await;
    }
}

/// Every statement of the folder `sql`. The engine prepares them in a test, in place of compile-time checking.
pub fn statements() -> Vec<NamedStatement> {
    statements::all()
}
