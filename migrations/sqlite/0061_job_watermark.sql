-- A plain name.
ALTER TABLE job_mark RENAME TO job_watermark;
