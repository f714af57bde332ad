-- name: organizations
SELECT org_id FROM organization ORDER BY org_id;

-- name: memories
-- How many memories there are, by kind and state.
SELECT kind, state, count(*) AS memories FROM memory WHERE org_id = $1 GROUP BY kind, state;

-- name: waiting
-- How many events wait to be published.
SELECT count(*) AS found FROM outbox WHERE org_id = $1 AND published_at IS NULL;

-- name: asked
-- Asked and not answered: an answer starts a new cycle, which empties the column. Same columns as `waiting`.
SELECT count(*) AS found
FROM memory
WHERE org_id = $1 AND state = 'active' AND class = 'time_bound_state' AND reconfirm_due_at IS NOT NULL;

-- name: quarantined
-- How many messages wait for a decision, and since when the first of them does.
SELECT count(*) AS messages, min(created_at) AS waiting_since FROM quarantine WHERE state = 'open';

-- name: registered
-- When an organisation was registered.
SELECT created_at FROM organization WHERE org_id = $1;
