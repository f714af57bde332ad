-- name: statement
-- rows: profile_statement (org_id, patient_id, id, stated_at, cognitive_state, disclaimer_accepted_at,
--   region_sealed, privacy_tier_sealed, emergency_contacts_sealed, created_at, updated_at, mac)
INSERT INTO profile_statement {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: statements_of
-- All that was stated of patients.
SELECT patient_id, id, stated_at, cognitive_state, disclaimer_accepted_at, region_sealed, privacy_tier_sealed,
    emergency_contacts_sealed
FROM profile_statement
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: project
-- What statements amount to, on the patient's own row.
-- rows: patient_profile (org_id, patient_id, cognitive_state, cognitive_state_at, disclaimer_accepted_at,
--   region_sealed, privacy_tier_sealed, emergency_contacts_sealed, profile_at, privacy_tier, country,
--   updated_at)
UPDATE patient_profile
SET cognitive_state = r.cognitive_state, cognitive_state_at = r.cognitive_state_at,
    disclaimer_accepted_at = r.disclaimer_accepted_at, region_sealed = r.region_sealed,
    privacy_tier_sealed = r.privacy_tier_sealed, emergency_contacts_sealed = r.emergency_contacts_sealed,
    profile_at = r.profile_at, privacy_tier = r.privacy_tier, country = r.country, updated_at = r.updated_at
FROM {rows} AS r
WHERE patient_profile.org_id = r.org_id AND patient_profile.patient_id = r.patient_id;

-- name: mark_retention_unevaluated
-- Another tier or country: when each source is due is computed anew.
UPDATE documents
SET retention_evaluated = 0
WHERE org_id = $1 AND patient_id IN {uuids $2} AND retention_state IS NULL AND retention_evaluated = 1;

-- name: cognitive_states
SELECT patient_id, id, stated_at, cognitive_state
FROM profile_statement
WHERE org_id = $1 AND patient_id IN {uuids $2} AND cognitive_state IS NOT NULL;

-- name: groups_weighed
-- What has no confidence given depends on how the patient was when it was said.
SELECT DISTINCT patient_id, group_hash
FROM extracted_findings
WHERE org_id = $1 AND patient_id IN {uuids $2} AND confidence_basis = 'default' AND document_type IS NOT NULL;

-- name: preference
-- The latest of each key stands.
-- rows: conversation_preferences (org_id, patient_id, key_hash, key_sealed, value_sealed, source, confidence,
--   stated_at, stated_by, created_at, updated_at)
INSERT INTO conversation_preferences {rows}
ON CONFLICT (org_id, patient_id, key_hash) DO UPDATE SET {updated}
WHERE excluded.stated_at > conversation_preferences.stated_at
  OR (excluded.stated_at = conversation_preferences.stated_at
    AND (conversation_preferences.stated_by IS NULL
      OR excluded.stated_by > conversation_preferences.stated_by));

-- name: mode
-- rows: ephemeral_mode (org_id, patient_id, id, from_at, is_on, created_at, updated_at, mac)
INSERT INTO ephemeral_mode {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: modes_of
-- All switches of the ephemeral mode of patients.
SELECT patient_id, id, from_at, is_on FROM ephemeral_mode WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: project_mode
-- rows: patient_profile (org_id, patient_id, ephemeral, updated_at)
UPDATE patient_profile
SET ephemeral = r.ephemeral, updated_at = r.updated_at
FROM {rows} AS r
WHERE patient_profile.org_id = r.org_id AND patient_profile.patient_id = r.patient_id;
