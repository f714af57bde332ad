-- How long sources are kept. Tiers and countries lie in the clear: enums that a job compares.
ALTER TABLE organization ADD COLUMN privacy_tier text
  CHECK (privacy_tier IN ('standard', 'summary_only', 'drop_source', 'cold_archive'));
ALTER TABLE organization ADD COLUMN country text;
ALTER TABLE patient_profile ADD COLUMN privacy_tier text
  CHECK (privacy_tier IN ('standard', 'summary_only', 'drop_source', 'cold_archive'));
ALTER TABLE patient_profile ADD COLUMN country text;

-- What became of a document's source and since when; when it is due, as far as that was reckoned.
ALTER TABLE documents ADD COLUMN fate text CHECK (fate IN ('summary_only', 'source_dropped', 'archived'));
ALTER TABLE documents ADD COLUMN fate_at bigint;
ALTER TABLE documents ADD COLUMN reckoned smallint NOT NULL DEFAULT 0 CHECK (reckoned IN (0, 1));
ALTER TABLE documents ADD COLUMN retention_due_at bigint;
CREATE INDEX documents_unreckoned ON documents (org_id, patient_id, document_id, revision) WHERE reckoned = 0;
CREATE INDEX documents_retention ON documents (org_id, retention_due_at, patient_id, document_id, revision)
  WHERE fate IS NULL AND reckoned = 1 AND retention_due_at IS NOT NULL;

-- Sources that left every search: read by name only.
CREATE TABLE document_archive (
  org_id          uuid NOT NULL,
  patient_id      uuid NOT NULL,
  document_id     uuid NOT NULL,
  revision        bigint NOT NULL,
  content_sealed  bytea NOT NULL,
  archived_at     bigint NOT NULL,
  created_at      bigint NOT NULL,
  updated_at      bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, document_id, revision),
  FOREIGN KEY (org_id, patient_id, document_id, revision)
    REFERENCES documents (org_id, patient_id, document_id, revision) ON DELETE CASCADE
);

-- A legal hold: nothing of the patient, or of one document, goes until it is lifted. Whole-patient where no document is named.
CREATE TABLE legal_hold (
  org_id            uuid NOT NULL,
  patient_id        uuid NOT NULL,
  id                uuid NOT NULL,
  document_id       uuid,
  reference_sealed  bytea,
  set_by            uuid NOT NULL,
  set_at            bigint NOT NULL,
  lifted_by         uuid,
  lifted_at         bigint,
  created_at        bigint NOT NULL,
  updated_at        bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK ((lifted_by IS NULL) = (lifted_at IS NULL))
);

DO $$
DECLARE
  tenant text;
BEGIN
  FOREACH tenant IN ARRAY ARRAY['document_archive', 'legal_hold'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenant);
    EXECUTE format($p$CREATE POLICY organization_in_scope ON %I
      USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid))$p$, tenant);
  END LOOP;
END $$;
