-- name: of_current_documents
-- What names the redaction of each; accounts that jobs wrote have none.
SELECT document_id, revision, occurred_at, redaction_policy, content_sealed
FROM documents
WHERE org_id = $1 AND patient_id = $2 AND current = 1
  AND document_id NOT IN (SELECT id FROM summary WHERE org_id = $1 AND patient_id = $2)
ORDER BY occurred_at, document_id;
