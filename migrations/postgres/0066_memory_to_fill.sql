-- no-transaction
-- Rows whose pair of names differs (0056): found without reading the table. Empty once they are filled; 0.4.0 drops it with the
-- old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_old_names ON memory (org_id, patient_id, id)
  WHERE decay_bucket IS DISTINCT FROM fade_level;
