-- Records of older systems as they were imported, redacted and sealed: exported again as they came.
CREATE TABLE legacy_record (
  org_id         BLOB NOT NULL,
  patient_id     BLOB NOT NULL,
  id             BLOB NOT NULL CHECK (length(id) = 16),
  format         TEXT NOT NULL CHECK (format IN ('profile', 'stratum', 'kernle', 'user_memory')),
  ordinal        INTEGER NOT NULL,
  record_hash    BLOB NOT NULL,
  record_sealed  BLOB NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
) STRICT;
