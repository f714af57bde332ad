//! A derived finding of a run, in the log like any other, so that states, history and lineage come from the projection.
//! It is inferred, never trusted more than the worst of its sources, and a hypothesis until a person verifies it.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use anamnesis_core::confidence::{CreationFacts, initial};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Experiencer, Polarity, Temporality};
use anamnesis_core::ids::FindingId;
use anamnesis_core::memory::{Class, Kind, SetBy};
use anamnesis_core::projection::{Assertion, Details, KeyHash};
use anamnesis_core::provenance::{SourceType, Teller, Trust, TrustBasis, trust_of};
use anamnesis_core::scope::Scope;
use anamnesis_store::records::{Evidence, FindingWords, NewFinding};
use anamnesis_text::Span;

/// One thing formed.
pub(crate) struct DerivedFinding<'a> {
    pub(crate) scope: Scope,
    pub(crate) id: FindingId,
    /// The document that states it, or an id for its reason.
    pub(crate) source: Uuid,
    /// The whole text that states it, if there is one, because a copy of a text is no new evidence.
    pub(crate) text: Option<KeyHash>,
    pub(crate) attribute: KeyHash,
    pub(crate) kind: Kind,
    /// The type of the document that states it, if it has a document.
    pub(crate) document_type: Option<DocumentType>,
    pub(crate) parents: &'a [Trust],
    /// Effective confidence of its weakest source.
    pub(crate) weakest: f64,
    pub(crate) extraction_confidence: f64,
    /// The first and the last of its sources.
    pub(crate) span: (DateTime<Utc>, DateTime<Utc>),
    pub(crate) recorded_at: DateTime<Utc>,
    pub(crate) words: FindingWords,
    /// `None` if the quote was removed (`retention`).
    pub(crate) evidence: Option<Evidence>,
    pub(crate) author: &'static str,
}

impl DerivedFinding<'_> {
    /// `None` when a confidence is out of bounds: nothing is formed of that.
    pub(crate) fn finding(self) -> Option<NewFinding> {
        let creation = CreationFacts { formed_from: Some(self.weakest), ..CreationFacts::default() };
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
            never: false,
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
        // An inference shows that it had evidence, even if the quote was removed.
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
