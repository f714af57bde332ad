//! The store on each engine: the constraints that the database itself must enforce.

mod analytics;
mod attempts;
mod checkpoints;
mod consents;
mod derived_withdrawal;
mod durability;
mod embedded;
mod erased_many;
mod erased_parts;
mod fixture;
mod isolation;
mod job_runs;
mod live_migrations;
mod llm_summaries;
mod manual_memories;
mod migration_pairs;
mod migrations;
mod nearest;
mod network_faults;
mod order;
mod pending_embeddings;
pub(crate) mod pooler;
mod preferences;
mod provenance;
mod reconciliation;
mod reembedding;
mod reembedding_resume;
mod retention;
mod retention_terms;
mod schema;
mod summaries;
mod tenancy;
mod topics;
mod verified_hypotheses;

/// How much of a proof is run: `short` with every change, `long` by `make proofs`.
fn amount(short: usize, long: usize) -> usize {
    if std::env::var_os("ANAMNESIS_TEST_LONG").is_some() { long } else { short }
}
