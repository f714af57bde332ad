-- no-transaction
-- What people did to a memory is few of its lines.
CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_event_act ON memory_event (org_id, patient_id, memory_id) WHERE derived = 0;
