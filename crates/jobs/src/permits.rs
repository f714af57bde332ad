//! Consent binds the jobs as it binds messages. For a patient who denies memory nothing new is derived, no question is
//! asked and nothing is sent to a model. Expiry, terms and erasure continue.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::driver::{JobDependencies, JobError};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_crypto::KeyStore;
use anamnesis_sql::Transaction;
use anamnesis_store::consents::{self, MemoryUse};

/// The consents at the instant at which a job runs.
pub(crate) struct Permits {
    keys: Arc<dyn KeyStore>,
    now: DateTime<Utc>,
}

impl Permits {
    pub(crate) fn from_dependencies(JobDependencies { keys, now, .. }: &JobDependencies<'_>) -> Self {
        Self::new(Arc::clone(keys), *now)
    }

    pub(crate) fn new(keys: Arc<dyn KeyStore>, now: DateTime<Utc>) -> Self {
        Self { keys, now }
    }

    /// Those of these patients of whom memory may be used so.
    ///
    /// # Errors
    /// Of the database or the key store.
    pub(crate) async fn permitting(
        &self,
        tx: &mut Transaction,
        org: OrgId,
        of: MemoryUse,
        patients: impl Iterator<Item = PatientId> + Send,
    ) -> Result<BTreeSet<PatientId>, JobError> {
        let patients: BTreeSet<PatientId> = patients.collect();
        Ok(consents::permitting(tx, org, (self.keys.as_ref(), self.now), of, patients).await?)
    }
}
