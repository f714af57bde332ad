-- name: held
-- Memories of a patient that are not forgotten yet. A raw capture has no words.
SELECT id
FROM memory
WHERE org_id = $1 AND patient_id = $2 AND kind <> 'raw' AND state NOT IN ('inactive', 'quarantined')
ORDER BY id;

-- name: drop_quarantined
-- Ids and codes stay; what a legal hold keeps stays whole.
UPDATE quarantine
SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL, updated_at = $4
WHERE key_org_id = $1 AND key_patient_id = $2 AND created_at >= $3 AND body_sealed IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM legal_hold AS h
        WHERE h.org_id = $1 AND h.patient_id = $2 AND h.lifted_at IS NULL);
