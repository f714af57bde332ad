-- fragment: finding
f.patient_id, f.group_hash, f.id, f.source_id, f.revision, f.live, f.attribute_hash, f.entity_type, f.kind, f.class,
f.set_by, f.document_type, f.source_type, f.epistemic, f.trust, f.ending, f.blanket, f.negated, f.experiencer,
f.extraction_confidence, f.initial_confidence, f.confidence_basis, f.is_proxy, f.asserted_at, f.valid_from,
f.expires_at, f.recorded_at, f.payload_sealed, f.evidence_sealed, f.evidence_start, f.evidence_end, f.temporality,
f.tombstone_of, f.ends_at, f.text_hash

-- name: findings
-- All findings of groups.
-- keys: f.patient_id, f.group_hash in {keyed $2}
SELECT {fragment write/memories/load/finding} FROM extracted_findings AS f WHERE f.org_id = $1;

-- name: later_findings
-- Findings of groups since their checkpoints: what is no later than a checkpoint is in it, or the checkpoint is gone.
-- keys: c.patient_id, c.group_hash in {keyed $2}
SELECT {fragment write/memories/load/finding}
FROM fold_checkpoint AS c
JOIN extracted_findings AS f ON f.org_id = c.org_id AND f.patient_id = c.patient_id
    AND f.group_hash = c.group_hash AND f.asserted_at > c.last_at
WHERE c.org_id = $1;

-- name: named_findings
-- Findings by their ids.
-- keys: f.patient_id, f.id in {pairs $2}
SELECT {fragment write/memories/load/finding} FROM extracted_findings AS f WHERE f.org_id = $1;

-- name: existing
-- Memories of groups as they stand in the store.
-- keys: patient_id, group_hash in {keyed $2}
SELECT patient_id, group_hash, id, state, fold_hash, lines FROM memory WHERE org_id = $1;

-- name: acts
-- What people did to memories.
-- keys: patient_id, memory_id in {pairs $2}
SELECT patient_id, id, memory_id, at, action, source, evidence_id
FROM memory_event
WHERE org_id = $1 AND derived = 0;
