-- How sure each patient's statements were over time, as last reckoned; whether somebody was told.
CREATE TABLE confidence_course (
  org_id         uuid NOT NULL,
  patient_id     uuid NOT NULL,
  input_id       uuid NOT NULL,
  course_sealed  bytea NOT NULL,
  alert          text CHECK (alert IN ('below_baseline', 'below_threshold')),
  alerted_at     bigint,
  as_of          bigint NOT NULL,
  created_at     bigint NOT NULL,
  updated_at     bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
);

-- Counts over patients of an organisation in a month that is over: rare ones are left out, the others rounded.
CREATE TABLE cohort_pattern (
  org_id      uuid NOT NULL,
  month       text NOT NULL,
  dimension   text NOT NULL,
  value       text NOT NULL,
  patients    bigint NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, month, dimension, value)
);

DO $$
DECLARE
  tenant text;
BEGIN
  FOREACH tenant IN ARRAY ARRAY['confidence_course', 'cohort_pattern'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenant);
    EXECUTE format($p$CREATE POLICY organization_in_scope ON %I
      USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid))$p$, tenant);
  END LOOP;
END $$;
