-- Which clinician signed a document of a model, and when all that a document says ends, where its producer says so.
ALTER TABLE documents ADD COLUMN signed_by BLOB CHECK (length(signed_by) = 16);
ALTER TABLE documents ADD COLUMN ends_at INTEGER;
ALTER TABLE extracted_findings ADD COLUMN ends_at INTEGER;
ALTER TABLE memory ADD COLUMN ends_at INTEGER;
-- Keyed hash of the whole redacted text that carries a finding: the same words under another document id are one piece of
-- evidence. NULL for what was stored before.
ALTER TABLE extracted_findings ADD COLUMN text_hash BLOB CHECK (length(text_hash) = 32);
-- What a model wrote is an inference, which lives for a day; it was kept like the statements of a person.
UPDATE extracted_findings SET class = 'inference' WHERE document_type = 'analysis';
UPDATE memory SET class = 'inference', is_protected = 0, fold_hash = NULL,
    expires_at = min(coalesce(expires_at, recorded_at + 86400000000), min(recorded_at, valid_from) + 86400000000)
  WHERE trust = 4 AND kind <> 'raw' AND class <> 'pattern' AND EXISTS (SELECT 1 FROM documents AS d
    WHERE d.org_id = memory.org_id AND d.patient_id = memory.patient_id AND d.document_id = memory.document_id
      AND d.revision = memory.revision AND d.document_type = 'analysis');
UPDATE memory SET trust = 4 WHERE kind = 'raw' AND EXISTS (SELECT 1 FROM documents AS d
  WHERE d.org_id = memory.org_id AND d.patient_id = memory.patient_id AND d.document_id = memory.document_id
    AND d.revision = memory.revision AND d.document_type = 'analysis');
-- The patient's cognitive state weighed everybody's words: what others said is as sure as it was before.
UPDATE extracted_findings SET initial_confidence = 1.0, confidence_basis = 'default'
  WHERE confidence_basis = 'cognitive_state' AND NOT (source_type = 'direct_experience' AND (set_by = 'patient'
    OR (set_by = 'task' AND document_type IN ('intake_form', 'chat_message'))));
