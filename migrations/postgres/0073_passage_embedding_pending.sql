-- no-transaction
-- As `passage_waiting`, which stays for workers of the version before and goes with its columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS passage_embedding_pending
  ON passage (org_id, patient_id, id) WHERE embedding_pending = 1;
