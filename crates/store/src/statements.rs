//! The statements of the store: those of the folder `sql`, which is their registry.

use anamnesis_sql::Sql;

include!(concat!(env!("OUT_DIR"), "/statements.rs"));

/// A statement of the folder.
#[derive(Debug, Clone, Copy)]
pub struct NamedStatement {
    /// File and name, such as `read/memories/of_documents`.
    pub name: &'static str,
    pub sql: &'static Sql,
    /// The columns of its answer, in their order.
    pub columns: &'static [&'static str],
}
