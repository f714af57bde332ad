-- name: delete_findings
DELETE FROM extracted_findings WHERE org_id = $1 AND (patient_id, source_id) IN {pairs $2};

-- name: delete_passages
DELETE FROM passage WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2};

-- name: delete
DELETE FROM summary WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: write_documents
-- rows: documents (org_id, patient_id, document_id, revision, document_type, occurred_at, language, body_hash,
--   content_sealed, redaction_policy, extractor_version, current, recorded_at, retired_at, created_at, updated_at,
--   therapist_id, signed_by, ends_at, session_hash, mac)
INSERT INTO documents {rows}
ON CONFLICT (org_id, patient_id, document_id, revision) DO UPDATE SET occurred_at = excluded.occurred_at,
    content_sealed = excluded.content_sealed, body_hash = excluded.body_hash, language = excluded.language,
    current = excluded.current, retired_at = excluded.retired_at, recorded_at = excluded.recorded_at,
    retention_evaluated = 0, retention_state = NULL, retention_state_at = NULL, updated_at = excluded.updated_at,
    mac = excluded.mac;

-- name: write
-- rows: summary (org_id, patient_id, id, period, from_at, until_at, facts, input_id, made_at, created_at, updated_at)
INSERT INTO summary {rows}
ON CONFLICT (org_id, patient_id, id) DO UPDATE SET facts = excluded.facts, input_id = excluded.input_id,
    made_at = excluded.made_at, updated_at = excluded.updated_at;
