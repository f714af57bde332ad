-- name: document
-- shared: org_id, created_at, updated_at
-- rows: documents (patient_id, document_id, revision, document_type, occurred_at, language, therapist_id,
--   signed_by, ends_at, session_hash, sentiment, risk_level, body_hash, content_sealed, redaction_policy,
--   extractor_version, current, retired_at, recorded_at, risks, mac)
INSERT INTO documents {rows};

-- name: passage
-- shared: org_id, created_at, updated_at
-- rows: passage (patient_id, id, document_id, revision, ordinal, start_offset, end_offset, text_hash, terms,
--   embedding_pending, missing_next_generation)
INSERT INTO passage {rows};

-- name: embedding
-- shared: org_id, created_at, updated_at, generation
-- rows: embedding (patient_id, passage_id, dimension, vector)
INSERT INTO embedding {rows};

-- name: risk
-- rows: risk_flag (org_id, patient_id, id, document_id, revision, class, denied, experiencer, heard_by,
--   probability, level, temporality, detail_sealed, evidence_sealed, evidence_start, evidence_end,
--   file_sealed, at, created_at, updated_at, mac)
INSERT INTO risk_flag {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: revisions
-- Stored revisions of documents, whichever is current.
-- keys: patient_id, document_id in {pairs $2}
SELECT patient_id, document_id, revision FROM documents WHERE org_id = $1;

-- name: retire
UPDATE documents
SET current = 0, retired_at = $3, updated_at = $3
WHERE org_id = $1 AND current = 1 AND (patient_id, document_id) IN {pairs $2};

-- name: delete_passages
DELETE FROM passage WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2};

-- name: mark_findings_replaced
-- Findings of replaced revisions count no more.
UPDATE extracted_findings
SET live = 0, updated_at = $3
WHERE org_id = $1 AND live = 1 AND (patient_id, source_id) IN {pairs $2};

-- name: groups_of_documents
-- Groups with a finding of these documents, to be folded again.
SELECT DISTINCT patient_id, group_hash
FROM extracted_findings
WHERE org_id = $1 AND (patient_id, source_id) IN {pairs $2};
