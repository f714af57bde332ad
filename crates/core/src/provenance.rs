//! Where a memory comes from and how far it is trusted (seed 001, section 3; seed 000, principle 1; model.md,
//! "Provenance"). Entity-neutral: provenance says who, never what kind of being. Reading a free-text source is
//! `source`.

use super::coded_enum::codes;
use super::finding::Epistemic;
use super::memory::DocumentType;

codes!(
    /// How a memory came to be (seed 001, section 3).
    SourceType {
        DirectExperience = "direct_experience",
        /// Reasoned over other memories.
        Inference = "inference",
        /// Emerged while reviewing memories.
        Consolidation = "consolidation",
        /// Received from another being.
        External = "external",
        /// Loaded at the start.
        Seed = "seed",
        /// Observed from outside: a device, a page, a document.
        Observation = "observation",
        /// Legacy: no source was recorded. Never read as explicit.
        Unknown = "unknown",
    }
);

impl SourceType {
    /// Seed 000's strata over seed 001's source types (model.md, "Provenance").
    pub fn epistemic(self) -> Epistemic {
        match self {
            Self::DirectExperience | Self::External => Epistemic::Explicit,
            Self::Observation | Self::Seed => Epistemic::Observed,
            Self::Inference | Self::Consolidation => Epistemic::Inferred,
            Self::Unknown => Epistemic::Unknown,
        }
    }
}

codes!(
    /// How far a memory is trusted; a greater value is worse. Fixed at creation, never recalculated.
    Trust {
        /// Explicit by the patient or a clinician.
        T1 = "T1",
        /// Observed by a registered device or system.
        T2 = "T2",
        /// Explicit by another entity; pages, documents, seeds and proxies at best.
        T3 = "T3",
        /// Inferred.
        T4 = "T4",
        /// Unknown.
        T5 = "T5",
    }
);

impl Trust {
    /// Weight in the ranking of a search.
    pub fn rank_weight(self) -> f64 {
        match self {
            Self::T1 => 1.0,
            Self::T2 => 0.9,
            Self::T3 => 0.8,
            Self::T4 => 0.6,
            Self::T5 => 0.5,
        }
    }

    /// The worst of several; `None` of none.
    pub fn worst(of: impl IntoIterator<Item = Trust>) -> Option<Trust> {
        of.into_iter().max()
    }
}

codes!(
    /// The role of the speaker among the document's participants.
    Teller {
        Patient = "patient",
        Clinician = "clinician",
        Family = "family",
        /// A model or another agent.
        Agent = "agent",
        /// A device or system that the organisation registered.
        Device = "device",
        /// The speaker is not known.
        Unknown = "unknown",
    }
);

impl Teller {
    /// The speaker of a document without turns. A transcript without speakers has no known speaker: part of it is the
    /// clinician's questions, part may be a relative's.
    pub fn from_document(document: DocumentType) -> Self {
        match document {
            DocumentType::IntakeForm | DocumentType::ChatMessage => Self::Patient,
            DocumentType::ClinicalNote => Self::Clinician,
            DocumentType::Analysis => Self::Agent,
            DocumentType::SessionTranscript | DocumentType::UploadedDocument => Self::Unknown,
        }
    }
}

/// All that trust depends on.
#[derive(Debug, Clone, Copy)]
pub struct TrustBasis<'a> {
    pub source_type: SourceType,
    pub teller: Teller,
    pub is_proxy: bool,
    /// The document that carries it, where one does.
    pub document_type: Option<DocumentType>,
    /// A clinician signed the document.
    pub signed: bool,
    /// Trust of the parents, as fixed when those were made. Edges of supersession and of a person's verification carry
    /// no trust and are left out by the caller.
    pub parents: &'a [Trust],
}

impl TrustBasis<'_> {
    /// Stated by the patient first-hand, without parents: the starting point to change fields of.
    pub fn stated(source_type: SourceType, teller: Teller) -> Self {
        Self { source_type, teller, is_proxy: false, document_type: None, signed: false, parents: &[] }
    }
}

