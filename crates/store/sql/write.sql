-- name: inbox
-- shared: org_id, disposition, created_at, updated_at
-- rows: inbox (message_hash, body_hash, patient_id, message_type)
INSERT INTO inbox {rows} ON CONFLICT (org_id, message_hash) DO NOTHING;
