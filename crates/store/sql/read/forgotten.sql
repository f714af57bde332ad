-- name: stretches
-- The evidence of each forgotten memory, whichever document states it; of a forgotten capture the whole document. What
-- another memory of the same attribute still says stays readable: a dose of today is not forgotten with that of last year.
SELECT document_id, revision, kind, evidence_start, evidence_end
FROM memory
WHERE org_id = $1 AND patient_id = $2 AND state = 'inactive' AND document_id IS NOT NULL
  AND revision IS NOT NULL
UNION ALL
SELECT f.source_id, f.revision, f.kind, f.evidence_start, f.evidence_end
FROM extracted_findings AS f
WHERE f.org_id = $1 AND f.patient_id = $2 AND f.evidence_start IS NOT NULL AND f.kind <> 'raw'
  AND EXISTS (SELECT 1 FROM memory AS m
    WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id AND m.group_hash = f.group_hash
      AND m.attribute_hash = f.attribute_hash AND m.state = 'inactive')
  AND NOT EXISTS (SELECT 1 FROM memory AS m
    WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id AND m.group_hash = f.group_hash
      AND m.attribute_hash = f.attribute_hash AND m.state <> 'inactive');
