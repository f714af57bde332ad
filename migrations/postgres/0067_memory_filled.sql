-- no-transaction
-- batched
-- Rows from before the new names.
UPDATE memory SET decay_bucket = fade_level
WHERE (org_id, patient_id, id) IN (SELECT org_id, patient_id, id FROM memory
  WHERE decay_bucket IS DISTINCT FROM fade_level
  ORDER BY org_id, id, patient_id LIMIT 500);
