//! Makes the linear models of the program again, and measures what redaction does to meaning. Nothing of it is in the
//! program that is shipped.

pub mod meaning;
pub mod redaction;
pub mod risk;
