-- name: blocks
-- A page of the blocks of a chain. Same columns as `audit_trail/last_block`.
{fragment audit_trail/blocks} AND number > $2 ORDER BY number LIMIT 500;

-- name: by_block
-- The entries of a block. Same columns as `audit_trail/list`.
{fragment audit_trail/entries} AND block = $2 ORDER BY id;

-- name: outside
-- A page of the entries that belong to no block, or to one that is not there. Same columns as `audit_trail/list`.
{fragment audit_trail/entries}
  AND id > $2
  AND (block IS NULL
    OR NOT EXISTS (SELECT 1 FROM audit_block AS b WHERE b.org_id = $1 AND b.number = action_audit.block))
ORDER BY id LIMIT $3;

-- name: erase
-- Takes the patient and the persons out of entries, whose leaves stay.
-- rows: action_audit (org_id, patient_id, id, nobody uuid, salt, leaf, erased_by, now int)
UPDATE action_audit
SET patient_id = r.nobody, actor = '', role = NULL, purpose = NULL, reason = NULL, subject_id = NULL,
  salt = r.salt, leaf = r.leaf, erased_by = r.erased_by, updated_at = r.now
FROM {rows} AS r
WHERE action_audit.org_id = r.org_id AND action_audit.patient_id = r.patient_id AND action_audit.id = r.id;
