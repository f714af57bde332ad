//! Whom a message names, as it names them.

use chrono::NaiveDate;

/// What a message says about the people in it. Serves redaction only and is never stored (contract.md).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KnownIdentity {
    pub names: Vec<String>,
    pub phones: Vec<String>,
    pub emails: Vec<String>,
    pub ids: Vec<String>,
    pub addresses: Vec<String>,
    pub birth_date: Option<NaiveDate>,
}
