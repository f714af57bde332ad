-- name: insert
-- shared: created_at, updated_at
-- rows: outbox (org_id, id, patient_id, event_type, body_sealed)
INSERT INTO outbox {rows} ON CONFLICT (org_id, id) DO NOTHING;
