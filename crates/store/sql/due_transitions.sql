-- fragment: columns
patient_id, id, class, state, state_at, recorded_at, last_confirmed_at, expires_at, cycle, confidence, kind, ends_at

-- name: time_bound
-- Active time-bound states by their last confirmation. The lists of classes repeat the conditions of the partial
-- indexes: SQLite uses an index only for its own words.
SELECT last_confirmed_at AS instant, {fragment due_transitions/columns}
FROM memory
WHERE org_id = $1 AND state = 'active' AND class = 'time_bound_state'
  AND class IN ('time_bound_state', 'health_signal')
  AND last_confirmed_at <= $2 AND (last_confirmed_at, patient_id, id) > ($3, $4, $5)
ORDER BY last_confirmed_at, patient_id, id LIMIT $6 {skip_locked};

-- name: signals
-- Active health signals by their last synchronisation. Same columns as `time_bound`.
SELECT last_confirmed_at AS instant, {fragment due_transitions/columns}
FROM memory
WHERE org_id = $1 AND state = 'active' AND class = 'health_signal'
  AND class IN ('time_bound_state', 'health_signal')
  AND last_confirmed_at <= $2 AND (last_confirmed_at, patient_id, id) > ($3, $4, $5)
ORDER BY last_confirmed_at, patient_id, id LIMIT $6 {skip_locked};

-- name: expiring
-- Active rows of any class that expire, by the instant at which they do. Same columns as `time_bound`.
SELECT expires_at AS instant, {fragment due_transitions/columns}
FROM memory
WHERE org_id = $1 AND state = 'active' AND expires_at IS NOT NULL
  AND expires_at <= $2 AND (expires_at, patient_id, id) > ($3, $4, $5)
ORDER BY expires_at, patient_id, id LIMIT $6 {skip_locked};

-- name: unasked
-- Active time-bound states of which no confirmation was asked in this cycle, by their last one. Same columns as
-- `time_bound`.
SELECT last_confirmed_at AS instant, {fragment due_transitions/columns}
FROM memory
WHERE org_id = $1 AND state = 'active' AND class = 'time_bound_state'
  AND reconfirm_due_at IS NULL
  AND last_confirmed_at <= $2 AND (last_confirmed_at, patient_id, id) > ($3, $4, $5)
ORDER BY last_confirmed_at, patient_id, id LIMIT $6 {skip_locked};

-- name: move_memories
-- Memories that time moves to another state.
-- rows: memory (org_id, patient_id, id, state, since int, now int)
UPDATE memory
SET state = r.state, state_at = r.since, valid_to = r.since, updated_at = r.now
FROM {rows} AS r
WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id
  AND memory.state = 'active';

-- name: move_conditions
-- The clinical rows of such memories. Same columns as `move_memories`.
-- rows: conditions (org_id, patient_id, id uuid, state text, since int, now int)
UPDATE conditions
SET status = r.state, updated_at = r.now
FROM {rows} AS r
WHERE conditions.org_id = r.org_id AND conditions.patient_id = r.patient_id
  AND conditions.memory_id = r.id;

-- name: move_allergies
-- Same columns as `move_memories`.
-- rows: allergies (org_id, patient_id, id uuid, state text, since int, now int)
UPDATE allergies
SET status = r.state, updated_at = r.now
FROM {rows} AS r
WHERE allergies.org_id = r.org_id AND allergies.patient_id = r.patient_id
  AND allergies.memory_id = r.id;

-- name: move_medications
-- Same columns as `move_memories`.
-- rows: medications (org_id, patient_id, id uuid, state text, since int, now int)
UPDATE medications
SET status = r.state, updated_at = r.now
FROM {rows} AS r
WHERE medications.org_id = r.org_id AND medications.patient_id = r.patient_id
  AND medications.memory_id = r.id;

-- name: move_symptoms
-- Same columns as `move_memories`.
-- rows: symptom_states (org_id, patient_id, id uuid, state text, since int, now int)
UPDATE symptom_states
SET status = r.state, updated_at = r.now
FROM {rows} AS r
WHERE symptom_states.org_id = r.org_id AND symptom_states.patient_id = r.patient_id
  AND symptom_states.memory_id = r.id;

-- name: move_appointments
-- Same columns as `move_memories`.
-- rows: appointments (org_id, patient_id, id uuid, state text, since int, now int)
UPDATE appointments
SET status = r.state, updated_at = r.now
FROM {rows} AS r
WHERE appointments.org_id = r.org_id AND appointments.patient_id = r.patient_id
  AND appointments.memory_id = r.id;

-- name: move_signals
-- Same columns as `move_memories`.
-- rows: health_signals (org_id, patient_id, id uuid, state text, since int, now int)
UPDATE health_signals
SET status = r.state, updated_at = r.now
FROM {rows} AS r
WHERE health_signals.org_id = r.org_id AND health_signals.patient_id = r.patient_id
  AND health_signals.memory_id = r.id;

-- name: ask
-- Since when a confirmation is due, once per cycle.
-- rows: memory (org_id, patient_id, id, due int, now int)
UPDATE memory
SET reconfirm_due_at = r.due, updated_at = r.now
FROM {rows} AS r
WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id
  AND memory.state = 'active' AND memory.reconfirm_due_at IS NULL;
