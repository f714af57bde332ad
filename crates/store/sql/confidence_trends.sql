-- name: said
-- What patients said. A proxy's confidence is no patient's state; what a model formed or a device measured is no statement.
SELECT patient_id, asserted_at, initial_confidence, confidence_basis, kind, entity_type, document_type,
    source_type, set_by
FROM extracted_findings
WHERE org_id = $1 AND patient_id IN {uuids $2} AND live = 1 AND is_proxy = 0
  AND confidence_basis IN ('given', 'cognitive_state', 'default')
  AND document_type IS NOT NULL AND document_type <> 'analysis' AND tombstone_of IS NULL AND recorded_at <= $3
ORDER BY patient_id, asserted_at, id;

-- name: states
SELECT patient_id, id, stated_at, cognitive_state
FROM profile_statement
WHERE org_id = $1 AND patient_id IN {uuids $2} AND cognitive_state IS NOT NULL;

-- name: readings
-- Readings of devices.
SELECT patient_id, id, asserted_at, payload_sealed
FROM extracted_findings
WHERE org_id = $1 AND patient_id IN {uuids $2} AND entity_type = 'health_signal' AND live = 1
  AND tombstone_of IS NULL AND recorded_at <= $3
ORDER BY patient_id, asserted_at, id;

-- name: medicines
-- Those of standing, as the clinical store has them; one that is denied was never taken.
SELECT patient_id, memory_id, name_sealed, since, until, status
FROM medications
WHERE org_id = $1 AND patient_id IN {uuids $2} AND status <> 'not_taken'
ORDER BY patient_id, memory_id;

-- name: of_patients
SELECT patient_id, input_id, alert FROM confidence_course WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: zone
SELECT time_zone FROM organization WHERE org_id = $1;

-- name: keep
-- The instant of an alert stays while there is one.
-- rows: confidence_course (org_id, patient_id, input_id, course_sealed, alert, alerted_at, as_of, created_at,
--   updated_at)
INSERT INTO confidence_course {rows}
ON CONFLICT (org_id, patient_id) DO UPDATE
SET input_id = excluded.input_id, course_sealed = excluded.course_sealed, alert = excluded.alert,
    alerted_at = CASE
        WHEN confidence_course.alert IS NULL OR excluded.alert IS NULL THEN excluded.alerted_at
        ELSE confidence_course.alerted_at
    END,
    as_of = excluded.as_of, updated_at = excluded.updated_at;

-- name: of_patient
SELECT course_sealed, alerted_at, as_of FROM confidence_course WHERE org_id = $1 AND patient_id = $2;
