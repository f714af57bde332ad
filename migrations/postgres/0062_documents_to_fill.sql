-- no-transaction
-- Rows whose pair of names differs (0056), in an order that no other index has, so that the next step reads this one. It is empty
-- once they are filled, and goes with the old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS documents_old_names ON documents (org_id, document_id, patient_id, revision)
  WHERE retention_state IS DISTINCT FROM fate
    OR retention_state_at IS DISTINCT FROM fate_at
    OR retention_evaluated IS DISTINCT FROM reckoned;
