-- fragment: sources
-- Documents that still have their source, and what decides when and how it goes.
SELECT d.patient_id, d.document_id, d.revision, d.document_type, d.recorded_at, d.retention_due_at,
    d.retention_evaluated, p.privacy_tier, p.country,
    (SELECT count(*) FROM legal_hold AS h
      WHERE h.org_id = d.org_id AND h.patient_id = d.patient_id AND h.lifted_at IS NULL
        AND (h.document_id IS NULL OR h.document_id = d.document_id)) AS holds
FROM documents AS d
JOIN patient_profile AS p ON p.org_id = d.org_id AND p.patient_id = d.patient_id
WHERE d.org_id = $1 AND d.retention_state IS NULL

-- name: all_sources
-- In the order of their keys.
{fragment retention/sources}
  AND (d.patient_id, d.document_id, d.revision) > ($2, $3, $4)
ORDER BY d.patient_id, d.document_id, d.revision LIMIT $5;

-- name: unevaluated_sources
-- Those of which it is not noted when they are due. Same columns as `all_sources`.
{fragment retention/sources}
  AND d.retention_evaluated = 0 AND (d.patient_id, d.document_id, d.revision) > ($2, $3, $4)
ORDER BY d.patient_id, d.document_id, d.revision LIMIT $5;

-- name: due_sources
-- Same columns as `all_sources`.
{fragment retention/sources}
  AND d.retention_evaluated = 1 AND d.retention_due_at IS NOT NULL AND d.retention_due_at <= $6
  AND (d.retention_due_at, d.patient_id, d.document_id, d.revision) > ($7, $2, $3, $4)
ORDER BY d.retention_due_at, d.patient_id, d.document_id, d.revision LIMIT $5;

-- name: evaluated_sources_of_patients
-- Same columns as `all_sources`.
{fragment retention/sources}
  AND d.retention_evaluated = 1 AND d.patient_id IN {uuids $2};

-- name: mark_unevaluated
UPDATE documents
SET retention_evaluated = 0, updated_at = $3
WHERE org_id = $1 AND retention_state IS NULL AND retention_evaluated = 1 AND (patient_id, document_id) IN {pairs $2};

-- name: set_due
-- Notes when documents are due, or that they never are.
-- rows: documents (org_id, patient_id, document_id, revision, due int, now int)
UPDATE documents
SET retention_evaluated = 1, retention_due_at = r.due, updated_at = r.now
FROM {rows} AS r
WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id
  AND documents.document_id = r.document_id AND documents.revision = r.revision AND documents.retention_state IS NULL;

-- name: organization
SELECT privacy_tier, country FROM organization WHERE org_id = $1;

-- name: withdrawn
-- Where the organisation has memories forgotten: patients with a denial and memories, and when they were last forgotten
-- for one. Which scope it denies is sealed.
SELECT c.from_at, c.patient_id, c.id,
    (SELECT max(e.at) FROM memory_event AS e
      WHERE e.org_id = c.org_id AND e.patient_id = c.patient_id AND e.derived = 0 AND e.action = 'forgotten'
        AND e.source = 'task') AS forgotten_at
FROM consent AS c
JOIN organization AS o ON o.org_id = c.org_id
WHERE c.org_id = $1 AND o.withdrawal = 'forget' AND c.provision = 'deny' AND c.from_at <= $2
  AND EXISTS (SELECT 1 FROM memory AS m
    WHERE m.org_id = c.org_id AND m.patient_id = c.patient_id AND m.kind <> 'raw'
      AND m.state NOT IN ('inactive', 'quarantined'))
  AND (c.from_at, c.patient_id, c.id) > ($3, $4, $5)
ORDER BY c.from_at, c.patient_id, c.id LIMIT $6;

-- fragment: dormant_patients
-- A patient of whom nothing came since: no message, no act of a person, nothing that was asked for. What jobs write of
-- what was there before does not count. An erasure that has begun is not begun again. The trail says the same, and
-- cannot be set back. The inbox is last: it is found by its age alone, and a patient who comes this far has nothing
-- else.
SELECT p.created_at, p.patient_id,
    (SELECT count(*) FROM legal_hold AS h
      WHERE h.org_id = p.org_id AND h.patient_id = p.patient_id AND h.lifted_at IS NULL) AS holds
FROM patient_profile AS p
WHERE p.org_id = $1 AND p.created_at <= $2
  AND NOT EXISTS (SELECT 1 FROM documents AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.recorded_at > $2)
  AND NOT EXISTS (SELECT 1 FROM extracted_findings AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.created_at > $2)
  AND NOT EXISTS (SELECT 1 FROM memory_event AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.derived = 0 AND x.created_at > $2)
  AND NOT EXISTS (SELECT 1 FROM memory AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.last_confirmed_at > $2)
  AND NOT EXISTS (SELECT 1 FROM profile_statement AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.created_at > $2)
  AND NOT EXISTS (SELECT 1 FROM conversation_preferences AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.created_at > $2)
  AND NOT EXISTS (SELECT 1 FROM consent AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.created_at > $2)
  AND NOT EXISTS (SELECT 1 FROM ephemeral_mode AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.created_at > $2)
  AND NOT EXISTS (SELECT 1 FROM legacy_record AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.created_at > $2)
  AND NOT EXISTS (SELECT 1 FROM rights_answer AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.answered_at > $2)
  AND NOT EXISTS (SELECT 1 FROM erasure AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.what = 'patient')
  AND NOT EXISTS (SELECT 1 FROM action_audit AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id
      AND (x.action IN ('document_stored', 'signal_stored', 'profile_updated', 'consent_permit', 'consent_deny',
        'ephemeral_on', 'ephemeral_off') OR substr(x.action, 1, 8) = 'command_') AND x.at > $2)
  AND NOT EXISTS (SELECT 1 FROM inbox AS x
    WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND x.created_at > $2)

-- name: dormant
{fragment retention/dormant_patients}
  AND (p.created_at, p.patient_id) > ($3, $4)
ORDER BY p.created_at, p.patient_id LIMIT $5;

-- name: still_dormant
-- Same columns as `dormant`.
{fragment retention/dormant_patients}
  AND p.patient_id IN {uuids $3};
