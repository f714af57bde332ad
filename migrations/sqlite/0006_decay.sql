-- When decay alone will make a memory uncertain: known when it is written, so that a night finds what fell without looking
-- at what did not. The decaying confidence itself is stored nowhere.
ALTER TABLE memory ADD COLUMN uncertain_at INTEGER;
-- Since when a person is asked to look at it again.
ALTER TABLE memory ADD COLUMN review_due_at INTEGER;
CREATE INDEX memory_fading ON memory (org_id, uncertain_at, patient_id, id)
  WHERE state = 'active' AND uncertain_at IS NOT NULL AND review_due_at IS NULL;

-- What a job last brought all rows of an organisation into line with: the fingerprint of its policy.
CREATE TABLE job_mark (
  org_id      BLOB NOT NULL,
  job         TEXT NOT NULL,
  mark        BLOB NOT NULL CHECK (length(mark) = 16),
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, job)
) STRICT, WITHOUT ROWID;
