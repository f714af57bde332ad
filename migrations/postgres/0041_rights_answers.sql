-- Answers to what a person asked for by a message: a report of what is held, an export, what a command would forget or take
-- back. Sealed under the patient's key; they go when their term ends, and with an erasure.
CREATE TABLE rights_answer (
  org_id       uuid NOT NULL REFERENCES organization (org_id),
  patient_id   uuid NOT NULL,
  id           uuid NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('privacy_report', 'export', 'preview')),
  asked_by     uuid NOT NULL,
  answered_at  bigint NOT NULL,
  body_sealed  bytea NOT NULL,
  created_at   bigint NOT NULL,
  updated_at   bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
);
CREATE INDEX rights_answer_age ON rights_answer (org_id, answered_at, id);
ALTER TABLE rights_answer ALTER COLUMN body_sealed SET STORAGE EXTERNAL;
ALTER TABLE rights_answer ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY organization_in_scope ON rights_answer
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid));
