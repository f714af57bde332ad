-- name: documents
SELECT document_id, revision, occurred_at, body_hash, current
FROM documents
WHERE org_id = $1 AND patient_id = $2
ORDER BY document_id, revision;

-- name: accounts
SELECT id FROM summary WHERE org_id = $1 AND patient_id = $2;

-- name: holds
-- What legal holds keep: documents, or all where none is named.
SELECT document_id FROM legal_hold WHERE org_id = $1 AND patient_id = $2 AND lifted_at IS NULL;

-- name: profile_statements
SELECT id, stated_at FROM profile_statement WHERE org_id = $1 AND patient_id = $2;

-- name: findings
SELECT id, source_id, revision, group_hash, class, set_by, asserted_at, document_type, payload_sealed
FROM extracted_findings
WHERE org_id = $1 AND patient_id = $2;

-- name: inbox
SELECT message_hash, body_hash FROM inbox WHERE org_id = $1 AND patient_id = $2;

-- name: memories
SELECT id, group_hash, kind FROM memory WHERE org_id = $1 AND patient_id = $2;

-- name: acts
SELECT id, memory_id FROM memory_event WHERE org_id = $1 AND patient_id = $2 AND derived = 0;

-- name: imported_records
SELECT id, record_sealed FROM legacy_record WHERE org_id = $1 AND patient_id = $2;

-- name: preferences
SELECT key_hash, value_sealed FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2;

-- name: content_of_revision
SELECT content_sealed, language
FROM documents
WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4;

-- name: archived_content_of_revision
SELECT content_sealed
FROM document_archive
WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4;

-- name: groups_of_document
SELECT DISTINCT group_hash FROM extracted_findings WHERE org_id = $1 AND patient_id = $2 AND source_id = $3;

-- name: delete_document
DELETE FROM documents WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4;

-- name: delete_passages
DELETE FROM passage WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4;

-- name: delete_accounts
DELETE FROM summary WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3};

-- name: delete_findings
DELETE FROM extracted_findings WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3};

-- name: delete_profile_statements
DELETE FROM profile_statement WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3};

-- name: delete_stated_preferences
DELETE FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2 AND stated_by IN {uuids $3};

-- name: delete_preferences
DELETE FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2 AND key_hash IN {blobs $3};

-- name: delete_inbox
DELETE FROM inbox WHERE org_id = $1 AND patient_id = $2 AND message_hash IN {blobs $3};

-- name: delete_memories
DELETE FROM memory WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3};

-- name: delete_acts
DELETE FROM memory_event WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3};

-- name: delete_history
DELETE FROM memory_event WHERE org_id = $1 AND patient_id = $2 AND memory_id IN {uuids $3};

-- name: delete_links
DELETE FROM memory_link
WHERE org_id = $1 AND patient_id = $2 AND (from_id IN {uuids $3} OR to_id IN {uuids $3});

-- name: delete_imported_records
DELETE FROM legacy_record WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3};

-- name: delete_rights_answers
DELETE FROM rights_answer WHERE org_id = $1 AND patient_id = $2;

-- name: delete_confidence_course
-- A trend that was computed over all is computed anew when it is needed.
DELETE FROM confidence_course WHERE org_id = $1 AND patient_id = $2;

-- name: revive_document
UPDATE documents
SET current = 1, retired_at = NULL, updated_at = $5
WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4;

-- name: revive_findings
UPDATE extracted_findings
SET live = 1, updated_at = $5
WHERE org_id = $1 AND patient_id = $2 AND source_id = $3 AND revision = $4 AND tombstone_of IS NULL;
