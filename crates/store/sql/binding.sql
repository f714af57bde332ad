-- name: binding
-- What the store remembers of its key store.
SELECT key_store_id, check_value, generation FROM key_binding WHERE one = 1;

-- name: bind
INSERT INTO key_binding (one, key_store_id, check_value, generation, created_at, updated_at)
VALUES (1, $1, $2, $3, $4, $4)
ON CONFLICT (one) DO NOTHING;

-- name: seen
-- The newest generation of the key store whose keys rows use.
UPDATE key_binding SET generation = $1, updated_at = $2 WHERE one = 1 AND generation < $1;

-- name: served
-- That a worker serves the store, once.
UPDATE key_binding SET served_at = $1, updated_at = $1 WHERE one = 1 AND served_at IS NULL;

-- name: was_served
SELECT served_at FROM key_binding WHERE one = 1 AND served_at IS NOT NULL;

-- name: any_patient
-- Whether the organisation has patients.
SELECT patient_id FROM patient_profile WHERE org_id = $1 LIMIT 1;

-- name: any_quarantined
-- A quarantined message whose body is kept.
SELECT id, body_sealed FROM quarantine WHERE body_sealed IS NOT NULL LIMIT 1;

-- name: organizations
SELECT org_id FROM organization ORDER BY org_id;

-- name: patients
-- A page of the patients of an organisation.
SELECT patient_id FROM patient_profile WHERE org_id = $1 AND patient_id > $2 ORDER BY patient_id LIMIT $3;

-- name: known
-- Those of these patients that the store knows.
SELECT patient_id FROM patient_profile WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: document
-- A document whose content is kept.
SELECT patient_id, document_id, revision, content_sealed
FROM documents
WHERE org_id = $1 AND length(content_sealed) > 0 LIMIT 1;
