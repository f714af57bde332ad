-- fragment: run
org_id, job, as_of, cutoff_at, state, owner, fence, attempts, wake_at, cursor, status, error, started_at, finished_at, mac

-- name: find
-- The run of a job for an organisation and a day.
SELECT {fragment ledger/run}
FROM job_run
WHERE org_id = $1 AND job = $2 AND as_of = $3;

-- name: recent
-- Runs of some days, newest first; the same columns as `find`.
SELECT {fragment ledger/run}
FROM job_run
WHERE as_of >= $1 AND as_of <= $2 AND (job = $3 OR $3 IS NULL) AND (org_id = $4 OR $4 IS NULL)
ORDER BY as_of DESC, cutoff_at DESC, job, org_id
LIMIT $5;

-- name: last_done
-- When a run of each job last ended well.
SELECT job, max(finished_at) AS last_finished_at FROM job_run WHERE state = 'done' GROUP BY job;

-- name: hold
-- Writes a granted claim, unless another process was faster.
INSERT INTO job_run (org_id, job, as_of, cutoff_at, state, owner, fence, attempts, wake_at, cursor, status, error, started_at,
    finished_at, mac, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, NULL, $14, $13, $13)
ON CONFLICT (org_id, job, as_of) DO UPDATE SET cutoff_at = excluded.cutoff_at, state = excluded.state, owner = excluded.owner,
    fence = excluded.fence, attempts = excluded.attempts, wake_at = excluded.wake_at, cursor = excluded.cursor,
    started_at = excluded.started_at, finished_at = NULL, status = excluded.status, error = excluded.error, mac = excluded.mac,
    updated_at = excluded.updated_at
WHERE job_run.fence = excluded.fence - 1;

-- name: write
-- Writes a checkpoint or an ending, unless the run was taken over.
UPDATE job_run
SET state = $5, attempts = $6, wake_at = $7, cursor = $8, status = $9, error = $10, finished_at = $11, updated_at = $12, mac = $13
WHERE org_id = $1 AND job = $2 AND as_of = $3 AND fence = $4 AND state = 'running';
