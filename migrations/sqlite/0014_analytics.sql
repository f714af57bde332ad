-- How sure each patient's statements were over time, as last reckoned; whether somebody was told.
CREATE TABLE confidence_course (
  org_id         BLOB NOT NULL,
  patient_id     BLOB NOT NULL,
  input_id       BLOB NOT NULL,
  course_sealed  BLOB NOT NULL,
  alert          TEXT CHECK (alert IN ('below_baseline', 'below_threshold')),
  alerted_at     INTEGER,
  as_of          INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
) STRICT, WITHOUT ROWID;

-- Counts over patients of an organisation in a month that is over: rare ones are left out, the others rounded.
CREATE TABLE cohort_pattern (
  org_id      BLOB NOT NULL,
  month       TEXT NOT NULL,
  dimension   TEXT NOT NULL,
  value       TEXT NOT NULL,
  patients    INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, month, dimension, value)
) STRICT, WITHOUT ROWID;
