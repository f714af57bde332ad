-- name: is_there
-- Whether an entry is there.
SELECT action FROM action_audit WHERE org_id = $1 AND patient_id = $2 AND id = $3;

-- name: those_there
-- Those of these entries that are there.
SELECT id, at FROM action_audit WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3};
