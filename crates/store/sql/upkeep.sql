-- Rows that may go, by lane: each statement answers the instant and the name of a row, after a place.

-- name: messages
-- The same message after that is known by what it says: a document by its revision, any other by the derived ids of its
-- rows.
SELECT created_at AS since, message_hash AS key
FROM inbox
WHERE org_id = $1 AND created_at <= $2 AND (created_at, message_hash) > ($3, $4)
ORDER BY created_at, message_hash LIMIT $5;

-- name: events
-- Same columns as `messages`.
SELECT published_at AS since, id AS key
FROM outbox
WHERE org_id = $1 AND published_at IS NOT NULL AND published_at <= $2 AND (published_at, id) > ($3, $4)
ORDER BY published_at, id LIMIT $5;

-- name: attempts
-- Belongs to no organisation: the hash is keyed and names none. Rows live for as long as a message is worked. Same
-- columns as `messages`.
SELECT updated_at AS since, message_hash AS key
FROM attempt
WHERE updated_at <= $1 AND (updated_at, message_hash) > ($2, $3)
ORDER BY updated_at, message_hash LIMIT $4;

-- name: batches
-- Same columns as `messages`.
SELECT updated_at AS since, id AS key
FROM attempt_batch
WHERE updated_at <= $1 AND (updated_at, id) > ($2, $3)
ORDER BY updated_at, id LIMIT $4;

-- name: quarantine_bodies
-- What came without consent has no term: older versions kept it. A hold on the patient, or on a document of theirs,
-- keeps it. Same columns as `messages`.
SELECT created_at AS since, id AS key
FROM quarantine
WHERE (org_id = $1 OR org_id IS NULL) AND body_sealed IS NOT NULL
  AND (created_at <= $2 OR reason = 'no_consent')
  AND NOT EXISTS (SELECT 1 FROM legal_hold AS h
    WHERE h.org_id = quarantine.key_org_id AND h.patient_id = quarantine.key_patient_id AND h.lifted_at IS NULL)
  AND (created_at, id) > ($3, $4)
ORDER BY created_at, id LIMIT $5;

-- name: quarantine_rows
-- Same columns as `messages`.
SELECT created_at AS since, id AS key
FROM quarantine
WHERE (org_id = $1 OR org_id IS NULL) AND body_sealed IS NULL AND created_at <= $2
  AND (created_at, id) > ($3, $4)
ORDER BY created_at, id LIMIT $5;

-- name: answers
-- Same columns as `messages`.
SELECT answered_at AS since, id AS key
FROM rights_answer
WHERE org_id = $1 AND answered_at <= $2 AND (answered_at, id) > ($3, $4)
ORDER BY answered_at, id LIMIT $5;

-- fragment: not_held
-- A hold on the patient, or on the document, keeps what is archived. The same words when it is deleted: a hold may have
-- come since.
NOT EXISTS (SELECT 1 FROM legal_hold AS h
  WHERE h.org_id = document_archive.org_id AND h.patient_id = document_archive.patient_id AND h.lifted_at IS NULL
    AND (h.document_id IS NULL OR h.document_id = document_archive.document_id))

-- name: archives
-- Same columns as `messages`.
SELECT archived_at AS since, document_id AS key
FROM document_archive
WHERE org_id = $1 AND archived_at <= $2 AND {fragment upkeep/not_held}
  AND (archived_at, document_id) > ($3, $4)
ORDER BY archived_at, document_id LIMIT $5;

-- name: runs
-- Same columns as `messages`.
SELECT finished_at AS since, job || '/' || as_of AS key
FROM job_run
WHERE org_id = $1 AND state <> 'running' AND finished_at IS NOT NULL AND finished_at <= $2
  AND (finished_at, job || '/' || as_of) > ($3, $4)
ORDER BY finished_at, job || '/' || as_of LIMIT $5;

