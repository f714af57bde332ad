-- The table has a plain name. Workers of the version before find it by the old one, through a view with the rights of the caller, so
-- that row-level security binds them as before. 0.4.0 drops the view. Rights on it are given here: a worker may not miss it.
ALTER TABLE job_mark RENAME TO job_watermark;
ALTER INDEX job_mark_pkey RENAME TO job_watermark_pkey;
CREATE VIEW job_mark WITH (security_invoker = true) AS SELECT org_id, job, mark, created_at, updated_at FROM job_watermark;
GRANT SELECT, INSERT, UPDATE, DELETE ON job_mark TO anamnesis_app, anamnesis_jobs;
