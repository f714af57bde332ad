-- What was erased, or is being erased: ids, codes and counts, never content. It outlives what it names, so that late messages
-- are refused and a restored backup is brought up to it. `done_at` is set with the rows; `files_at` when no archive of
-- original files names the patient any more.
CREATE TABLE erasure (
  org_id        BLOB NOT NULL REFERENCES organization (org_id),
  patient_id    BLOB NOT NULL,
  id            BLOB NOT NULL,
  what          TEXT NOT NULL CHECK (what IN ('patient', 'document', 'memory')),
  subject_id    BLOB,
  requested_by  BLOB NOT NULL,
  requested_at  INTEGER NOT NULL,
  done_at       INTEGER,
  files_at      INTEGER,
  counts        TEXT,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  CHECK ((what = 'patient') = (subject_id IS NULL)),
  CHECK ((done_at IS NULL) = (counts IS NULL))
) STRICT;
CREATE INDEX erasure_open ON erasure (org_id, patient_id) WHERE done_at IS NULL OR files_at IS NULL;
