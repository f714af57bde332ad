//! The one integration binary: one `mod` line per file.

mod architecture;
mod generated_docs;
