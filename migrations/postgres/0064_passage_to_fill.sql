-- no-transaction
-- Rows whose pair of names differs (0056): found without reading the table. Empty once they are filled; 0.4.0 drops it with the
-- old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS passage_old_names ON passage (org_id, patient_id, id)
  WHERE embedding_pending IS DISTINCT FROM waits
    OR missing_next_generation IS DISTINCT FROM behind;
