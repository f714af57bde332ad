-- fragment: columns
-- The hash, and the columns that it covers in the order in which they are hashed.
mac, org_id, job, as_of, cutoff_at, state, owner, fence, attempts, wake_at, cursor, status, error, started_at,
  finished_at

-- name: of_organization
SELECT {fragment audit_trail/runs/columns} FROM job_run WHERE org_id = $1;

-- name: newest_reconciliations
-- The newest runs of reconciliation, ended or not: one that was made up behind the program keeps it from being run.
-- Same columns as `of_organization`.
SELECT {fragment audit_trail/runs/columns}
FROM job_run
WHERE org_id = $1 AND job = 'reconciliation'
ORDER BY as_of DESC LIMIT 16;

-- name: adopt
-- Gives runs of versions before they were covered their hash.
-- rows: job_run (org_id, job, as_of, mac)
UPDATE job_run
SET mac = r.mac
FROM {rows} AS r
WHERE job_run.org_id = r.org_id AND job_run.job = r.job AND job_run.as_of = r.as_of AND job_run.mac IS NULL;
