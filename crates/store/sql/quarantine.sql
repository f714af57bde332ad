-- fragment: reopen
-- One that was tried again and came back is open again, as it may be kept today; so is one whose body is gone because
-- its term ended, which begins anew. A redelivery of any other changes nothing.
ON CONFLICT (id) DO UPDATE SET state = 'open', noticed_at = NULL, updated_at = excluded.updated_at,
  key_org_id = excluded.key_org_id, key_patient_id = excluded.key_patient_id, body_sealed = excluded.body_sealed,
  attributes_sealed = excluded.attributes_sealed, expired_at = NULL,
  created_at = CASE WHEN quarantine.expired_at IS NULL THEN quarantine.created_at ELSE excluded.created_at END,
  mac = CASE WHEN quarantine.expired_at IS NULL THEN quarantine.mac ELSE excluded.mac END
WHERE quarantine.state = 'retried' OR quarantine.expired_at IS NOT NULL

-- name: keep
-- rows: quarantine (id, org_id, key_org_id, key_patient_id, message_hash, reason, field, body_sealed,
--   attributes_sealed, created_at, updated_at, mac)
INSERT INTO quarantine {rows} {fragment quarantine/reopen};

-- name: keep_one
-- One with a large body. Same columns as `keep`.
-- row: quarantine (id, org_id, key_org_id, key_patient_id, message_hash, reason, field, body_sealed,
--   attributes_sealed, created_at, updated_at, mac)
INSERT INTO quarantine {row} {fragment quarantine/reopen};

-- fragment: without_content
id, org_id, reason, field, state, created_at, updated_at, key_patient_id, expired_at, key_org_id

-- name: list
SELECT {fragment quarantine/without_content}
FROM quarantine
WHERE ($1 = '' OR state = $1) AND ($2 = '' OR reason = $2)
ORDER BY created_at, id LIMIT $3;

-- name: show
-- Same columns as `list`, and the content.
SELECT {fragment quarantine/without_content}, body_sealed, attributes_sealed
FROM quarantine
WHERE id = $1;

-- name: set_state
UPDATE quarantine SET state = $2, updated_at = $3 WHERE id = $1 AND state IN ('open', 'retried');

-- name: drop_content
UPDATE quarantine
SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL, updated_at = $2
WHERE id = $1 AND state IN ('open', 'retried');

-- name: drop_contents_without_consent
UPDATE quarantine
SET body_sealed = NULL, attributes_sealed = NULL, updated_at = $1
WHERE reason = 'no_consent' AND body_sealed IS NOT NULL;

-- name: insert_act
INSERT INTO quarantine_act (id, quarantine_id, at, actor, action, content, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $3, $3);

-- name: acts_of_message
SELECT at, actor, action, content FROM quarantine_act WHERE quarantine_id = $1 ORDER BY at, id;
