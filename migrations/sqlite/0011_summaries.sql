-- Accounts of a document, a conversation, a week or a quarter: what each was last made from. Counts and ids; the words are
-- sealed with the memory and, where it has one, the document of the account.
CREATE TABLE summary (
  org_id      BLOB NOT NULL,
  patient_id  BLOB NOT NULL,
  id          BLOB NOT NULL CHECK (length(id) = 16),
  stretch     TEXT NOT NULL CHECK (stretch IN ('document', 'session', 'week', 'quarter')),
  from_at     INTEGER NOT NULL,
  until_at    INTEGER NOT NULL,
  facts       INTEGER NOT NULL,
  input_id    BLOB NOT NULL,
  made_at     INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
) STRICT, WITHOUT ROWID;
