-- When decay alone will make a memory uncertain: known when it is written, so that a night finds what fell without looking
-- at what did not. The decaying confidence itself is stored nowhere.
ALTER TABLE memory ADD COLUMN uncertain_at bigint;
-- Since when a person is asked to look at it again.
ALTER TABLE memory ADD COLUMN review_due_at bigint;
CREATE INDEX memory_fading ON memory (org_id, uncertain_at, patient_id, id)
  WHERE state = 'active' AND uncertain_at IS NOT NULL AND review_due_at IS NULL;

-- What a job last brought all rows of an organisation into line with: the fingerprint of its policy.
CREATE TABLE job_mark (
  org_id      uuid NOT NULL,
  job         text NOT NULL,
  mark        uuid NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, job)
);
ALTER TABLE job_mark ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY organization_in_scope ON job_mark
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid));
