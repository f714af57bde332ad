-- name: insert
-- rows: contradiction (org_id, patient_id, id, group_hash, kept_id, claim_id, type, state, found_at,
--   created_at, updated_at)
INSERT INTO contradiction {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: delete_of_groups
DELETE FROM contradiction WHERE org_id = $1 AND (patient_id, group_hash) IN {keyed $2};
