-- name: findings
-- What was forgotten recurs no more, unless it is said again, and what a model made of a text is nothing that was said:
-- hypotheses end with their day.
SELECT f.patient_id, f.attribute_hash, f.source_id, f.revision, f.id, f.asserted_at, f.initial_confidence,
    f.recorded_at, f.trust, f.extraction_confidence, f.entity_type, f.negated, f.kind, f.class,
    CASE WHEN f.tombstone_of IS NULL AND f.evidence_sealed IS NOT NULL THEN 1 ELSE 0 END AS is_worded, f.text_hash
FROM extracted_findings AS f
WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.live = 1
  AND f.entity_type IN ('symptom', 'event', 'preference', 'goal', 'relationship') AND f.class <> 'inference'
  AND (f.negated = 0 OR f.entity_type = 'preference') AND f.ending = 0 AND f.uncertain = 0
  AND f.experiencer = 'patient' AND f.temporality = 'recent' AND f.document_type IS NOT NULL
  AND (f.document_type <> 'analysis' OR f.trust < 4) AND f.recorded_at <= $3
  AND NOT EXISTS (SELECT 1 FROM memory AS m
    WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id AND m.group_hash = f.group_hash
      AND m.attribute_hash = f.attribute_hash AND m.state = 'inactive' AND m.state_at >= f.asserted_at)
ORDER BY f.patient_id, f.attribute_hash, f.asserted_at, f.source_id, f.id;

-- name: known
SELECT id FROM extracted_findings WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: formed
-- What a person verified or protects stands by itself, whatever it was formed of.
SELECT f.patient_id, f.id, f.source_id, f.live
FROM extracted_findings AS f
WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.extractor_version = $3 AND f.recorded_at <= $4
  AND NOT EXISTS (SELECT 1 FROM memory AS m
    WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id AND m.group_hash = f.group_hash
      AND (m.verification_count > 0 OR m.is_protected = 1))
ORDER BY f.patient_id, f.id;

-- name: words
SELECT patient_id, id, payload_sealed, evidence_sealed, evidence_start, evidence_end
FROM extracted_findings
WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};
