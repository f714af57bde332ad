-- name: due
-- Documents that another version redacted. What lies in the archive is sealed there.
SELECT patient_id, document_id, revision, language, content_sealed,
    (SELECT a.content_sealed FROM document_archive AS a
      WHERE a.org_id = documents.org_id AND a.patient_id = documents.patient_id
        AND a.document_id = documents.document_id AND a.revision = documents.revision) AS archived_sealed
FROM documents
WHERE org_id = $1 AND redaction_policy <> $2 AND (patient_id, document_id, revision) > ($3, $4, $5)
ORDER BY patient_id, document_id, revision LIMIT $6 {skip_locked};

-- name: policy
SELECT redaction_policy FROM organization WHERE org_id = $1;
