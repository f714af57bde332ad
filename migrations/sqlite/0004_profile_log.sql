-- What profile events and commands set is kept as it came, and the patient's row is what all of it amounts to: an event
-- that arrives late changes what it would have changed in time.

-- Profile events (S0 principle 3, S2 section 5, S4: cognitive_state).
CREATE TABLE profile_statement (
  org_id                    BLOB NOT NULL,
  patient_id                BLOB NOT NULL,
  id                        BLOB NOT NULL CHECK (length(id) = 16),
  stated_at                 INTEGER NOT NULL,
  cognitive_state           REAL CHECK (cognitive_state BETWEEN 0 AND 100),
  disclaimer_accepted_at    INTEGER,
  region_sealed             BLOB,
  privacy_tier_sealed       BLOB,
  emergency_contacts_sealed BLOB,
  created_at                INTEGER NOT NULL,
  updated_at                INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
) STRICT;

-- When nothing was to be kept of a patient (S0, /efimero): the mode that counts is the one at a document's own time.
CREATE TABLE ephemeral_mode (
  org_id      BLOB NOT NULL,
  patient_id  BLOB NOT NULL,
  id          BLOB NOT NULL CHECK (length(id) = 16),
  from_at     INTEGER NOT NULL,
  is_on       INTEGER NOT NULL CHECK (is_on IN (0, 1)),
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
) STRICT;

-- Two events of one instant have an order too.
ALTER TABLE conversation_preferences ADD COLUMN stated_by BLOB;
