-- no-transaction
-- Rows whose pair of names differs (0056), in an order that no other index has, so that the next step reads this one. It is empty
-- once they are filled, and goes with the old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS passage_old_names ON passage (org_id, id, patient_id)
  WHERE embedding_pending IS DISTINCT FROM waits
    OR missing_next_generation IS DISTINCT FROM behind;
