-- What profile events and commands set is kept as it came, and the patient's row is what all of it amounts to: an event
-- that arrives late changes what it would have changed in time.

-- Profile events (S0 principle 3, S2 section 5, S4: cognitive_state).
CREATE TABLE profile_statement (
  org_id                    uuid NOT NULL,
  patient_id                uuid NOT NULL,
  id                        uuid NOT NULL,
  stated_at                 bigint NOT NULL,
  cognitive_state           double precision CHECK (cognitive_state BETWEEN 0 AND 100),
  disclaimer_accepted_at    bigint,
  region_sealed             bytea,
  privacy_tier_sealed       bytea,
  emergency_contacts_sealed bytea,
  created_at                bigint NOT NULL,
  updated_at                bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
);

-- When nothing was to be kept of a patient (S0, /efimero): the mode that counts is the one at a document's own time.
CREATE TABLE ephemeral_mode (
  org_id      uuid NOT NULL,
  patient_id  uuid NOT NULL,
  id          uuid NOT NULL,
  from_at     bigint NOT NULL,
  is_on       smallint NOT NULL CHECK (is_on IN (0, 1)),
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
);

-- Two events of one instant have an order too.
ALTER TABLE conversation_preferences ADD COLUMN stated_by uuid;

DO $$
DECLARE
  tenant text;
BEGIN
  FOREACH tenant IN ARRAY ARRAY['profile_statement', 'ephemeral_mode'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenant);
    EXECUTE format($p$CREATE POLICY organization_in_scope ON %I
      USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid))$p$, tenant);
  END LOOP;
END $$;
