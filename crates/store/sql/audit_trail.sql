-- fragment: entries
SELECT org_id, id, patient_id, at, actor, role, purpose, reason, action, subject_id, outcome, salt, leaf, erased_by,
  block
FROM action_audit
WHERE org_id = $1

-- fragment: blocks
SELECT number, entries, sealed_at, leaves, previous, hash, purged_before FROM audit_block WHERE org_id = $1

-- name: write
-- Entries that are not there yet.
-- rows: action_audit (org_id, patient_id, id, at, actor, role, purpose, reason, action, subject_id, outcome,
--   salt, created_at, updated_at)
INSERT INTO action_audit {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: list
-- Entries of an organisation, newest first. What was done since an instant was sealed since: older blocks are not read.
{fragment audit_trail/entries}
  AND ($2 = '' OR action = $2)
  AND ($3 = '' OR actor = $3 OR substr(actor, 1, length($3) + 5) = $3 || ' via ')
  AND at >= $4 AND at < $5
  AND (block IS NULL OR block >=
    (SELECT coalesce(min(b.number), 0) FROM audit_block AS b WHERE b.org_id = $1 AND b.sealed_at >= $4))
ORDER BY at DESC, id DESC LIMIT $6;

-- name: of_patient
-- Entries of a patient, newest first. Same columns as `list`.
{fragment audit_trail/entries}
  AND patient_id = $2
  AND ($3 = '' OR action = $3)
  AND ($4 = '' OR actor = $4 OR substr(actor, 1, length($4) + 5) = $4 || ' via ')
  AND at >= $5 AND at < $6
ORDER BY at DESC, id DESC LIMIT $7;

-- name: unsealed
-- Entries that belong to no block yet, oldest first. Same columns as `list`.
{fragment audit_trail/entries} AND block IS NULL ORDER BY id LIMIT $2;

-- name: last_block
{fragment audit_trail/blocks} ORDER BY number DESC LIMIT 1;

-- name: first_block
-- Same columns as `last_block`.
{fragment audit_trail/blocks} ORDER BY number LIMIT 1;

-- name: last_block_at
-- The newest block at an instant. Same columns as `last_block`.
{fragment audit_trail/blocks} AND sealed_at <= $2 ORDER BY number DESC LIMIT 1;

-- name: insert_block
-- A block; of two sealers at once, one makes it.
INSERT INTO audit_block (org_id, number, entries, sealed_at, leaves, previous, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (org_id, number) DO NOTHING;

-- name: seal
-- Puts entries into a block.
UPDATE action_audit SET block = $3 WHERE org_id = $1 AND id IN {uuids $2} AND block IS NULL;

-- name: purgeable
-- A page of the blocks that were sealed before an instant and have their entries.
SELECT number
FROM audit_block
WHERE org_id = $1 AND purged_before IS NULL AND sealed_at < $2 AND number > $3
ORDER BY number LIMIT $4;

-- name: mark_purged
-- That the entries of these blocks are gone.
UPDATE audit_block SET purged_before = $3 WHERE org_id = $1 AND number IN {ints $2} AND purged_before IS NULL;

-- name: purge
-- Removes the entries of these blocks.
DELETE FROM action_audit WHERE org_id = $1 AND block IN {ints $2};
