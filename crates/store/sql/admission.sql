-- name: organizations
-- The rules of these organisations that bind the pipeline.
SELECT org_id, redaction_policy, consent_required, vector_generation, withdrawal
FROM organization
WHERE org_id IN {uuids $1};

-- name: register
INSERT INTO organization (org_id, created_at, updated_at)
VALUES ($1, $2, $2)
ON CONFLICT (org_id) DO NOTHING;

-- name: seen
-- Those of these messages that were taken in before.
-- keys: message_hash in {blobs $2}
SELECT message_hash, body_hash FROM inbox WHERE org_id = $1;

-- name: revisions
-- The revisions of these documents.
-- keys: patient_id, document_id in {pairs $2}
SELECT patient_id, document_id, revision, body_hash, document_type FROM documents WHERE org_id = $1;

-- name: count_attempts
-- One more attempt of each message.
-- shared: attempts, created_at, updated_at
-- rows: attempt (message_hash)
INSERT INTO attempt {rows}
ON CONFLICT (message_hash) DO UPDATE SET attempts = attempt.attempts + 1, updated_at = excluded.updated_at;

-- name: begun
-- How often work on these messages began.
SELECT message_hash, attempts FROM attempt WHERE message_hash IN {blobs $1};

-- name: any_begun
-- Whether work on any message began so often.
SELECT message_hash FROM attempt WHERE attempts >= $1 LIMIT 1;

-- name: begin
-- The beginning of work on a batch of messages.
INSERT INTO attempt_batch (id, messages, created_at, updated_at) VALUES ($1, $2, $3, $3);

-- name: open
-- The batches that began and have not ended.
SELECT id, messages FROM attempt_batch ORDER BY id;

-- name: end
-- The end of work on a batch.
DELETE FROM attempt_batch WHERE id = $1;

-- name: any
-- Whether the attempts of any message are counted.
SELECT attempts FROM attempt LIMIT 1;

-- name: done
-- The end of work on these messages.
DELETE FROM attempt WHERE message_hash IN {blobs $1};

-- name: cached
-- Vectors of a generation of these texts of these patients.
-- keys: passage.patient_id, passage.text_hash in {keyed $2}
SELECT passage.patient_id, passage.text_hash, embedding.vector
FROM passage
JOIN embedding ON embedding.org_id = $1 AND embedding.patient_id = passage.patient_id
  AND embedding.generation = $3 AND embedding.passage_id = passage.id
WHERE passage.org_id = $1;
