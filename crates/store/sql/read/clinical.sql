-- name: of_patient
-- `words_sealed` is a name, a substance, a title or a reading; `detail_sealed` a dose, a code or a reaction.
-- Medications first: PostgreSQL takes the types of the columns from the first branch.
SELECT 'medication' AS entity_type, memory_id, name_sealed AS words_sealed, dose_sealed AS detail_sealed,
    route_sealed, frequency_sealed, until AS at
FROM medications
WHERE org_id = $1 AND patient_id = $2
UNION ALL
SELECT 'condition', memory_id, name_sealed, code_sealed, NULL, NULL, NULL
FROM conditions
WHERE org_id = $1 AND patient_id = $2
UNION ALL
SELECT 'allergy', memory_id, substance_sealed, reaction_sealed, NULL, NULL, NULL
FROM allergies
WHERE org_id = $1 AND patient_id = $2
UNION ALL
SELECT 'symptom', memory_id, name_sealed, NULL, NULL, NULL, NULL
FROM symptom_states
WHERE org_id = $1 AND patient_id = $2
UNION ALL
SELECT 'appointment', memory_id, title_sealed, NULL, NULL, NULL, at
FROM appointments
WHERE org_id = $1 AND patient_id = $2
UNION ALL
SELECT 'health_signal', memory_id, reading_sealed, NULL, NULL, NULL, synced_at
FROM health_signals
WHERE org_id = $1 AND patient_id = $2;
