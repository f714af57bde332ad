-- no-transaction
-- As `memory_fading`, which stays for workers of the version before and goes with its columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_decay
  ON memory (org_id, kind, decay_bucket, (coalesce(last_verified, recorded_at)), patient_id, id)
  WHERE state = 'active' AND decay_bucket IS NOT NULL AND review_due_at IS NULL;
