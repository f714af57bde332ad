-- Accounts of a document, a conversation, a week or a quarter: what each was last made from. Counts and ids; the words are
-- sealed with the memory and, where it has one, the document of the account.
CREATE TABLE summary (
  org_id      uuid NOT NULL,
  patient_id  uuid NOT NULL,
  id          uuid NOT NULL,
  stretch     text NOT NULL CHECK (stretch IN ('document', 'session', 'week', 'quarter')),
  from_at     bigint NOT NULL,
  until_at    bigint NOT NULL,
  facts       bigint NOT NULL,
  input_id    uuid NOT NULL,
  made_at     bigint NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
);

ALTER TABLE summary ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY organization_in_scope ON summary
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid));
