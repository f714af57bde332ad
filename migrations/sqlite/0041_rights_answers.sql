-- Answers to what a person asked for by a message: a report of what is held, an export, what a command would forget or take
-- back. Sealed under the patient's key; they go when their term ends, and with an erasure.
CREATE TABLE rights_answer (
  org_id       BLOB NOT NULL REFERENCES organization (org_id),
  patient_id   BLOB NOT NULL,
  id           BLOB NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('privacy_report', 'export', 'preview')),
  asked_by     BLOB NOT NULL,
  answered_at  INTEGER NOT NULL,
  body_sealed  BLOB NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
) STRICT;
CREATE INDEX rights_answer_age ON rights_answer (org_id, answered_at, id);
