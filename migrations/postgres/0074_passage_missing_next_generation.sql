-- no-transaction
-- As `passage_behind`, which stays for workers of the version before and goes with its columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS passage_missing_next_generation
  ON passage (org_id, patient_id, id) WHERE missing_next_generation = 1;
