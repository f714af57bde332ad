-- name: insert
-- A hold on a patient who is known: its arguments are `holds::INSERTED`.
INSERT INTO legal_hold (org_id, patient_id, id, document_id, reference_sealed, set_by, set_at, mac, created_at,
    updated_at)
SELECT org_id, patient_id, $3, $4, $5, $6, $7, $8, $7, $7
FROM patient_profile
WHERE org_id = $1 AND patient_id = $2;

-- name: lift
UPDATE legal_hold
SET lifted_by = $4, lifted_at = $5, updated_at = $5
WHERE org_id = $1 AND patient_id = $2 AND id = $3 AND lifted_at IS NULL;

-- name: of_patient
SELECT id, document_id, reference_sealed, set_by, set_at, lifted_by, lifted_at
FROM legal_hold
WHERE org_id = $1 AND patient_id = $2
ORDER BY set_at, id;

-- name: decided
-- What people decided, and a backup from before does not know.
SELECT id, CASE WHEN lifted_at IS NULL THEN 'held' ELSE 'lifted' END AS decision
FROM legal_hold
WHERE org_id = $1
UNION ALL
SELECT id, 'consent' FROM consent WHERE org_id = $1
UNION ALL
SELECT id, 'mode' FROM ephemeral_mode WHERE org_id = $1;

-- name: archived
-- Sources of a patient in the cold archive.
SELECT a.document_id, a.revision, d.document_type, d.occurred_at, a.archived_at, a.content_sealed
FROM document_archive AS a
JOIN documents AS d ON d.org_id = a.org_id AND d.patient_id = a.patient_id
  AND d.document_id = a.document_id AND d.revision = a.revision
WHERE a.org_id = $1 AND a.patient_id = $2
ORDER BY d.occurred_at, a.document_id, a.revision;
