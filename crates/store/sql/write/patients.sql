-- name: patient
-- rows: patient_profile (org_id, patient_id, created_at, updated_at)
INSERT INTO patient_profile {rows} ON CONFLICT (org_id, patient_id) DO NOTHING;

-- name: consent
-- rows: consent (org_id, patient_id, id, scope_hash, scope_sealed, reason_sealed, provision, from_at,
--   until_at, recorded_by, stated_at, created_at, updated_at, mac)
INSERT INTO consent {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: hold
-- What is folded is read, decided and written: another worker's half of the same patient must not come in between.
SELECT patient_id
FROM patient_profile
WHERE org_id = $1 AND patient_id IN {uuids $2}
ORDER BY patient_id {for_update};
