-- name: memories
-- Captures are counted with their documents.
SELECT class, set_by, source_type, state, count(*) AS memories, min(valid_from) AS oldest, max(valid_from) AS newest
FROM memory
WHERE org_id = $1 AND patient_id = $2 AND kind <> 'raw'
GROUP BY class, set_by, source_type, state
ORDER BY class, set_by, source_type, state;

-- name: documents
-- Accounts that jobs write of several documents are no documents of the patient's.
SELECT document_type, count(DISTINCT document_id) AS documents, min(occurred_at) AS oldest, max(occurred_at) AS newest
FROM documents
WHERE org_id = $1 AND patient_id = $2 AND current = 1
  AND document_id NOT IN (SELECT id FROM summary WHERE org_id = $1 AND patient_id = $2)
GROUP BY document_type
ORDER BY document_type;
