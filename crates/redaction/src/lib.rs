#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Redaction: personal data out, clinical meaning kept, closed on failure (model.md "Decisions" 4; seed 003 "DLP
//! Integration"). [`Redacted`] is the only text that later stages accept, and only this module can build it.

mod apply;
mod custom;
pub mod deadline;
mod document;
mod entities;
mod error;
mod finding;
mod fixpoint;
mod form_fields;
mod identifiers;
mod identities;
mod incremental;
pub mod label;
mod normalized;
mod operator;
mod passes;
mod pattern;
mod policy;
mod redacted;
mod redactor;
pub mod remote;
mod replace;
mod residual;
mod spoken_values;
mod surrogate;
mod synthetic;
mod tagger;
#[cfg(test)]
mod test_support;
mod token;
mod tokenization;
mod value_normalization;
mod word_tables;

pub use custom::{CustomError, CustomRecognisers};
pub use error::RedactionError;
pub use identities::{KnownIdentity, KnownPeople};
pub use policy::{RedactionPolicy, RedactionPolicyError};
// The only text that later stages accept. Its fields are private, so no other crate can build one.
pub use redacted::{Redacted, Redaction};
pub use redactor::{Redactor, Stage, warm};
pub use surrogate::SurrogateKey;
pub use tokenization::TokenKey;

/// The inputs of training the learned recogniser (`tools/train`). No promise of stability: use [`Redactor`].
#[doc(hidden)]
// Separate from the public interface, so that training does not bind what others may rely on.
pub mod internals {
    pub use crate::entities::{gazetteer, is_country, lexicon, word_classes};
    pub mod document {
        pub use crate::document::*;
    }
    pub mod finding {
        pub use crate::finding::*;
    }
    pub mod tagger {
        pub use crate::tagger::*;
    }
}
