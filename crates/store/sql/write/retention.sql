-- name: contents
SELECT patient_id, document_id, revision, content_sealed
FROM documents
WHERE org_id = $1 AND retention_state IS NULL AND (patient_id, document_id) IN {pairs $2};

-- name: archive
-- rows: document_archive (org_id, patient_id, document_id, revision, content_sealed, archived_at, created_at,
--   updated_at, mac)
INSERT INTO document_archive {rows} ON CONFLICT (org_id, patient_id, document_id, revision) DO NOTHING;

-- name: let_go
-- What is left of the content takes its place; a document goes once.
-- rows: documents (org_id, patient_id, document_id, revision, content bytes, retention_state, now int)
UPDATE documents
SET content_sealed = r.content, retention_state = r.retention_state, retention_state_at = r.now,
    retention_evaluated = 1, updated_at = r.now
FROM {rows} AS r
WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id
    AND documents.document_id = r.document_id AND documents.revision = r.revision AND documents.retention_state IS NULL;

-- name: delete_passages
-- rows: passage (org_id, patient_id, document_id, revision)
DELETE FROM passage
WHERE (org_id, patient_id, document_id, revision) IN
    (SELECT r.org_id, r.patient_id, r.document_id, r.revision FROM {rows} AS r);

-- name: unquote_findings
-- Quotes go: empty where there was one, so that what must have had evidence still shows that it had.
-- rows: extracted_findings (org_id, patient_id, document_id uuid, revision, blank bytes, now int)
UPDATE extracted_findings
SET evidence_sealed = r.blank, updated_at = r.now
FROM {rows} AS r
WHERE extracted_findings.org_id = r.org_id AND extracted_findings.patient_id = r.patient_id
    AND extracted_findings.source_id = r.document_id AND extracted_findings.revision = r.revision
    AND extracted_findings.evidence_sealed IS NOT NULL;

-- name: unquote_memories
-- Same rows as `unquote_findings`.
-- rows: memory (org_id, patient_id, document_id, revision, blank bytes, now int)
UPDATE memory
SET evidence_sealed = r.blank, updated_at = r.now
FROM {rows} AS r
WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.document_id = r.document_id
    AND memory.revision = r.revision AND memory.evidence_sealed IS NOT NULL;

-- name: unquote_risks
-- Same rows as `unquote_findings`.
-- rows: risk_flag (org_id, patient_id, document_id, revision, blank bytes, now int)
UPDATE risk_flag
SET evidence_sealed = r.blank, updated_at = r.now
FROM {rows} AS r
WHERE risk_flag.org_id = r.org_id AND risk_flag.patient_id = r.patient_id AND risk_flag.document_id = r.document_id
    AND risk_flag.revision = r.revision AND risk_flag.evidence_sealed IS NOT NULL;

-- name: quoting
-- Memories with words and a quote from these documents.
SELECT patient_id, id, content_sealed, document_id, revision
FROM memory
WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2} AND content_sealed IS NOT NULL
    AND evidence_sealed IS NOT NULL;

-- name: set_terms
-- rows: memory (org_id, patient_id, id, terms)
UPDATE memory
SET terms = r.terms
FROM {rows} AS r
WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id;
