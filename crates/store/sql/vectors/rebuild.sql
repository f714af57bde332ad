-- name: walk
-- A page of passages in the order of their key.
SELECT patient_id, id, document_id, revision, start_offset, end_offset, updated_at, embedding_pending,
    missing_next_generation
FROM passage
WHERE org_id = $1 AND (patient_id, id) > ($2, $3)
ORDER BY patient_id, id LIMIT $4;

-- name: count
SELECT count(*) AS passages FROM passage WHERE org_id = $1;

-- name: vectors
-- Vectors of a generation of these passages.
-- keys: patient_id, passage_id in {pairs $2}
SELECT patient_id, passage_id, vector FROM embedding WHERE org_id = $1 AND generation = $3;

-- name: contents
-- The contents of all revisions of these documents.
-- keys: patient_id, document_id in {pairs $2}
SELECT patient_id, document_id, revision, content_sealed FROM documents WHERE org_id = $1;

-- name: any_missing_next_generation
-- Whether any passage came while another generation was made.
SELECT id FROM passage WHERE org_id = $1 AND missing_next_generation = 1 LIMIT 1;

-- name: count_missing_next_generation
-- Same columns as `count`.
SELECT count(*) AS passages FROM passage WHERE org_id = $1 AND missing_next_generation = 1;

-- name: similarities
-- How near the passages of a patient are to a vector, by one generation.
SELECT passage_id, {similarity vector $4} AS similarity
FROM embedding
WHERE org_id = $1 AND patient_id = $2 AND generation = $3;

-- name: forget_vectors
-- Removes vectors of one generation.
DELETE FROM embedding WHERE org_id = $1 AND generation = $2 AND (patient_id, passage_id) IN {pairs $3};

-- name: kept_vectors
-- A page of the vectors of all generations, by their key.
SELECT patient_id, generation, passage_id
FROM embedding
WHERE org_id = $1 AND (patient_id, generation, passage_id) > ($2, $3, $4)
ORDER BY patient_id, generation, passage_id LIMIT $5;
