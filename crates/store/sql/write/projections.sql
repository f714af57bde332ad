-- name: groups
SELECT DISTINCT patient_id, group_hash FROM extracted_findings WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: stored_memories
-- Memories with what the fold decides of them and nothing seals.
SELECT patient_id, id, group_hash, content_sealed IS NULL AS lacks_words,
    attribute_hash, kind, class, entity_type, sensitivity, state, contested, ungrounded, source_type, epistemic,
    is_proxy, trust, set_by, negated, experiencer, extraction_confidence, initial_confidence, confidence_basis,
    confidence, times_reinforced, verification_count, last_verified, is_protected, cycle, valid_from, valid_to,
    last_confirmed_at, expires_at, state_at, supersedes, superseded_by, ends_at
FROM memory
WHERE org_id = $1 AND patient_id IN {uuids $2} AND kind <> 'raw';

-- name: conditions
-- What is clear of clinical rows, here and in the five statements behind: the columns that `clinical_clear` answers,
-- in its order, behind the key.
SELECT patient_id, memory_id, status, experiencer, trust, set_by, since
FROM conditions
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: allergies
SELECT patient_id, memory_id, status, trust, set_by, since
FROM allergies
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: medications
SELECT patient_id, memory_id, status, trust, set_by, since, until
FROM medications
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: symptom_states
SELECT patient_id, memory_id, severity, status, trust, set_by, onset, last_confirmed_at, expires_at
FROM symptom_states
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: appointments
SELECT patient_id, memory_id, status, at, set_by
FROM appointments
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: health_signals
SELECT patient_id, memory_id, status, synced_at
FROM health_signals
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: mark_unwritten
-- The fold writes these memories again; words that are missing are sealed again, too.
UPDATE memory
SET fold_hash = NULL, finding_id = CASE WHEN content_sealed IS NULL AND state NOT IN ('inactive', 'expired')
    THEN NULL ELSE finding_id END
WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};
