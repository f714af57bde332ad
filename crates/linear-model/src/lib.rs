//! What the linear models of redaction and of risk share: hashed features, weight files and the random numbers of
//! training.

pub mod hash;
pub mod random;
pub mod weights;
