-- name: finding
-- rows: extracted_findings (org_id, patient_id, id, source_id, revision, live, group_hash, attribute_hash,
--   entity_type, kind, class, set_by, document_type, source_type, epistemic, trust, ending, blanket, negated,
--   uncertain, temporality, experiencer, extraction_confidence, initial_confidence, confidence_basis,
--   is_proxy, asserted_at, valid_from, expires_at, payload_sealed, evidence_sealed, evidence_start,
--   evidence_end, extractor_version, ends_at, text_hash, recorded_at, created_at, updated_at, mac)
INSERT INTO extracted_findings {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: mark_replaced
-- A finding of a revision that is not the current one says nothing.
UPDATE extracted_findings
SET live = 0
WHERE org_id = $1 AND live = 1 AND (patient_id, source_id) IN {pairs $2}
  AND EXISTS (SELECT 1 FROM documents AS d
    WHERE d.org_id = extracted_findings.org_id AND d.patient_id = extracted_findings.patient_id
      AND d.document_id = extracted_findings.source_id AND d.revision = extracted_findings.revision
      AND d.current = 0);

-- name: groups_of_memories
-- keys: patient_id, id in {pairs $2}
SELECT patient_id, id, group_hash FROM memory WHERE org_id = $1;
