-- name: condition
-- rows: conditions (org_id, patient_id, memory_id, name_sealed, code_sealed, status, experiencer, trust,
--   set_by, since, created_at, updated_at)
INSERT INTO conditions {rows}
ON CONFLICT (org_id, patient_id, memory_id) DO UPDATE SET {updated};

-- name: allergy
-- rows: allergies (org_id, patient_id, memory_id, substance_sealed, reaction_sealed, status, trust, set_by,
--   since, created_at, updated_at)
INSERT INTO allergies {rows}
ON CONFLICT (org_id, patient_id, memory_id) DO UPDATE SET {updated};

-- name: medication
-- rows: medications (org_id, patient_id, memory_id, name_sealed, dose_sealed, route_sealed,
--   frequency_sealed, status, trust, set_by, since, until, created_at, updated_at)
INSERT INTO medications {rows}
ON CONFLICT (org_id, patient_id, memory_id) DO UPDATE SET {updated};

-- name: symptom
-- rows: symptom_states (org_id, patient_id, memory_id, name_sealed, severity, status, trust, set_by, onset,
--   last_confirmed_at, expires_at, created_at, updated_at)
INSERT INTO symptom_states {rows}
ON CONFLICT (org_id, patient_id, memory_id) DO UPDATE SET {updated};

-- name: appointment
-- rows: appointments (org_id, patient_id, memory_id, title_sealed, status, at, set_by, created_at,
--   updated_at)
INSERT INTO appointments {rows}
ON CONFLICT (org_id, patient_id, memory_id) DO UPDATE SET {updated};

-- name: signal
-- rows: health_signals (org_id, patient_id, memory_id, metric_hash, reading_sealed, status, synced_at,
--   created_at, updated_at)
INSERT INTO health_signals {rows}
ON CONFLICT (org_id, patient_id, memory_id) DO UPDATE SET {updated};

-- name: delete_conditions
DELETE FROM conditions WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2};

-- name: delete_allergies
DELETE FROM allergies WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2};

-- name: delete_medications
DELETE FROM medications WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2};

-- name: delete_symptoms
DELETE FROM symptom_states WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2};

-- name: delete_appointments
DELETE FROM appointments WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2};

-- name: delete_signals
DELETE FROM health_signals WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2};
