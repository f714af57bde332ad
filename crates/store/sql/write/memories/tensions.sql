-- name: stated
-- What a model inferred, and what ends by itself, opposes nothing for good: its time passes without a fold.
SELECT patient_id, id, experiencer, valid_from, content_sealed, evidence_sealed
FROM (SELECT patient_id, id, experiencer, valid_from, content_sealed, evidence_sealed,
        row_number() OVER (PARTITION BY patient_id ORDER BY valid_from DESC, id) AS place
    FROM memory
    WHERE org_id = $1 AND patient_id IN {uuids $2} AND state = 'active' AND class <> 'inference'
        AND expires_at IS NULL AND entity_type IN ('preference', 'goal', 'relationship')) AS stated
WHERE place <= $3
ORDER BY patient_id, place;

-- name: delete_compared
-- Of these groups, the pairs with a memory that is compared anew, or with one that is no longer among the newest.
DELETE FROM contradiction
WHERE org_id = $1 AND (patient_id, group_hash) IN {keyed $2}
    AND (kept_id IN {uuids $3} OR claim_id IN {uuids $3} OR kept_id NOT IN {uuids $4} OR claim_id NOT IN {uuids $4});
