//! The scope of every read and write: one organisation, one patient.

use uuid::Uuid;

use super::ids::{OrgId, PatientId};

/// A missing or nil id is an error, never a wildcard (model.md, "Keys and scope").
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    #[error("the organisation id is nil")]
    NilOrganization,
    #[error("the patient id is nil")]
    NilPatient,
}

/// One patient of one organisation. The only way to name rows of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    org: OrgId,
    patient: PatientId,
}

impl Scope {
    /// # Errors
    /// When either id is nil.
    pub fn new(org: OrgId, patient: PatientId) -> Result<Self, ScopeError> {
        if org.0 == Uuid::nil() {
            return Err(ScopeError::NilOrganization);
        }
        if patient.0 == Uuid::nil() {
            return Err(ScopeError::NilPatient);
        }
        Ok(Self { org, patient })
    }

    pub fn org(&self) -> OrgId {
        self.org
    }

    pub fn patient(&self) -> PatientId {
        self.patient
    }
}
