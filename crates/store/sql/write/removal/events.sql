-- name: of_patient
SELECT id, event_type, body_sealed, published_at
FROM outbox
WHERE org_id = $1 AND patient_id = $2 AND event_type <> 'anamnesis.erasure.completed.v1';

-- name: delete
DELETE FROM outbox WHERE org_id = $1 AND id IN {uuids $2};
