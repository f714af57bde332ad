-- name: group_of
SELECT group_hash, kind, document_id FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3;

-- name: words_of
SELECT content_sealed FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3;

-- name: findings_of
-- What was said of the attribute that a memory is about.
SELECT id, source_id, revision, evidence_start, evidence_end
FROM extracted_findings
WHERE org_id = $1 AND patient_id = $2
    AND group_hash = (SELECT group_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3)
    AND attribute_hash = (SELECT attribute_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3);

-- name: rewrite_archived
UPDATE document_archive
SET content_sealed = $5, updated_at = $6
WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4;
