-- fragment: recorded
-- A row of before it was kept was stated when it begins, and not later than it came.
patient_id, id, scope_hash, provision, from_at, until_at,
coalesce(stated_at, CASE WHEN from_at < created_at THEN from_at ELSE created_at END) AS stated_at

-- name: of_patients
SELECT {fragment consents/recorded} FROM consent WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: of_patient
-- The columns of `of_patients`, and those that people see as well.
SELECT {fragment consents/recorded}, scope_sealed, reason_sealed, recorded_by, created_at
FROM consent
WHERE org_id = $1 AND patient_id = $2
ORDER BY from_at, id;

-- name: deciding
-- All that decides whether anything of a patient may be kept.
SELECT patient_id, id FROM consent WHERE org_id = $1 AND patient_id IN {uuids $2}
UNION ALL
SELECT patient_id, id FROM ephemeral_mode WHERE org_id = $1 AND patient_id IN {uuids $2}
UNION ALL
SELECT patient_id, id FROM erasure WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: required
SELECT consent_required FROM organization WHERE org_id = $1;

-- name: patients
SELECT patient_id FROM patient_profile WHERE org_id = $1;
