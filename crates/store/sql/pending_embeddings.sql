-- fragment: with_document
-- Passages with their documents, still sealed.
SELECT p.patient_id, p.id, p.document_id, p.revision, p.start_offset, p.end_offset, p.updated_at, d.content_sealed
FROM passage AS p
JOIN documents AS d ON d.org_id = p.org_id AND d.patient_id = p.patient_id
  AND d.document_id = p.document_id AND d.revision = p.revision
WHERE p.org_id = $1

-- name: pending
{fragment pending_embeddings/with_document} AND p.embedding_pending = 1 AND (p.patient_id, p.id) > ($2, $3)
ORDER BY p.patient_id, p.id LIMIT $4;

-- name: missing_next_generation
-- Same columns as `pending`.
{fragment pending_embeddings/with_document} AND p.missing_next_generation = 1 AND (p.patient_id, p.id) > ($2, $3)
ORDER BY p.patient_id, p.id LIMIT $4;

-- name: insert_vectors
-- A passage that went meanwhile gets none, nor one that says something else now.
-- rows: embedding (org_id, patient_id, generation, passage_id, dimension, vector, seen int, now int)
INSERT INTO embedding (org_id, patient_id, generation, passage_id, dimension, vector, created_at, updated_at)
SELECT r.org_id, r.patient_id, r.generation, r.passage_id, r.dimension, r.vector, r.now, r.now
FROM {rows} AS r
WHERE EXISTS (SELECT 1 FROM passage AS p
  WHERE p.org_id = r.org_id AND p.patient_id = r.patient_id AND p.id = r.passage_id AND p.updated_at = r.seen)
ON CONFLICT (org_id, patient_id, generation, passage_id) DO NOTHING;

-- name: mark_done
-- rows: passage (org_id, patient_id, id, missing_next_generation, seen int, now int)
UPDATE passage
SET embedding_pending = 0, missing_next_generation = r.missing_next_generation, updated_at = r.now
FROM {rows} AS r
WHERE passage.org_id = r.org_id AND passage.patient_id = r.patient_id AND passage.id = r.id
  AND passage.updated_at = r.seen;

-- name: mark_level
-- They have a vector of the generation that is being made.
-- rows: passage (org_id, patient_id, id, seen int)
UPDATE passage
SET missing_next_generation = 0
FROM {rows} AS r
WHERE passage.org_id = r.org_id AND passage.patient_id = r.patient_id AND passage.id = r.id
  AND passage.missing_next_generation = 1 AND passage.updated_at = r.seen;
