-- no-transaction
-- Rows whose pair of names differs (0056): found without reading the table. Empty once they are filled; 0.4.0 drops it with the
-- old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS summary_old_names ON summary (org_id, patient_id, id)
  WHERE period IS DISTINCT FROM stretch;