-- name: holds
-- Same columns as `messages`.
SELECT lifted_at AS since, id AS key
FROM legal_hold
WHERE org_id = $1 AND lifted_at IS NOT NULL AND lifted_at <= $2 AND (lifted_at, id) > ($3, $4)
ORDER BY lifted_at, id LIMIT $5;

-- name: receipts
-- One that is not complete stays until it is. Same columns as `messages`.
SELECT done_at AS since, id AS key
FROM erasure
WHERE org_id = $1 AND done_at IS NOT NULL AND files_at IS NOT NULL AND done_at <= $2
  AND (done_at, id) > ($3, $4)
ORDER BY done_at, id LIMIT $5;

-- name: patterns
-- Same columns as `messages`.
SELECT created_at AS since, month || '/' || dimension || '/' || value AS key
FROM cohort_pattern
WHERE org_id = $1 AND created_at <= $2 AND (created_at, month || '/' || dimension || '/' || value) > ($3, $4)
ORDER BY created_at, month || '/' || dimension || '/' || value LIMIT $5;

-- name: drop_archived
UPDATE documents
SET retention_state = 'source_dropped', retention_state_at = $4, updated_at = $4
WHERE org_id = $1 AND retention_state = 'archived'
  AND (patient_id, document_id, revision) IN (SELECT patient_id, document_id, revision
    FROM document_archive
    WHERE org_id = $1 AND document_id IN {uuids $2} AND archived_at <= $3 AND {fragment upkeep/not_held});

-- name: delete_archives
DELETE FROM document_archive
WHERE org_id = $1 AND document_id IN {uuids $2} AND archived_at <= $3 AND {fragment upkeep/not_held};

-- name: delete_runs
DELETE FROM job_run
WHERE org_id = $1 AND job || '/' || as_of IN {texts $2} AND state <> 'running' AND finished_at <= $3;

-- name: delete_holds
DELETE FROM legal_hold WHERE org_id = $1 AND id IN {uuids $2} AND lifted_at IS NOT NULL AND lifted_at <= $3;

-- name: delete_receipts
DELETE FROM erasure WHERE org_id = $1 AND id IN {uuids $2} AND done_at <= $3 AND files_at IS NOT NULL;

-- name: delete_patterns
DELETE FROM cohort_pattern
WHERE org_id = $1 AND month || '/' || dimension || '/' || value IN {texts $2} AND created_at <= $3;

-- name: delete_quarantine_acts
-- Who looked at a message that is gone is in the audit trail, which has its own term.
DELETE FROM quarantine_act WHERE quarantine_id IN {uuids $1};

-- name: delete_answers
DELETE FROM rights_answer WHERE org_id = $1 AND id IN {uuids $2} AND answered_at <= $3;

-- name: drop_quarantine_bodies
UPDATE quarantine
SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL, expired_at = $2, updated_at = $2
WHERE id IN {uuids $1} AND body_sealed IS NOT NULL;

-- name: trace_quarantine_bodies
-- One message ends its term once, as a rule: the trace has the message's own id. Written before the body goes.
INSERT INTO quarantine_act (id, quarantine_id, at, actor, action, created_at, updated_at)
SELECT id, id, $2, 'upkeep', 'dropped', $2, $2
FROM quarantine
WHERE id IN {uuids $1} AND body_sealed IS NOT NULL
ON CONFLICT (id) DO NOTHING;

-- name: delete_quarantine_rows
DELETE FROM quarantine WHERE id IN {uuids $1} AND body_sealed IS NULL;

-- name: delete_messages
DELETE FROM inbox WHERE org_id = $1 AND message_hash IN {blobs $2};

-- name: delete_events
DELETE FROM outbox WHERE org_id = $1 AND id IN {uuids $2} AND published_at IS NOT NULL;

-- name: delete_attempts
DELETE FROM attempt WHERE updated_at <= $1 AND message_hash IN {blobs $2};

-- name: delete_batches
DELETE FROM attempt_batch WHERE updated_at <= $1 AND id IN {uuids $2};
