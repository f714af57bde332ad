-- name: last_settled
-- The newest run of a job that is done, before an instant.
SELECT max(cutoff_at) AS newest
FROM job_run
WHERE org_id = $1 AND job = $2 AND state = 'done' AND cutoff_at < $3;

-- name: patients
-- What came in since then, and what was forgotten or erased since then: an account must not go on with it, and one that was
-- erased is written anew. Made one and sorted outside: where the halves are to come out sorted, SQLite walks all patients in
-- their order and not what is recent.
SELECT DISTINCT patient_id
FROM (
    SELECT patient_id FROM documents
    WHERE org_id = $1 AND current = 1 AND recorded_at <= $2 AND recorded_at > $3
      AND document_type <> 'analysis' AND patient_id > $4
    UNION ALL
    SELECT patient_id FROM memory
    WHERE org_id = $1 AND state = 'inactive' AND state IN ('expired', 'inactive')
      AND content_sealed IS NOT NULL AND state_at > $3 AND state_at <= $2 AND patient_id > $4
    UNION ALL
    SELECT patient_id FROM erasure
    WHERE org_id = $1 AND what <> 'patient' AND done_at > $3 AND done_at <= $2 AND patient_id > $4
) AS recent
ORDER BY 1 LIMIT $5;

-- name: facts
-- Facts of patients' current documents, in the order of time, without those that were forgotten.
SELECT f.patient_id, f.id, f.source_id, f.revision, f.asserted_at, f.initial_confidence, f.recorded_at,
    d.document_type, d.session_hash, d.language, f.entity_type, f.negated, f.ending, f.temporality,
    f.experiencer, f.extraction_confidence, f.attribute_hash, f.trust
FROM extracted_findings AS f
JOIN documents AS d ON d.org_id = f.org_id AND d.patient_id = f.patient_id
  AND d.document_id = f.source_id AND d.revision = f.revision
WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.live = 1 AND f.uncertain = 0 AND f.blanket = 0
  AND f.class <> 'inference' AND f.tombstone_of IS NULL AND d.current = 1 AND d.document_type <> 'analysis'
  AND f.recorded_at <= $3
  AND NOT EXISTS (
    SELECT 1 FROM memory AS m
    WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id AND m.group_hash = f.group_hash
      AND m.attribute_hash = f.attribute_hash AND m.state = 'inactive' AND m.state_at >= f.asserted_at
  )
ORDER BY f.patient_id, f.asserted_at, f.source_id, f.id;

-- name: accounts
SELECT patient_id, id, period, facts, input_id, made_at
FROM summary
WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: last_forgotten
-- When patients last had something forgotten.
SELECT patient_id, max(updated_at) AS newest
FROM memory
WHERE org_id = $1 AND patient_id IN {uuids $2} AND state = 'inactive'
GROUP BY patient_id;
