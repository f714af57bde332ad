-- name: recent
-- Current documents of a window, newest first.
SELECT document_id, revision, document_type, occurred_at, language, therapist_id, sentiment, risk_level,
    current, recorded_at, content_sealed, signed_by
FROM documents
WHERE org_id = $1 AND patient_id = $2 AND current = 1 AND occurred_at >= $3 AND occurred_at < $4
  AND (ends_at IS NULL OR ends_at > $6)
ORDER BY occurred_at DESC, document_id
LIMIT $5;

-- name: by_id
-- All revisions of documents; same columns as `recent`.
SELECT document_id, revision, document_type, occurred_at, language, therapist_id, sentiment, risk_level,
    current, recorded_at, content_sealed, signed_by
FROM documents
WHERE org_id = $1 AND patient_id = $2 AND document_id IN {uuids $3}
ORDER BY document_id, revision;
