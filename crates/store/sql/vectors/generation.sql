-- fragment: of_organization
SELECT vector_generation, vector_model, building_generation, building_model, vectors_swapped_at, stale_vectors,
    reembedding_state
FROM organization
WHERE org_id = $1

-- name: read
{fragment vectors/generation/of_organization};

-- name: hold
-- As they stand until the transaction ends. Same columns as `read`.
{fragment vectors/generation/of_organization} {for_share};

-- name: take
-- To change them. Same columns as `read`.
{fragment vectors/generation/of_organization} {for_update};

-- name: set
UPDATE organization
SET vector_generation = $2, vector_model = $3, building_generation = $4, building_model = $5,
    vectors_swapped_at = $6, stale_vectors = $7, reembedding_state = $8, updated_at = $9
WHERE org_id = $1;
