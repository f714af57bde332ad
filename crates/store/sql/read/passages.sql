-- name: documents
-- Documents, passages and vectors are three ranges of three keys, joined in the program: a planner that has no statistics
-- of a patient yet would join them by comparing each with each.
SELECT {all uuids document_id} AS document_id, {all ints revision} AS revision,
    {all texts document_type} AS document_type, {all ints occurred_at} AS occurred_at,
    (SELECT vector_generation FROM organization WHERE org_id = $1) AS vector_generation
FROM documents
WHERE org_id = $1 AND patient_id = $2 AND current = 1 AND occurred_at >= $3 AND occurred_at < $4
  AND (ends_at IS NULL OR ends_at > $5) AND ($6 = 0 OR document_type IN {texts $7})
  AND ($8 = 0 OR sentiment IN {texts $9}) AND ($10 = 0 OR risk_level IN {texts $11})
  AND ($12 = 0 OR therapist_id IN {uuids $13});

-- name: of_patient
SELECT {all uuids id} AS id, {all uuids document_id} AS document_id, {all ints revision} AS revision,
    {all ints start_offset} AS start_offset, {all ints end_offset} AS end_offset,
    {all ints length(terms)} AS bytes_of_terms, {all held terms $3} AS terms
FROM passage {through passage_document}
WHERE org_id = $1 AND patient_id = $2;

-- name: similarities
SELECT {all uuids passage_id} AS passage_id, {all similarities vector $4} AS similarity,
    (SELECT vector_generation FROM organization WHERE org_id = $1) AS vector_generation
FROM embedding {through embedding_order}
WHERE org_id = $1 AND patient_id = $2 AND generation = $3 AND dimension = $5;
