-- no-transaction
-- Rows whose pair of names differs (0056), in an order that no other index has, so that the next step reads this one. It is empty
-- once they are filled, and goes with the old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_old_names ON memory (org_id, id, patient_id)
  WHERE decay_bucket IS DISTINCT FROM fade_level;
