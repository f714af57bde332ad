-- name: keep
-- Answers to what a person asked for. The same request twice is answered once.
-- rows: rights_answer (org_id, patient_id, id, kind, asked_by, answered_at, body_sealed, created_at, updated_at)
INSERT INTO rights_answer {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: states
-- The memories that answers are about.
SELECT patient_id, id, state, entity_type, negated
FROM memory
WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: list
-- The answers to a patient, oldest first, without their content.
SELECT id, kind, asked_by, answered_at
FROM rights_answer
WHERE org_id = $1 AND patient_id = $2
ORDER BY answered_at, id;

-- name: show
-- One answer: the columns of `list`, and its content.
SELECT id, kind, asked_by, answered_at, body_sealed
FROM rights_answer
WHERE org_id = $1 AND patient_id = $2 AND id = $3;
