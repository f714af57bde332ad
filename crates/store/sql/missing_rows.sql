-- fragment: of_acts
-- In the words of the partial index `action_audit_acts`, by which an engine finds it.
IN ('hold_set', 'hold_lifted', 'erase', 'quarantined_retried', 'consent_permit', 'consent_deny', 'ephemeral_on',
  'ephemeral_off')

-- fragment: of_rows
-- In the words of the partial index `action_audit_rows`.
IN ('document_stored', 'content_purged', 'summary_only', 'source_dropped', 'archived', 'verified', 'confirmed', 'ended',
  'denied', 'protected', 'unprotected', 'forgotten', 'recovered', 'corrected', 'answered', 'reinforced', 'weakened')

-- name: missing_consents
-- A row that was deleted leaves the entry of the message that brought it.
SELECT count(*) AS found
FROM action_audit AS a
WHERE a.org_id = $1 AND a.patient_id IN {uuids $2} AND a.action {fragment missing_rows/of_acts}
  AND a.action IN ('consent_permit', 'consent_deny') AND a.subject_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM consent AS c
    WHERE c.org_id = $1 AND c.patient_id = a.patient_id AND c.id = a.subject_id);

-- name: missing_switches
-- The same of switches of ephemeral mode. Same columns as `missing_consents`.
SELECT count(*) AS found
FROM action_audit AS a
WHERE a.org_id = $1 AND a.patient_id IN {uuids $2} AND a.action {fragment missing_rows/of_acts}
  AND a.action IN ('ephemeral_on', 'ephemeral_off') AND a.subject_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM ephemeral_mode AS c
    WHERE c.org_id = $1 AND c.patient_id = a.patient_id AND c.id = a.subject_id);

-- name: missing_documents
-- What was said in ephemeral mode, and what was erased, went by right. Same columns as `missing_consents`.
SELECT count(*) AS found
FROM action_audit AS a
WHERE a.org_id = $1 AND a.patient_id IN {uuids $2} AND a.action {fragment missing_rows/of_rows}
  AND a.action = 'document_stored' AND a.subject_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM documents AS d
    WHERE d.org_id = $1 AND d.patient_id = a.patient_id AND d.document_id = a.subject_id)
  AND NOT EXISTS (SELECT 1 FROM action_audit AS x
    WHERE x.org_id = $1 AND x.patient_id = a.patient_id AND x.action {fragment missing_rows/of_acts}
      AND (x.action = 'ephemeral_on'
        OR x.action = 'erase' AND x.subject_id = a.subject_id AND x.outcome IN ('done', 'begun', 'restored')));

-- name: missing_acts
-- Of a memory that is there, there are as many acts as the trail has. Same columns as `missing_consents`.
SELECT count(*) AS found
FROM (SELECT a.patient_id, a.subject_id, a.action, count(*) AS entries
  FROM action_audit AS a
  WHERE a.org_id = $1 AND a.patient_id IN {uuids $2} AND a.action {fragment missing_rows/of_rows}
    AND a.action IN ('verified', 'confirmed', 'ended', 'denied', 'protected', 'unprotected', 'forgotten', 'recovered',
      'corrected', 'answered', 'reinforced', 'weakened')
    AND a.subject_id IS NOT NULL
    AND EXISTS (SELECT 1 FROM memory AS m
      WHERE m.org_id = $1 AND m.patient_id = a.patient_id AND m.id = a.subject_id)
    AND NOT EXISTS (SELECT 1 FROM action_audit AS x
      WHERE x.org_id = $1 AND x.patient_id = a.patient_id AND x.action {fragment missing_rows/of_acts}
        AND (x.action = 'ephemeral_on' OR x.action = 'erase' AND x.outcome IN ('done', 'begun', 'restored')))
  GROUP BY a.patient_id, a.subject_id, a.action) AS s
WHERE s.entries > (SELECT count(*) FROM memory_event AS e
  WHERE e.org_id = $1 AND e.patient_id = s.patient_id AND e.memory_id = s.subject_id AND e.derived = 0
    AND e.action = s.action);

-- name: unaudited_fates
-- Of what came since all rows are covered and the trail is whole: when a row was changed last is covered by nothing.
-- An archived source goes after its term. Same columns as `missing_consents`.
SELECT count(*) AS found
FROM documents AS d
WHERE d.org_id = $1 AND d.patient_id IN {uuids $2} AND d.retention_state IS NOT NULL AND d.recorded_at >= $3
  AND NOT EXISTS (SELECT 1 FROM action_audit AS a
    WHERE a.org_id = $1 AND a.patient_id = d.patient_id AND a.action {fragment missing_rows/of_rows}
      AND a.action IN (d.retention_state,
        CASE d.retention_state WHEN 'source_dropped' THEN 'archived' ELSE d.retention_state END)
      AND a.subject_id = d.document_id);

-- name: unaudited_tombstones
-- Same columns as `missing_consents`.
SELECT count(*) AS found
FROM extracted_findings AS f
WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.tombstone_of IS NOT NULL AND f.recorded_at >= $3
  AND NOT EXISTS (SELECT 1 FROM action_audit AS a
    WHERE a.org_id = $1 AND a.patient_id = f.patient_id AND a.action {fragment missing_rows/of_rows}
      AND a.action = 'content_purged' AND a.subject_id = f.tombstone_of);

-- name: anonymous_entries
-- Entries of persons who were taken out of the trail do not say any more of what they are. Same columns as
-- `missing_consents`.
SELECT count(*) AS found
FROM action_audit
WHERE org_id = $1 AND patient_id = $2 AND action {fragment missing_rows/of_rows}
  AND action IN ('content_purged', 'summary_only', 'source_dropped', 'archived');
