-- name: of_groups
-- keys: patient_id, group_hash in {keyed $2}
SELECT patient_id, group_hash, last_at, state_sealed FROM fold_checkpoint WHERE org_id = $1;

-- name: delete
DELETE FROM fold_checkpoint WHERE org_id = $1 AND (patient_id, group_hash) IN {keyed $2};

-- name: keep
-- rows: fold_checkpoint (org_id, patient_id, group_hash, last_at, state_sealed, created_at, updated_at)
INSERT INTO fold_checkpoint {rows}
ON CONFLICT (org_id, patient_id, group_hash) DO UPDATE SET {updated};

-- name: delete_lines
DELETE FROM memory_event WHERE org_id = $1 AND derived = 1 AND (patient_id, id) IN {pairs $2};

-- name: delete_lines_of_time
-- What time did since is in the lines that the fold writes.
DELETE FROM memory_event
WHERE org_id = $1 AND derived = 1 AND source = 'time' AND at >= $3 AND (patient_id, memory_id) IN {pairs $2};
