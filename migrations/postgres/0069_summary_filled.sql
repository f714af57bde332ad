-- no-transaction
-- batched
-- Rows from before the new names.
UPDATE summary SET period = stretch
WHERE (org_id, patient_id, id) IN (SELECT org_id, patient_id, id FROM summary
  WHERE period IS DISTINCT FROM stretch
  ORDER BY org_id, id, patient_id LIMIT 500);
