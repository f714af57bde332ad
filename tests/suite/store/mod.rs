//! The store on each engine: what the database itself must hold and refuse.

mod embedded;
mod isolation;
mod nights;
mod order;
mod pair;
mod schema;
mod tenancy;
mod weather;

/// How much of a proof is run: `short` with every change, `long` by `make proofs`.
fn amount(short: usize, long: usize) -> usize {
    if std::env::var_os("ANAMNESIS_TEST_LONG").is_some() { long } else { short }
}
