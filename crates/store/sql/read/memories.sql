-- fragment: memory
SELECT m.id, m.kind, m.class, m.entity_type, m.sensitivity, m.state, m.state_at, m.contested, m.ungrounded,
    m.content_sealed, m.evidence_sealed, m.evidence_start, m.evidence_end, m.source_entity_sealed,
    m.document_id, m.revision, d.document_type, d.occurred_at, m.source_type, m.epistemic, m.is_proxy,
    m.trust, m.set_by, m.negated, m.experiencer, m.extraction_confidence, m.initial_confidence,
    m.confidence_basis, m.confidence, m.times_reinforced, m.verification_count, m.last_verified,
    m.is_protected, m.cycle, m.valid_from, m.valid_to, m.last_confirmed_at, m.reconfirm_due_at, m.expires_at,
    m.supersedes, m.superseded_by, m.terms, m.recorded_at,
    (SELECT min(e.at) FROM memory_event AS e
      WHERE e.org_id = m.org_id AND e.patient_id = m.patient_id AND e.memory_id = m.id AND e.derived = 1)
      AS first_event_at,
    m.file_sealed, m.ends_at, d.signed_by
FROM memory AS m
LEFT JOIN documents AS d ON d.org_id = m.org_id AND d.patient_id = m.patient_id
  AND d.document_id = m.document_id AND d.revision = m.revision
WHERE m.org_id = $1 AND m.patient_id = $2

-- name: of_patient
-- Memories of a patient. A list whose switch is 0 does not narrow them; without $11 the forgotten and the quarantined are
-- left out.
{fragment read/memories/memory}
  AND ($3 = 0 OR m.kind IN {texts $4}) AND ($5 = 0 OR m.class IN {texts $6})
  AND ($7 = 0 OR m.entity_type IN {texts $8}) AND ($9 = 0 OR m.id IN {uuids $10})
  AND ($11 = 1 OR m.state NOT IN ('inactive', 'quarantined'))
  AND ($12 = 0 OR m.source_type IN {texts $13}) AND ($14 = 0 OR m.trust IN {ints $15})
ORDER BY m.recorded_at, m.id;

-- name: of_documents
-- Memories whose evidence stands in documents; same columns as `of_patient`.
{fragment read/memories/memory}
  AND m.document_id IN {uuids $3} AND m.state NOT IN ('inactive', 'quarantined')
ORDER BY m.recorded_at, m.id;

-- name: hashes
-- Attribute and group of a memory.
SELECT attribute_hash, group_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3;
