-- no-transaction
-- Rows whose pair of names differs (0056): found without reading the table. Empty once they are filled; 0.4.0 drops it with the
-- old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS documents_old_names ON documents (org_id, patient_id, document_id, revision)
  WHERE retention_state IS DISTINCT FROM fate
    OR retention_state_at IS DISTINCT FROM fate_at
    OR retention_evaluated IS DISTINCT FROM reckoned;
