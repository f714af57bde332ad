//! Reading: rows of one patient at an instant, opened with the patient's keys. Every read takes a [`Scope`] and has
//! three answers: known, unknown, erased; a missing key is an error.

mod clinical;
mod documents;
mod forgotten;
mod lineage;
mod memories;
mod passages;
mod patients;
mod receipts;
mod topics;

use crate::MemoryReader;
use std::sync::Arc;

use chrono::{DateTime, Utc};

pub use clinical::ClinicalRow;
pub use documents::{DocumentFilter, StoredDocument, TimeWindow};
pub use lineage::{LineageDirection, LineageEdge};
pub use memories::{Memory, MemoryFilter};
pub use passages::PassageCandidate;
pub use patients::{PatientProfile, PreferenceRow, RiskFlag};

use super::{Store, StoreError};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyLookup, PatientKeys};
use anamnesis_sql::{Access, Arg, Row, Sql, Transaction};

/// The instant at which the store is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReadInstant {
    /// The clock's now.
    #[default]
    Now,
    /// An instant of the past: later statements are not seen, later ends are ignored. Forgotten and erased rows stay
    /// hidden, because that is a person's will and not a matter of time.
    AsOf(DateTime<Utc>),
}

impl ReadInstant {
    /// The latest time of a statement; `None` for now.
    pub fn limit(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Now => None,
            Self::AsOf(at) => Some(at),
        }
    }
}

/// A consistent view of a patient's rows, so that consecutive reads belong together.
pub struct PatientSnapshot<'a> {
    store: &'a Store,
    scope: Scope,
    tx: Transaction,
}

impl<'a> MemoryReader<'a> {
    /// Begins to read. Holds a connection until it is dropped.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn snapshot(self, scope: Scope) -> Result<PatientSnapshot<'a>, StoreError> {
        Ok(PatientSnapshot { store: self.store(), scope, tx: self.reading(scope).await? })
    }

    /// The instant that `when` means.
    pub fn instant(self, when: ReadInstant) -> DateTime<Utc> {
        when.limit().unwrap_or_else(|| self.clock.now())
    }

    /// The patient's keys; `None` when nothing is known of the patient.
    ///
    /// # Errors
    /// [`StoreError::Erased`]; [`StoreError::Key`] when the key store cannot be asked, or lacks the key of a patient whom
    /// the store knows.
    pub async fn keys_of(self, scope: Scope) -> Result<Option<Arc<PatientKeys>>, StoreError> {
        match self.key_binding().lookup(scope).await? {
            KeyLookup::Known(keys) => Ok(Some(keys)),
            KeyLookup::Unknown => Ok(None),
            KeyLookup::Erased => Err(StoreError::Erased),
        }
    }

    async fn reading(self, scope: Scope) -> Result<Transaction, StoreError> {
        Ok(self.db.read(Access::Organization(scope.org())).await?)
    }

    /// Runs one statement whose first two arguments are the scope.
    pub(super) async fn rows(self, sql: &Sql, scope: Scope, rest: Vec<Arg>) -> Result<Vec<Row>, StoreError> {
        let mut args = vec![Arg::from(scope.org().0), scope.patient().0.into()];
        args.extend(rest);
        Ok(self.reading(scope).await?.fetch_all(sql, args).await?)
    }
}

/// A closed set's variant from its code in a column.
fn code<T>(row: &Row, at: usize, read: fn(&str) -> Option<T>) -> Result<T, StoreError> {
    read(&row.text(at)?).ok_or(StoreError::Shape)
}

/// As [`code`], of a column that may be empty.
fn opt_code<T>(row: &Row, at: usize, read: fn(&str) -> Option<T>) -> Result<Option<T>, StoreError> {
    row.opt_text(at)?.map(|text| read(&text).ok_or(StoreError::Shape)).transpose()
}

fn number(row: &Row, at: usize) -> Result<u32, StoreError> {
    u32::try_from(row.i64(at)?).map_err(|_| StoreError::Shape)
}
