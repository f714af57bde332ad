//! What a night forms, as a finding of the log like any other, so that states, history and lineage are the fold's. It is
//! inferred, never trusted more than the worst of what it was formed from, and a hypothesis until a person verifies it.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::domain::confidence::{Creation, initial};
use crate::domain::document::DocumentType;
use crate::domain::finding::{EntityType, Experiencer, Polarity, Temporality};
use crate::domain::fold::{Assertion, Details, KeyHash};
use crate::domain::ids::FindingId;
use crate::domain::memory::{Class, Kind, SetBy};
use crate::domain::provenance::{SourceType, Teller, Trust, TrustBasis, trust_of};
use crate::domain::scope::Scope;
use crate::store::records::{Evidence, FindingWords, NewFinding};
use crate::text::Span;

/// One thing formed.
pub struct Formed<'a> {
    pub scope: Scope,
    pub id: FindingId,
    /// The document that tells it, or an id that stands for the reason.
    pub source: Uuid,
    /// The whole text that tells it, where one does: a copy of it tells nothing more.
    pub text: Option<KeyHash>,
    pub attribute: KeyHash,
    pub kind: Kind,
    /// Of the document that tells it, where it has one of its own.
    pub document_type: Option<DocumentType>,
    pub parents: &'a [Trust],
    /// Effective confidence of the weakest of what it was formed from.
    pub weakest: f64,
    pub extraction_confidence: f64,
    /// The first and the last of what it was formed from.
    pub span: (DateTime<Utc>, DateTime<Utc>),
    pub recorded_at: DateTime<Utc>,
    pub words: FindingWords,
    /// `None` where the quote is gone (`retention`).
    pub evidence: Option<Evidence>,
    pub author: &'static str,
}

impl Formed<'_> {
    /// `None` when a confidence is out of bounds: nothing is formed of that.
    pub fn finding(self) -> Option<NewFinding> {
        let creation = Creation { formed_from: Some(self.weakest), ..Creation::default() };
        let first = initial(&creation).ok()?;
        let basis = TrustBasis {
            parents: self.parents,
            document_type: self.document_type,
            ..TrustBasis::stated(SourceType::Consolidation, Teller::Agent)
        };
        let assertion = Assertion {
            id: self.id,
            source: self.source,
            text: self.text,
            live: true,
            attribute: self.attribute,
            entity: EntityType::Preference,
            kind: self.kind,
            class: Class::Pattern,
            polarity: Polarity::Affirmed,
            experiencer: Experiencer::Patient,
            details: Details::default(), // read back from the words when folded
            ending: false,
            past: false,
            blanket: false,
            set_by: SetBy::Agent,
            document_type: self.document_type,
            source_type: SourceType::Consolidation,
            epistemic: SourceType::Consolidation.epistemic(),
            trust: trust_of(&basis),
            is_proxy: false,
            extraction_confidence: self.extraction_confidence,
            initial_confidence: first.confidence,
            basis: first.basis,
            asserted_at: self.span.1,
            valid_from: self.span.0,
            expires_at: None,
            ends_at: None,
            recorded_at: self.recorded_at,
            tombstone: None,
        };
        // An inference shows that it had evidence, though the quote is gone.
        let gone = || Evidence { quote: String::new(), span: Span::new(0, 0) };
        Some(NewFinding {
            scope: self.scope,
            group: self.attribute,
            assertion,
            revision: 1,
            uncertain: false,
            temporality: Temporality::Recent,
            words: self.words,
            evidence: Some(self.evidence.unwrap_or_else(gone)),
            extractor_version: self.author.to_owned(),
        })
    }
}
