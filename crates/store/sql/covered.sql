-- Counts of rows that contradict each other. All of them answer the same column.

-- name: switched
-- A finding counts while its revision is the current one; what no document said, and was not formed by a job, always does.
SELECT count(*) AS faults
FROM extracted_findings AS f
LEFT JOIN documents AS d ON d.org_id = f.org_id AND d.patient_id = f.patient_id
  AND d.document_id = f.source_id AND d.revision = f.revision
WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.class <> 'pattern'
  AND f.live <> coalesce(d.current, 1);

-- name: revisions
-- The newest revision of a document is the current one.
-- Same columns as `switched`.
SELECT count(*) AS faults
FROM documents AS d
WHERE d.org_id = $1 AND d.patient_id IN {uuids $2} AND d.document_type <> 'analysis'
  AND d.current <> CASE
    WHEN EXISTS (
        SELECT 1 FROM documents AS n
        WHERE n.org_id = d.org_id AND n.patient_id = d.patient_id AND n.document_id = d.document_id
          AND n.revision > d.revision
    ) THEN 0
    ELSE 1
  END;

-- name: purged
-- What was purged has no words.
-- Same columns as `switched`.
SELECT count(*) AS faults
FROM extracted_findings AS f
WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.tombstone_of IS NOT NULL
  AND EXISTS (
    SELECT 1 FROM memory AS m
    WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id AND m.id = f.tombstone_of
      AND m.content_sealed IS NOT NULL
  );

-- name: turned
-- A memory says what some finding of its attribute says: whose it is, and whether it is so.
-- Same columns as `switched`.
SELECT count(*) AS faults
FROM memory AS m
WHERE m.org_id = $1 AND m.patient_id IN {uuids $2} AND m.kind <> 'raw'
  AND EXISTS (
    SELECT 1 FROM extracted_findings AS f
    WHERE f.org_id = $1 AND f.patient_id = m.patient_id
      AND f.group_hash = m.group_hash AND f.attribute_hash = m.attribute_hash
  )
  AND NOT EXISTS (
    SELECT 1 FROM extracted_findings AS f
    WHERE f.org_id = $1 AND f.patient_id = m.patient_id
      AND f.group_hash = m.group_hash AND f.attribute_hash = m.attribute_hash
      AND f.negated = m.negated AND f.experiencer = m.experiencer
  );

-- name: risks
-- A document has as many risks as were read in it.
-- Same columns as `switched`.
SELECT count(*) AS faults
FROM documents AS d
LEFT JOIN (
    SELECT patient_id, document_id, revision, count(*) AS flags
    FROM risk_flag
    WHERE org_id = $1 AND patient_id IN {uuids $2}
    GROUP BY patient_id, document_id, revision
) AS r ON r.patient_id = d.patient_id AND r.document_id = d.document_id AND r.revision = d.revision
WHERE d.org_id = $1 AND d.patient_id IN {uuids $2} AND d.risks IS NOT NULL
  AND d.risks <> coalesce(r.flags, 0);

-- name: raw
-- A raw capture says nothing but which document came, and when.
-- Same columns as `switched`.
SELECT count(*) AS faults
FROM memory AS m
LEFT JOIN documents AS d ON d.org_id = m.org_id AND d.patient_id = m.patient_id
  AND d.document_id = m.document_id AND d.revision = m.revision
WHERE m.org_id = $1 AND m.patient_id IN {uuids $2} AND m.kind = 'raw'
  AND (d.document_id IS NULL OR m.class <> 'event' OR m.negated <> 0 OR m.experiencer <> 'patient'
    OR m.set_by <> 'unknown' OR m.valid_from <> d.occurred_at);
