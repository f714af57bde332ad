//! The origin of a document's statements: their speaker, the source of the knowledge, and so their trust (model.md,
//! "Provenance"). All ways by which words become memories use it.

use anamnesis_core::confidence::{CreationFacts, InitialConfidence, initial};
use anamnesis_core::document::DocumentType;
use anamnesis_core::memory::{Class, SetBy};
use anamnesis_core::projection::speaks_for_themselves;
use anamnesis_core::provenance::{SourceType, Teller, Trust, TrustBasis, replacing, trust_of};
use anamnesis_core::source;
use anamnesis_messages::contract::DocumentSubmitted;
use anamnesis_text::{Speaker, Turn};

/// The common origin of all statements of a document.
pub(crate) struct StatementOrigin<'a> {
    document: &'a DocumentSubmitted,
    /// As its producer says, in a code or in words.
    stated: Option<SourceType>,
    /// The speaker, if it was another entity.
    pub(crate) entity: Option<String>,
    /// Trust of the sources of the words.
    parents: Vec<Trust>,
    /// Trust of the memory that they replace.
    replaced: Option<Trust>,
}

impl<'a> StatementOrigin<'a> {
    pub(crate) fn from_document(document: &'a DocumentSubmitted, parents: Vec<Trust>, replaced: Option<Trust>) -> Self {
        let provenance = document.provenance.as_ref();
        let reading = provenance.and_then(|p| p.source.as_ref()).map(|text| source::read(text));
        let stated = provenance.and_then(|p| p.source_type).or_else(|| reading.as_ref().map(|r| r.source_type));
        Self { document, stated, entity: reading.and_then(|r| r.entity), parents, replaced }
    }

    /// A clinician signs a model's output.
    fn is_signed(&self) -> bool {
        self.document.signed_by().is_some()
    }

    /// Written by a model, and signed by no one.
    pub(crate) fn is_model_output(&self) -> bool {
        self.document.document_type == DocumentType::Analysis && !self.is_signed()
    }

    /// Whether statements that are read in it are no more than inferences: a model's, or words made from such.
    pub(crate) fn infers(&self) -> bool {
        self.is_model_output() || self.parents.iter().any(|parent| *parent >= Trust::T4)
    }

    pub(crate) fn teller(&self, speaker: Option<Speaker>) -> Teller {
        match speaker {
            _ if self.is_signed() => Teller::Clinician,
            Some(Speaker::Patient) => Teller::Patient,
            Some(Speaker::Clinician) => Teller::Clinician,
            Some(Speaker::Family) => Teller::Family,
            Some(Speaker::Agent) => Teller::Agent,
            Some(Speaker::Unknown) => Teller::Unknown,
            None => Teller::from_document(self.document.document_type),
        }
    }

    pub(crate) fn source_type(&self, teller: Teller, interpreted: bool) -> SourceType {
        if interpreted || self.is_model_output() {
            return SourceType::Inference;
        }
        if let Some(stated) = self.stated {
            return stated;
        }
        match teller {
            Teller::Patient | Teller::Clinician => SourceType::DirectExperience,
            Teller::Family => SourceType::External,
            Teller::Agent => SourceType::Inference,
            Teller::Device | Teller::Unknown => SourceType::Observation,
        }
    }

    pub(crate) fn is_proxy(&self) -> bool {
        self.document.provenance.as_ref().and_then(|p| p.is_proxy).unwrap_or(false)
    }

    /// The person who spoke for the patient, if a proxy did and is named.
    pub(crate) fn proxy_agent(&self) -> Option<&str> {
        let named = || self.document.provenance.as_ref()?.proxy_agent.as_deref();
        self.is_proxy().then(named).flatten().filter(|who| !who.trim().is_empty())
    }

    pub(crate) fn trust(&self, source_type: SourceType, teller: Teller) -> Trust {
        let own = trust_of(&TrustBasis {
            source_type,
            teller,
            is_proxy: self.is_proxy(),
            document_type: Some(self.document.document_type),
            signed: self.is_signed(),
            parents: &self.parents,
        });
        replacing(own, self.replaced)
    }

    /// Trust of the capture as a whole: that of its least trusted speaker.
    pub(crate) fn capture(&self, turns: &[Turn]) -> Trust {
        let of = |speaker| {
            let teller = self.teller(speaker);
            self.trust(self.source_type(teller, false), teller)
        };
        Trust::worst(turns.iter().map(|turn| of(Some(turn.speaker)))).unwrap_or_else(|| of(None))
    }

    /// The speakers of a capture: those of its turns, or that of the document as a whole.
    pub(crate) fn tellers(&self, turns: &[Turn]) -> Vec<SetBy> {
        let of = |speaker| self.set_by(self.teller(speaker));
        match turns {
            [] => vec![of(None)],
            turns => turns.iter().map(|turn| of(Some(turn.speaker))).collect(),
        }
    }

    pub(crate) fn set_by(&self, teller: Teller) -> SetBy {
        match teller {
            _ if self.is_model_output() => SetBy::Agent,
            Teller::Patient => SetBy::Patient,
            Teller::Clinician => SetBy::Clinician,
            Teller::Family => SetBy::Family,
            Teller::Agent => SetBy::Agent,
            Teller::Device => SetBy::Device,
            Teller::Unknown => SetBy::Unknown,
        }
    }

    /// A model's findings expire after a day, whatever their subject is.
    pub(crate) fn class(&self, of_finding: Class) -> Class {
        if self.infers() { Class::Inference } else { of_finding }
    }

    /// The first confidence of a statement; `None` where a number is out of range. The patient's state weighs the patient's
    /// own words and no others.
    pub(crate) fn confidence(
        &self,
        source_type: SourceType,
        teller: Teller,
        trust: Trust,
    ) -> Option<InitialConfidence> {
        let provenance = self.document.provenance.as_ref();
        let own = speaks_for_themselves(source_type, self.set_by(teller), Some(self.document.document_type));
        let creation = CreationFacts {
            is_proxy: self.is_proxy(),
            given: provenance.and_then(|p| p.confidence),
            cognitive_state: provenance.and_then(|p| p.cognitive_state).filter(|_| own),
            // A statement without a source has the default value; a derived one never does.
            formed_from: (trust == Trust::T4 || self.infers()).then_some(1.0),
        };
        initial(&creation).ok()
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
