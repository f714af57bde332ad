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
mod fakes;
mod fast;
mod finding;
mod further;
mod identifiers;
mod identities;
#[cfg(test)]
mod in_tests;
pub mod label;
mod operator;
mod policy;
mod redactor;
pub mod remote;
mod reversible;
mod rounds;
mod speech;
mod surrogate;
mod sweep;
mod tagger;
mod token;
mod view;

use anamnesis_core::side_value::{PlacedValue, Precision, SideValue};
use chrono::NaiveDate;

use anamnesis_text::{Document, Span};

pub use custom::{Custom, CustomError};
pub use identities::People;
pub use operator::Operator;
pub use policy::{Policy, PolicyError, RECOGNISERS};
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

/// What a message says about the people in it. Serves redaction only and is never stored (contract.md).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KnownIdentity {
    pub names: Vec<String>,
    pub phones: Vec<String>,
    pub emails: Vec<String>,
    pub ids: Vec<String>,
    pub addresses: Vec<String>,
    pub birth_date: Option<NaiveDate>,
}

/// One stretch that was replaced. Holds no value: offsets, type, recogniser, score, replacement, keyed fingerprint.
#[derive(Debug, Clone, PartialEq)]
pub struct Redaction {
    /// Where it stood in the source.
    pub source: Span,
    /// Where its replacement stands in the redacted text.
    pub redacted: Span,
    /// Label of contract.md (PERSON, ES_DNI …).
    pub label: &'static str,
    /// The recogniser that found it.
    pub recognizer: &'static str,
    /// 0.0–1.0.
    pub score: f64,
    /// What stands in the redacted text now.
    pub replacement: String,
    /// HMAC of the normalised value under the patient's key (first 8 bytes): equal values are recognisable, no value is.
    pub fingerprint: u64,
}

/// A text from which personal data has been taken. Fields are private: only a redactor builds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Redacted {
    document: Document,
    redactions: Vec<Redaction>,
    values: Vec<PlacedValue>,
    policy: String,
}

impl Redacted {
    /// The redacted text with its turns.
    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn redactions(&self) -> &[Redaction] {
        &self.redactions
    }

    pub fn values(&self) -> &[PlacedValue] {
        &self.values
    }

    /// Where a place of the source that lies outside of every replacement stands in the redacted text.
    pub fn place_of(&self, source: usize) -> usize {
        rounds::moved(source, &self.redactions, |one| (one.source, one.redacted))
    }

    /// Where a border of the source stands in the redacted text: behind the replacement of what it cuts in two.
    pub fn border_of(&self, source: usize) -> usize {
        let cut = self.redactions.iter().find(|one| one.source.start < source && source < one.source.end);
        cut.map_or_else(|| self.place_of(source), |one| one.redacted.end)
    }

    /// Where a stretch of the source stands in the redacted text; one that was replaced is where its replacement is.
    pub fn span_of(&self, source: Span) -> Span {
        let replaced = self.redactions.iter().filter(|one| one.source.overlaps(&source)).map(|one| one.redacted);
        let whole = replaced.reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)));
        whole.unwrap_or_else(|| Span::new(self.border_of(source.start), self.border_of(source.end)))
    }

    /// Policy and recogniser version, stored with the document.
    pub fn policy(&self) -> &str {
        &self.policy
    }
}

/// Why nothing may be stored. Carries no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedactionError {
    #[error("the redaction policy is not known")]
    UnknownPolicy,
    #[error("the policy seals tokens and there is no key for them")]
    NoTokenKey,
    #[error("a recogniser failed")]
    Failed,
    #[error("an additional redaction service gives no usable answer now")]
    ServiceAway(remote::RemoteError),
    #[error("an additional redaction service refuses this text")]
    Service(remote::RemoteError),
    #[error("redaction took longer than its limit")]
    Timeout,
    #[error("the text has a place that does not belong to it")]
    Offsets,
}
