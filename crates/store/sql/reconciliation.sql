-- name: patients
SELECT patient_id FROM patient_profile WHERE org_id = $1 AND patient_id > $2 ORDER BY patient_id LIMIT $3;

-- name: without_vector
-- They do not wait, and yet there is nothing to compare a question with. Same columns as `stale`.
SELECT p.patient_id, p.id
FROM passage AS p
WHERE p.org_id = $1 AND p.patient_id IN {uuids $2} AND p.embedding_pending = 0
  AND NOT EXISTS (SELECT 1 FROM embedding AS e
    WHERE e.org_id = p.org_id AND e.patient_id = p.patient_id AND e.generation = $3 AND e.passage_id = p.id);

-- name: stale
-- Passages of documents that were replaced.
SELECT p.patient_id, p.id
FROM passage AS p
JOIN documents AS d ON d.org_id = p.org_id AND d.patient_id = p.patient_id
  AND d.document_id = p.document_id AND d.revision = p.revision
WHERE p.org_id = $1 AND p.patient_id IN {uuids $2} AND d.current = 0;

-- name: count_unsearchable
SELECT count(*) AS documents
FROM documents AS d
WHERE d.org_id = $1 AND d.patient_id IN {uuids $2} AND d.current = 1 AND d.retention_state IS NULL
  AND NOT EXISTS (SELECT 1 FROM passage AS p
    WHERE p.org_id = d.org_id AND p.patient_id = d.patient_id AND p.document_id = d.document_id
      AND p.revision = d.revision);

-- name: stray_vectors
-- Vectors of generations that are neither active nor made. Same columns as those that `building::Kept` is read from.
SELECT patient_id, generation, passage_id
FROM embedding
WHERE org_id = $1 AND patient_id IN {uuids $2} AND generation <> $3 AND generation <> $4;

-- name: mark_waiting
UPDATE passage
SET embedding_pending = 1, missing_next_generation = 0, updated_at = $3
WHERE org_id = $1 AND embedding_pending = 0 AND (patient_id, id) IN {pairs $2};

-- name: delete_passages
DELETE FROM passage WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};
