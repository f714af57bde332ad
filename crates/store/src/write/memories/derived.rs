//! The columns of a memory that the fold decides and nothing seals: written by it, and compared with it by reconciliation.

use super::super::findings::trust_number;
use crate::statements::write::memories::rows::write as memory;
use crate::statements::write::projections::stored_memories;
use anamnesis_core::finding::{EntityType, Polarity};
use anamnesis_core::memory::Class;
use anamnesis_core::projection::{Assertion, ProjectedMemory};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_sql::Arg;

/// The row of a memory with the unsealed columns that the projection decides; the other columns are empty.
pub(super) fn derived(f: &ProjectedMemory, a: &Assertion) -> memory::Row {
    let (class, source_type, trust) = match f.vouched {
        true => (a.class.vouched(a.entity), SourceType::DirectExperience, Trust::T1),
        false => (a.class, a.source_type, a.trust),
    };
    let epistemic = if f.vouched { source_type.epistemic() } else { a.epistemic };
    memory::Row {
        attribute_hash: a.attribute.into(),
        kind: a.kind.code().into(),
        class: class.code().into(),
        entity_type: a.entity.code().into(),
        sensitivity: sensitivity(a.entity, class).into(),
        state: f.state.code().into(),
        contested: f.contested.into(),
        ungrounded: f.ungrounded.into(),
        source_type: source_type.code().into(),
        epistemic: epistemic.code().into(),
        is_proxy: a.is_proxy.into(),
        trust: trust_number(trust).into(),
        set_by: f.set_by.code().into(),
        negated: (a.polarity == Polarity::Negated).into(),
        experiencer: a.experiencer.code().into(),
        extraction_confidence: a.extraction_confidence.into(),
        initial_confidence: a.initial_confidence.into(),
        confidence_basis: a.basis.code().into(),
        confidence: f.confidence.into(),
        times_reinforced: f.times_reinforced.into(),
        verification_count: f.verification_count.into(),
        last_verified: f.last_verified.into(),
        is_protected: f.is_protected.into(),
        cycle: f.cycle.into(),
        valid_from: f.valid_from.into(),
        valid_to: f.valid_to.into(),
        last_confirmed_at: f.last_confirmed_at.into(),
        expires_at: f.expires_at.into(),
        state_at: f.state_at.into(),
        supersedes: f.supersedes.map(|m| m.0).into(),
        superseded_by: f.superseded_by.map(|m| m.0).into(),
        ends_at: f.ends_at.into(),
        org_id: Arg::Null,
        patient_id: Arg::Null,
        id: Arg::Null,
        group_hash: Arg::Null,
        content_sealed: Arg::Null,
        finding_id: Arg::Null,
        document_id: Arg::Null,
        revision: Arg::Null,
        evidence_sealed: Arg::Null,
        evidence_start: Arg::Null,
        evidence_end: Arg::Null,
        file_sealed: Arg::Null,
        source_entity_sealed: Arg::Null,
        terms: Arg::Null,
        redaction_policy: Arg::Null,
        fold_hash: Arg::Null,
        schema_version: Arg::Null,
        recorded_at: Arg::Null,
        updated_at: Arg::Null,
        decay_bucket: Arg::Null,
        lines: Arg::Null,
        created_at: Arg::Null,
    }
}

/// The unsealed columns that the projection decides, each with its position in the rows of
/// `projections::stored_memories`. Reconciliation compares each of them.
pub(in crate::write) fn stored_columns(f: &ProjectedMemory, a: &Assertion) -> [(usize, Arg); 32] {
    let row = derived(f, a);
    [
        (stored_memories::ATTRIBUTE_HASH, row.attribute_hash),
        (stored_memories::KIND, row.kind),
        (stored_memories::CLASS, row.class),
        (stored_memories::ENTITY_TYPE, row.entity_type),
        (stored_memories::SENSITIVITY, row.sensitivity),
        (stored_memories::STATE, row.state),
        (stored_memories::CONTESTED, row.contested),
        (stored_memories::UNGROUNDED, row.ungrounded),
        (stored_memories::SOURCE_TYPE, row.source_type),
        (stored_memories::EPISTEMIC, row.epistemic),
        (stored_memories::IS_PROXY, row.is_proxy),
        (stored_memories::TRUST, row.trust),
        (stored_memories::SET_BY, row.set_by),
        (stored_memories::NEGATED, row.negated),
        (stored_memories::EXPERIENCER, row.experiencer),
        (stored_memories::EXTRACTION_CONFIDENCE, row.extraction_confidence),
        (stored_memories::INITIAL_CONFIDENCE, row.initial_confidence),
        (stored_memories::CONFIDENCE_BASIS, row.confidence_basis),
        (stored_memories::CONFIDENCE, row.confidence),
        (stored_memories::TIMES_REINFORCED, row.times_reinforced),
        (stored_memories::VERIFICATION_COUNT, row.verification_count),
        (stored_memories::LAST_VERIFIED, row.last_verified),
        (stored_memories::IS_PROTECTED, row.is_protected),
        (stored_memories::CYCLE, row.cycle),
        (stored_memories::VALID_FROM, row.valid_from),
        (stored_memories::VALID_TO, row.valid_to),
        (stored_memories::LAST_CONFIRMED_AT, row.last_confirmed_at),
        (stored_memories::EXPIRES_AT, row.expires_at),
        (stored_memories::STATE_AT, row.state_at),
        (stored_memories::SUPERSEDES, row.supersedes),
        (stored_memories::SUPERSEDED_BY, row.superseded_by),
        (stored_memories::ENDS_AT, row.ends_at),
    ]
}

/// Mental and physical health is at least medium; preferences are low.
fn sensitivity(entity: EntityType, class: Class) -> &'static str {
    match entity {
        // A derived pattern may reveal anything.
        _ if class == Class::Pattern => "medium",
        EntityType::Preference | EntityType::Goal => "low",
        _ => "medium",
    }
}
