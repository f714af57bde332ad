-- fragment: listed
id, patient_id, event_type, ended, published_at, attempts, taken, created_at, claimed_until

-- name: list
-- Events of a state and a type, oldest first.
SELECT {fragment outbox_admin/listed}
FROM outbox
WHERE org_id = $1
  AND ($2 = 'all' OR ($2 = 'waiting' AND published_at IS NULL)
    OR ($2 = 'delivered' AND published_at IS NOT NULL AND ended IN ('', 'delivered')) OR ended = $2)
  AND ($3 = '' OR event_type = $3) AND created_at >= $4 AND created_at < $5
ORDER BY created_at, id LIMIT $6;

-- name: of_ids
-- Same columns as `list`.
SELECT {fragment outbox_admin/listed}
FROM outbox
WHERE org_id = $1 AND id IN {uuids $2}
ORDER BY created_at, id;

-- name: replay
-- A claim that runs is left alone: its relay goes on, and a second delivery is under the same id.
UPDATE outbox
SET published_at = NULL, ended = '', taken = $3, attempts = 0, claimed_until = 0, updated_at = $4
WHERE org_id = $1 AND id = $2 AND ended <> 'gone';

-- name: give_up
UPDATE outbox
SET published_at = $3, ended = 'dropped', updated_at = $3
WHERE org_id = $1 AND id = $2 AND published_at IS NULL;
