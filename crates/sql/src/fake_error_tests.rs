//! An error of a database, as sqlx hands it over, for the tests of both engines.

use std::borrow::Cow;

/// An engine's error for a rejected statement. `message` may quote a row.
#[derive(Debug, Default)]
pub(crate) struct FakeDatabaseError {
    pub(crate) code: Option<&'static str>,
    pub(crate) message: &'static str,
    pub(crate) table: Option<&'static str>,
    pub(crate) constraint: Option<&'static str>,
}

impl std::fmt::Display for FakeDatabaseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for FakeDatabaseError {}

impl sqlx::error::DatabaseError for FakeDatabaseError {
    fn message(&self) -> &str {
        self.message
    }
    fn code(&self) -> Option<Cow<'_, str>> {
        self.code.map(Cow::Borrowed)
    }
    fn table(&self) -> Option<&str> {
        self.table
    }
    fn constraint(&self) -> Option<&str> {
        self.constraint
    }
    fn kind(&self) -> sqlx::error::ErrorKind {
        sqlx::error::ErrorKind::Other
    }
    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }
    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }
    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }
}
