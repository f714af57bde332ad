-- name: due
-- Patients whose facts another version redacted, or none that is on record.
SELECT patient_id
FROM patient_profile
WHERE org_id = $1 AND (facts_redacted_by IS NULL OR facts_redacted_by <> $2) AND patient_id > $3
ORDER BY patient_id LIMIT $4;

-- name: preferences
SELECT key_hash, value_sealed, stated_at FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2;

-- name: records
SELECT id, record_sealed FROM legacy_record WHERE org_id = $1 AND patient_id = $2;

-- name: facts
-- Those of documents go with their documents.
SELECT f.id, f.group_hash, f.payload_sealed, f.evidence_sealed, f.evidence_start
FROM extracted_findings AS f
WHERE f.org_id = $1 AND f.patient_id = $2 AND f.tombstone_of IS NULL
    AND NOT EXISTS (SELECT 1 FROM documents AS d
        WHERE d.org_id = f.org_id AND d.patient_id = f.patient_id AND d.document_id = f.source_id);

-- name: rewrite_preference
UPDATE conversation_preferences
SET value_sealed = $4, updated_at = $5
WHERE org_id = $1 AND patient_id = $2 AND key_hash = $3 AND stated_at = $6;

-- name: rewrite_record
UPDATE legacy_record SET record_sealed = $4, updated_at = $5 WHERE org_id = $1 AND patient_id = $2 AND id = $3;

-- name: stamp
UPDATE patient_profile
SET facts_redacted_by = $3, updated_at = $4
WHERE org_id = $1 AND patient_id IN {uuids $2};
