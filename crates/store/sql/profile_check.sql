-- name: profiles
SELECT patient_id, cognitive_state, cognitive_state_at, disclaimer_accepted_at, profile_at, privacy_tier,
    country, ephemeral, region_sealed, privacy_tier_sealed, emergency_contacts_sealed
FROM patient_profile
WHERE org_id = $1 AND patient_id IN {uuids $2};
