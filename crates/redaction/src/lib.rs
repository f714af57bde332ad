#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Redaction: personal data out, clinical meaning kept, closed on failure (model.md "Decisions" 4; seed 003 "DLP
//! Integration"). [`Redacted`] is the only text that later stages accept, and only this module can build it.

mod apply;
mod context;
mod custom;
pub mod deadline;
mod entities;
mod error;
mod fakes;
mod fast;
mod finding;
mod further;
mod identifiers;
mod identities;
#[cfg(test)]
mod in_tests;
pub mod label;
mod opening;
mod operator;
mod pattern;
mod policy;
mod redacted;
mod redactor;
pub mod remote;
mod replace;
mod reversible;
mod rounds;
mod speech;
mod subject;
mod surrogate;
mod sweep;
mod tagger;
mod token;
mod view;

pub use custom::{Custom, CustomError};
pub use error::RedactionError;
pub use identities::{KnownIdentity, People};
pub use operator::Operator;
pub use policy::{Policy, PolicyError, RECOGNISERS};
pub use redacted::{Redacted, Redaction};
pub use redactor::{Part, Redactor, warm};
pub use reversible::TokenKey;
pub use surrogate::SurrogateKey;

/// What the training of the learned recogniser reads (`tools/train`). No promise of stability: use [`Redactor`].
#[doc(hidden)]
pub mod internals {
    pub use crate::entities::is_country;
    pub use crate::entities::{gazetteer, lexicon, traits};
    pub mod context {
        pub use crate::context::*;
    }
    pub mod finding {
        pub use crate::finding::*;
    }
    pub mod tagger {
        pub use crate::tagger::*;
    }
}
