//! A medicine that was proposed: superseded by any later statement about the medicine itself.

use super::replay::Replay;
use crate::finding::EntityType;
use crate::provenance::Trust;

/// Applies the proposals of the group to the known facts of the medicine, once all are walked.
pub(super) fn apply(walk: &mut Replay<'_>) {
    for proposal in 0..walk.memories.len() {
        let p = &walk.memories[proposal];
        if p.entity != EntityType::Medication || !p.is_active() || p.trust < Trust::T4 {
            continue;
        }
        let (attribute, since) = (p.attribute, p.folded.valid_from);
        let later = walk
            .memories
            .iter()
            .find(|m| m.attribute != attribute && m.trust < Trust::T4 && m.folded.changed_at() > since);
        if let Some((by, from)) = later.map(|m| (m.folded.id, m.folded.changed_at())) {
            walk.memories[proposal].superseded(by, from, from);
        }
    }
}
