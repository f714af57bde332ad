//! A person whom a message names, in the words of the message.

use chrono::NaiveDate;

/// A message's description of its people. Serves redaction only and is never stored (contract.md).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KnownIdentity {
    pub names: Vec<String>,
    pub phones: Vec<String>,
    pub emails: Vec<String>,
    pub ids: Vec<String>,
    pub addresses: Vec<String>,
    pub birth_date: Option<NaiveDate>,
}
