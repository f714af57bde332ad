//! Nightly work. A one-minute tick asks the planner what is due, the ledger decides who runs it, the driver runs it in
//! small transactions. A job takes no input but its date and its policy; running it twice changes nothing.

pub mod consolidation;
pub mod decay;
pub mod driver;
pub mod expiry;
pub mod ledger;
pub mod night;
pub mod observe;
pub mod planner;
pub mod policy;
pub mod purge;
pub mod reconfirmation;
pub mod registry;
pub mod schedule;
pub mod status;
pub mod tick;
pub mod upkeep;

pub use registry::JobName;
