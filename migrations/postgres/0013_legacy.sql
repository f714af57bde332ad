-- Records of older systems as they were imported, redacted and sealed: exported again as they came.
CREATE TABLE legacy_record (
  org_id         uuid NOT NULL,
  patient_id     uuid NOT NULL,
  id             uuid NOT NULL,
  format         text NOT NULL CHECK (format IN ('profile', 'stratum', 'kernle', 'user_memory')),
  ordinal        bigint NOT NULL,
  record_hash    bytea NOT NULL,
  record_sealed  bytea NOT NULL,
  created_at     bigint NOT NULL,
  updated_at     bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
);

ALTER TABLE legacy_record ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY organization_in_scope ON legacy_record
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid));
