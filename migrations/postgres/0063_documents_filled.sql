-- no-transaction
-- batched
-- Rows from before the new names.
UPDATE documents SET retention_state = fate, retention_state_at = fate_at, retention_evaluated = reckoned
WHERE (org_id, patient_id, document_id, revision) IN (SELECT org_id, patient_id, document_id, revision FROM documents
  WHERE retention_state IS DISTINCT FROM fate
    OR retention_state_at IS DISTINCT FROM fate_at
    OR retention_evaluated IS DISTINCT FROM reckoned
  ORDER BY org_id, document_id, patient_id, revision LIMIT 500);
