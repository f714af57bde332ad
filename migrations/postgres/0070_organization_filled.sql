-- no-transaction
-- batched
-- Rows from before the new names.
UPDATE organization SET stale_vectors = vectors_left, reembedding_state = building_left
WHERE (org_id) IN (SELECT org_id FROM organization
  WHERE stale_vectors IS DISTINCT FROM vectors_left
    OR reembedding_state IS DISTINCT FROM building_left
  ORDER BY org_id LIMIT 500);
