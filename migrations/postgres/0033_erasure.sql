-- What was erased, or is being erased: ids, codes and counts, never content. It outlives what it names, so that late messages
-- are refused and a restored backup is brought up to it. `done_at` is set with the rows; `files_at` when no archive of
-- original files names the patient any more.
CREATE TABLE erasure (
  org_id        uuid NOT NULL REFERENCES organization (org_id),
  patient_id    uuid NOT NULL,
  id            uuid NOT NULL,
  what          text NOT NULL CHECK (what IN ('patient', 'document', 'memory')),
  subject_id    uuid,
  requested_by  uuid NOT NULL,
  requested_at  bigint NOT NULL,
  done_at       bigint,
  files_at      bigint,
  counts        text,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  CHECK ((what = 'patient') = (subject_id IS NULL)),
  CHECK ((done_at IS NULL) = (counts IS NULL))
);
CREATE INDEX erasure_open ON erasure (org_id, patient_id) WHERE done_at IS NULL OR files_at IS NULL;
ALTER TABLE erasure ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY organization_in_scope ON erasure
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid));
