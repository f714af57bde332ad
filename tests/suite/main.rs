//! The one integration binary: one `mod` line per file.
