-- no-transaction
-- batched
-- Rows from before the new names.
UPDATE passage SET embedding_pending = waits, missing_next_generation = behind
WHERE (org_id, patient_id, id) IN (SELECT org_id, patient_id, id FROM passage
  WHERE embedding_pending IS DISTINCT FROM waits
    OR missing_next_generation IS DISTINCT FROM behind
  ORDER BY org_id, id, patient_id LIMIT 500);
