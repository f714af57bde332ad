-- name: groups_of_memories
SELECT patient_id, group_hash FROM memory WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: blank_findings
-- rows: extracted_findings (org_id, patient_id, id, payload bytes, memory uuid, blank bytes, now int)
UPDATE extracted_findings
SET payload_sealed = r.payload, tombstone_of = r.memory, updated_at = r.now,
    evidence_sealed = CASE WHEN extracted_findings.evidence_sealed IS NULL THEN NULL ELSE r.blank END
FROM {rows} AS r
WHERE extracted_findings.org_id = r.org_id AND extracted_findings.patient_id = r.patient_id
  AND extracted_findings.id = r.id;

-- name: blank_memories
-- The row stays for the audit trail: ids, times, states and numbers, no word.
-- rows: memory (org_id, patient_id, id, blank bytes, now int)
UPDATE memory
SET content_sealed = NULL, source_entity_sealed = NULL, file_sealed = NULL, terms = r.blank,
    updated_at = r.now,
    evidence_sealed = CASE WHEN memory.evidence_sealed IS NULL THEN NULL ELSE r.blank END
FROM {rows} AS r
WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id
  AND memory.state IN ('expired', 'inactive');

-- name: set_live
-- Whether findings count.
UPDATE extracted_findings
SET live = $3, updated_at = $4
WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: groups_of_findings
SELECT DISTINCT patient_id, group_hash
FROM extracted_findings
WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};
