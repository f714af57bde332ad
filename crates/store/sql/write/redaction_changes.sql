-- name: stamp_documents
-- rows: documents (org_id, patient_id, id uuid, revision, policy text, now int)
UPDATE documents
SET redaction_policy = r.policy, updated_at = r.now
FROM {rows} AS r
WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id AND documents.document_id = r.id
    AND documents.revision = r.revision;

-- name: stamp_raws
-- rows: memory (org_id, patient_id, id, policy text, now int)
UPDATE memory
SET redaction_policy = r.policy, updated_at = r.now
FROM {rows} AS r
WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id AND memory.kind = 'raw';

-- name: rewrite_documents
-- rows: documents (org_id, patient_id, id uuid, revision, content bytes)
UPDATE documents
SET content_sealed = r.content
FROM {rows} AS r
WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id AND documents.document_id = r.id
    AND documents.revision = r.revision;

-- name: rewrite_archived
-- rows: document_archive (org_id, patient_id, id uuid, revision, content bytes)
UPDATE document_archive
SET content_sealed = r.content
FROM {rows} AS r
WHERE document_archive.org_id = r.org_id AND document_archive.patient_id = r.patient_id
    AND document_archive.document_id = r.id AND document_archive.revision = r.revision;

-- name: passages
SELECT patient_id, document_id, revision, id, start_offset, end_offset, terms
FROM passage
WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2};

-- name: move_passages
-- rows: passage (org_id, patient_id, id, first int, behind int, hash bytes, terms, now int)
UPDATE passage
SET start_offset = r.first, end_offset = r.behind, text_hash = r.hash, terms = r.terms, updated_at = r.now
FROM {rows} AS r
WHERE passage.org_id = r.org_id AND passage.patient_id = r.patient_id AND passage.id = r.id;

-- name: delete_vectors
-- A vector holds something of the words that it was made of.
DELETE FROM embedding WHERE org_id = $1 AND (patient_id, passage_id) IN {pairs $2};

-- name: await_vectors
-- The words of today get vectors of their own from the job `embed_batch`, of every generation that is in use.
UPDATE passage
SET embedding_pending = 1, missing_next_generation = 0, updated_at = $3
WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: risks
SELECT patient_id, document_id, revision, id, evidence_start, evidence_end
FROM risk_flag
WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2};

-- name: move_risks
-- rows: risk_flag (org_id, patient_id, id, quote bytes, first int, behind int, now int)
UPDATE risk_flag
SET evidence_sealed = r.quote, evidence_start = r.first, evidence_end = r.behind, updated_at = r.now
FROM {rows} AS r
WHERE risk_flag.org_id = r.org_id AND risk_flag.patient_id = r.patient_id AND risk_flag.id = r.id;

-- name: findings
-- Those of the documents, and those that consolidation formed of them: their source is no document.
SELECT patient_id, source_id, revision, id, group_hash, payload_sealed, evidence_sealed, evidence_start, evidence_end
FROM extracted_findings
WHERE org_id = $1 AND patient_id IN {uuids $2}
    AND ((patient_id, source_id) IN {pairs $3} OR document_type IS NULL);

-- name: reword_findings
-- A finding without a place keeps its quote as it is.
-- rows: extracted_findings (org_id, patient_id, id, payload bytes, quote bytes, first int, behind int, now int)
UPDATE extracted_findings
SET payload_sealed = r.payload,
    evidence_sealed = CASE WHEN r.first IS NULL THEN extracted_findings.evidence_sealed ELSE r.quote END,
    evidence_start = coalesce(r.first, evidence_start), evidence_end = coalesce(r.behind, evidence_end),
    updated_at = r.now
FROM {rows} AS r
WHERE extracted_findings.org_id = r.org_id AND extracted_findings.patient_id = r.patient_id
    AND extracted_findings.id = r.id AND extracted_findings.tombstone_of IS NULL;

-- name: forget_words
-- An event's words are written once (model.md, "A memory"), and a memory keeps its words while the finding that they
-- come from is the same. These must not be kept: they go first, and the fold writes new ones. What is purged stays
-- purged.
UPDATE memory
SET content_sealed = NULL, finding_id = NULL, fold_hash = NULL
WHERE org_id = $1 AND (patient_id, group_hash) IN {keyed $2} AND content_sealed IS NOT NULL AND kind <> 'raw';
