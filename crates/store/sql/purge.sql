-- name: expired
-- The list of states repeats the condition of the partial index `memory_purge`, by which an engine finds it.
SELECT state_at, patient_id, id
FROM memory
WHERE org_id = $1 AND state = 'expired' AND state IN ('expired', 'inactive') AND {fragment purge/kept_after};

-- name: forgotten
-- Same columns as `expired`.
SELECT state_at, patient_id, id
FROM memory
WHERE org_id = $1 AND state = 'inactive' AND state IN ('expired', 'inactive') AND {fragment purge/kept_after};

-- fragment: kept_after
-- Memories with words that no legal hold keeps, after a place.
content_sealed IS NOT NULL AND state_at <= $2
  AND NOT EXISTS (SELECT 1 FROM legal_hold AS h
    WHERE h.org_id = memory.org_id AND h.patient_id = memory.patient_id AND h.lifted_at IS NULL
      AND (h.document_id IS NULL OR h.document_id = memory.document_id))
  AND (state_at, patient_id, id) > ($3, $4, $5)
ORDER BY state_at, patient_id, id LIMIT $6
