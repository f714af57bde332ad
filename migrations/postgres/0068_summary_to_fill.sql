-- no-transaction
-- Rows whose pair of names differs (0056), in an order that no other index has, so that the next step reads this one. It is empty
-- once they are filled, and goes with the old columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS summary_old_names ON summary (org_id, id, patient_id)
  WHERE period IS DISTINCT FROM stretch;
