-- name: insert
-- Lines already there stay as they are: their ids are derived from what they say.
-- rows: memory_event (org_id, patient_id, id, memory_id, derived, at, action, source, old_confidence,
--   new_confidence, evidence_kind, evidence_id, created_at, updated_at)
INSERT INTO memory_event {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: insert_acts
-- What people did, each with the hash that covers it. The columns of `insert`, and the hash.
-- rows: memory_event (org_id, patient_id, id, memory_id, derived, at, action, source, old_confidence,
--   new_confidence, evidence_kind, evidence_id, created_at, updated_at, mac)
INSERT INTO memory_event {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;
