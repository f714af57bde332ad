//! The columns of a memory that the fold decides and nothing seals: written by it, and compared with it by reconciliation.

use super::super::findings::trust_number;
use anamnesis_core::finding::{EntityType, Polarity};
use anamnesis_core::fold::{Assertion, Folded};
use anamnesis_core::memory::Class;
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_sql::{Arg, Column, ColumnType};

/// What the fold decides of a memory and nothing seals: reconciliation compares each of these columns with it.
pub(in crate::write) const DERIVED: [Column; 32] = [
    ("attribute_hash", ColumnType::Bytes),
    ("kind", ColumnType::Text),
    ("class", ColumnType::Text),
    ("entity_type", ColumnType::Text),
    ("sensitivity", ColumnType::Text),
    ("state", ColumnType::Text),
    ("contested", ColumnType::Bool),
    ("ungrounded", ColumnType::Bool),
    ("source_type", ColumnType::Text),
    ("epistemic", ColumnType::Text),
    ("is_proxy", ColumnType::Bool),
    ("trust", ColumnType::Int),
    ("set_by", ColumnType::Text),
    ("negated", ColumnType::Bool),
    ("experiencer", ColumnType::Text),
    ("extraction_confidence", ColumnType::Float),
    ("initial_confidence", ColumnType::Float),
    ("confidence_basis", ColumnType::Text),
    ("confidence", ColumnType::Float),
    ("times_reinforced", ColumnType::Int),
    ("verification_count", ColumnType::Int),
    ("last_verified", ColumnType::Int),
    ("is_protected", ColumnType::Bool),
    ("cycle", ColumnType::Int),
    ("valid_from", ColumnType::Int),
    ("valid_to", ColumnType::Int),
    ("last_confirmed_at", ColumnType::Int),
    ("expires_at", ColumnType::Int),
    ("state_at", ColumnType::Int),
    ("supersedes", ColumnType::Uuid),
    ("superseded_by", ColumnType::Uuid),
    ("ends_at", ColumnType::Int),
];

/// The columns of [`DERIVED`].
pub(in crate::write) fn derived(f: &Folded, a: &Assertion) -> Vec<Arg> {
    let (class, source_type, trust) = match f.vouched {
        true => (a.class.vouched(a.entity), SourceType::DirectExperience, Trust::T1),
        false => (a.class, a.source_type, a.trust),
    };
    let epistemic = if f.vouched { source_type.epistemic() } else { a.epistemic };
    vec![
        a.attribute.into(),
        a.kind.code().into(),
        class.code().into(),
        a.entity.code().into(),
        sensitivity(a.entity, class).into(),
        f.state.code().into(),
        f.contested.into(),
        f.ungrounded.into(),
        source_type.code().into(),
        epistemic.code().into(),
        a.is_proxy.into(),
        trust_number(trust).into(),
        f.set_by.code().into(),
        (a.polarity == Polarity::Negated).into(),
        a.experiencer.code().into(),
        a.extraction_confidence.into(),
        a.initial_confidence.into(),
        a.basis.code().into(),
        f.confidence.into(),
        f.times_reinforced.into(),
        f.verification_count.into(),
        f.last_verified.into(),
        f.is_protected.into(),
        f.cycle.into(),
        f.valid_from.into(),
        f.valid_to.into(),
        f.last_confirmed_at.into(),
        f.expires_at.into(),
        f.state_at.into(),
        f.supersedes.map(|m| m.0).into(),
        f.superseded_by.map(|m| m.0).into(),
        f.ends_at.into(),
    ]
}

/// Mental and physical health is medium at least; what a person likes is low.
fn sensitivity(entity: EntityType, class: Class) -> &'static str {
    match entity {
        // What was formed of anything may tell anything.
        _ if class == Class::Pattern => "medium",
        EntityType::Preference | EntityType::Goal => "low",
        _ => "medium",
    }
}