/// Trust at creation: that of the source itself, never better than the worst parent, so that nothing is laundered
/// through a summary (model.md, "Provenance").
pub fn trust_of(basis: &TrustBasis<'_>) -> Trust {
    let own = match basis.source_type {
        SourceType::DirectExperience => match basis.teller {
            Teller::Patient | Teller::Clinician => Trust::T1,
            Teller::Device => Trust::T2,
            Teller::Family | Teller::Unknown => Trust::T3,
            Teller::Agent => Trust::T4,
        },
        SourceType::Observation if basis.teller == Teller::Device => Trust::T2,
        SourceType::Observation | SourceType::External | SourceType::Seed => Trust::T3,
        SourceType::Inference | SourceType::Consolidation => Trust::T4,
        SourceType::Unknown => Trust::T5,
    };
    let proxy = if basis.is_proxy { Trust::T3 } else { Trust::T1 };
    let unsigned_analysis = basis.document_type == Some(DocumentType::Analysis) && !basis.signed;
    let document = if unsigned_analysis { Trust::T4 } else { Trust::T1 };
    basis.parents.iter().copied().fold(own.max(proxy).max(document), Trust::max)
}

/// Trust of a replacement. A person's own first-hand statement needs no support: the edge of supersession carries no
/// trust. Whatever else replaces a memory is no better known than what it replaces.
pub fn replacing(own: Trust, replaced: Option<Trust>) -> Trust {
    replaced.filter(|_| own > Trust::T1).map_or(own, |replaced| own.max(replaced))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn trust(source_type: SourceType, teller: Teller) -> Trust {
        trust_of(&TrustBasis::stated(source_type, teller))
    }

    #[test]
    fn the_patient_and_the_clinician_speak_first_hand_and_others_do_not() {
        assert_eq!(trust(SourceType::DirectExperience, Teller::Patient), Trust::T1);
        assert_eq!(trust(SourceType::DirectExperience, Teller::Clinician), Trust::T1);
        assert_eq!(trust(SourceType::DirectExperience, Teller::Family), Trust::T3);
        assert_eq!(trust(SourceType::DirectExperience, Teller::Unknown), Trust::T3);
        assert_eq!(trust(SourceType::External, Teller::Patient), Trust::T3);
    }

    #[test]
    fn only_a_registered_device_is_observed_at_second_rank() {
        assert_eq!(trust(SourceType::Observation, Teller::Device), Trust::T2);
        assert_eq!(trust(SourceType::Observation, Teller::Unknown), Trust::T3);
        assert_eq!(trust(SourceType::Seed, Teller::Device), Trust::T3);
    }

    #[test]
    fn a_proxy_is_at_best_third_rank_whatever_its_confidence() {
        let proxy = TrustBasis { is_proxy: true, ..TrustBasis::stated(SourceType::DirectExperience, Teller::Patient) };
        assert_eq!(trust_of(&proxy), Trust::T3);
        let inferring = TrustBasis { source_type: SourceType::Inference, ..proxy };
        assert_eq!(trust_of(&inferring), Trust::T4);
    }

    #[test]
    fn an_analysis_is_inferred_unless_a_clinician_signed_it() {
        let unsigned = TrustBasis {
            document_type: Some(DocumentType::Analysis),
            ..TrustBasis::stated(SourceType::DirectExperience, Teller::Clinician)
        };
        assert_eq!(trust_of(&unsigned), Trust::T4);
        assert_eq!(trust_of(&TrustBasis { signed: true, ..unsigned }), Trust::T1);
    }

    #[test]
    fn what_has_no_recorded_source_is_unknown_and_never_explicit() {
        assert_eq!(SourceType::Unknown.epistemic(), Epistemic::Unknown);
        assert_eq!(trust(SourceType::Unknown, Teller::Patient), Trust::T5);
    }

    #[test]
    fn a_better_rank_weighs_more() {
        let weights: Vec<_> = Trust::ALL.iter().map(|t| t.rank_weight()).collect();
        assert_eq!(weights, [1.0, 0.9, 0.8, 0.6, 0.5]);
    }

    proptest! {
        #[test]
        fn no_derivation_is_trusted_more_than_any_of_its_parents(
            source in proptest::sample::select(SourceType::ALL),
            teller in proptest::sample::select(Teller::ALL),
            parents in proptest::collection::vec(proptest::sample::select(Trust::ALL), 0..6),
        ) {
            let basis = TrustBasis { parents: &parents, ..TrustBasis::stated(source, teller) };
            let trust = trust_of(&basis);
            prop_assert!(parents.iter().all(|parent| trust >= *parent));
            let orphan = TrustBasis { parents: &[], ..basis };
            prop_assert!(trust >= trust_of(&orphan));
        }
    }
}
