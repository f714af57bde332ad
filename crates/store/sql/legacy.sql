-- name: upsert
INSERT INTO legacy_record (org_id, patient_id, id, format, ordinal, record_hash, record_sealed, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
ON CONFLICT (org_id, patient_id, id) DO UPDATE SET
  record_hash = excluded.record_hash, record_sealed = excluded.record_sealed, updated_at = excluded.updated_at;

-- name: hashes_of_patient
SELECT id, record_hash FROM legacy_record WHERE org_id = $1 AND patient_id = $2;

-- name: of_patient
-- In the order in which they came.
SELECT id, format, record_sealed FROM legacy_record WHERE org_id = $1 AND patient_id = $2 ORDER BY ordinal, id;
