-- How long sources are kept. Tiers and countries lie in the clear: enums that a job compares.
ALTER TABLE organization ADD COLUMN privacy_tier TEXT
  CHECK (privacy_tier IN ('standard', 'summary_only', 'drop_source', 'cold_archive'));
ALTER TABLE organization ADD COLUMN country TEXT;
ALTER TABLE patient_profile ADD COLUMN privacy_tier TEXT
  CHECK (privacy_tier IN ('standard', 'summary_only', 'drop_source', 'cold_archive'));
ALTER TABLE patient_profile ADD COLUMN country TEXT;

-- What became of a document's source and since when; when it is due, as far as that was reckoned.
ALTER TABLE documents ADD COLUMN fate TEXT CHECK (fate IN ('summary_only', 'source_dropped', 'archived'));
ALTER TABLE documents ADD COLUMN fate_at INTEGER;
ALTER TABLE documents ADD COLUMN reckoned INTEGER NOT NULL DEFAULT 0 CHECK (reckoned IN (0, 1));
ALTER TABLE documents ADD COLUMN retention_due_at INTEGER;
CREATE INDEX documents_unreckoned ON documents (org_id, patient_id, document_id, revision) WHERE reckoned = 0;
CREATE INDEX documents_retention ON documents (org_id, retention_due_at, patient_id, document_id, revision)
  WHERE fate IS NULL AND reckoned = 1 AND retention_due_at IS NOT NULL;

-- Sources that left every search: read by name only.
CREATE TABLE document_archive (
  org_id          BLOB NOT NULL,
  patient_id      BLOB NOT NULL,
  document_id     BLOB NOT NULL,
  revision        INTEGER NOT NULL,
  content_sealed  BLOB NOT NULL,
  archived_at     INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, document_id, revision),
  FOREIGN KEY (org_id, patient_id, document_id, revision)
    REFERENCES documents (org_id, patient_id, document_id, revision) ON DELETE CASCADE
) STRICT;

-- A legal hold: nothing of the patient, or of one document, goes until it is lifted. Whole-patient where no document is named.
CREATE TABLE legal_hold (
  org_id            BLOB NOT NULL,
  patient_id        BLOB NOT NULL,
  id                BLOB NOT NULL CHECK (length(id) = 16),
  document_id       BLOB,
  reference_sealed  BLOB,
  set_by            BLOB NOT NULL,
  set_at            INTEGER NOT NULL,
  lifted_by         BLOB,
  lifted_at         INTEGER,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK ((lifted_by IS NULL) = (lifted_at IS NULL))
) STRICT;
