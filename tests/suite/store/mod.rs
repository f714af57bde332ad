//! The store on each engine: what the database itself must hold and refuse.

mod analytics;
mod attempts;
mod consents;
mod durability;
mod embedded;
mod erased_many;
mod erased_parts;
mod isolation;
mod made;
mod migrating;
mod migrations;
mod nearest;
mod nights;
mod order;
mod pair;
pub(crate) mod pooler;
mod preferences;
mod provenance;
mod reconciliation;
mod reembedding;
mod reembedding_left;
mod resuming;
mod retention;
mod schema;
mod summaries;
mod tenancy;
mod terms;
mod topics;
mod vouched;
mod waiting;
mod ward;
mod weather;
mod withdrawn;
mod worded;

/// How much of a proof is run: `short` with every change, `long` by `make proofs`.
fn amount(short: usize, long: usize) -> usize {
    if std::env::var_os("ANAMNESIS_TEST_LONG").is_some() { long } else { short }
}
