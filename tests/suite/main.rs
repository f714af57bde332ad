//! The one integration binary: one `mod` line per file.

mod architecture;
mod contract;
mod generated_docs;
