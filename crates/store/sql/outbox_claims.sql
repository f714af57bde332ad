-- name: claim
-- The rows are chosen once and locked before they are changed: a subquery in the update itself may be evaluated again
-- for other rows.
WITH due AS MATERIALIZED (
  SELECT id FROM outbox
  WHERE org_id = $1 AND published_at IS NULL AND claimed_until <= $2
  ORDER BY created_at, id LIMIT $4 {skip_locked}
)
UPDATE outbox
SET claimed_until = $3, attempts = attempts + 1, updated_at = $2
WHERE org_id = $1 AND id IN (SELECT id FROM due)
RETURNING id, patient_id, event_type, body_sealed, created_at, attempts, taken;

-- name: end_events
UPDATE outbox SET published_at = $3, ended = $4, updated_at = $3 WHERE org_id = $1 AND id IN {uuids $2};

-- name: postpone_events
UPDATE outbox SET claimed_until = $3, taken = $4 WHERE org_id = $1 AND id IN {uuids $2};

-- name: count_pending
SELECT count(*) AS events, min(created_at) AS oldest FROM outbox WHERE org_id = $1 AND published_at IS NULL;

-- name: event_ids
SELECT id FROM outbox WHERE org_id = $1;

-- name: unnoticed
SELECT id, org_id, reason, created_at, notice_taken
FROM quarantine
WHERE noticed_at IS NULL AND notice_after <= $1
ORDER BY created_at, id LIMIT $2;

-- name: mark_noticed
UPDATE quarantine SET noticed_at = $2 WHERE id IN {uuids $1};

-- name: postpone_notices
UPDATE quarantine SET notice_after = $2, notice_taken = $3 WHERE id IN {uuids $1};
