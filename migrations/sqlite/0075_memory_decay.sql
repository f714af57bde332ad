-- A plain name.
DROP INDEX memory_fading;
CREATE INDEX memory_decay
  ON memory (org_id, kind, decay_bucket, coalesce(last_verified, recorded_at), patient_id, id)
  WHERE state = 'active' AND decay_bucket IS NOT NULL AND review_due_at IS NULL;
