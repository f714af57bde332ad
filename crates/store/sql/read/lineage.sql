-- name: up
-- To what memories were made from. `processed_into` is `derived_from` as the parent says it: it is walked downwards only,
-- and each pair counts once.
SELECT relation, from_kind, from_id, to_kind, to_id
FROM memory_link
WHERE org_id = $1 AND patient_id = $2 AND from_id IN {uuids $3} AND relation <> 'processed_into'
ORDER BY relation, from_id, to_id;

-- name: down
-- To what was made from memories; same columns as `up`.
SELECT relation, to_kind AS from_kind, to_id AS from_id, from_kind AS to_kind, from_id AS to_id
FROM memory_link
WHERE org_id = $1 AND patient_id = $2 AND to_id IN {uuids $3} AND relation <> 'processed_into'
UNION ALL
SELECT relation, from_kind, from_id, to_kind, to_id
FROM memory_link AS made
WHERE org_id = $1 AND patient_id = $2 AND from_id IN {uuids $3} AND relation = 'processed_into'
  AND NOT EXISTS (SELECT 1 FROM memory_link AS mirrored
    WHERE mirrored.org_id = made.org_id AND mirrored.patient_id = made.patient_id
      AND mirrored.from_id = made.to_id AND mirrored.to_id = made.from_id)
ORDER BY 1, 3, 5;

-- name: history
SELECT at, action, source, derived, old_confidence, new_confidence, evidence_kind, evidence_id
FROM memory_event
WHERE org_id = $1 AND patient_id = $2 AND memory_id = $3
ORDER BY at, CASE action WHEN 'created' THEN 0 ELSE 1 END, id;

-- name: contradictions
SELECT id, kept_id, claim_id, type, state, found_at
FROM contradiction
WHERE org_id = $1 AND patient_id = $2
ORDER BY found_at DESC, id;

-- name: origins
-- For each memory and relation: how many links there are, how many of them lead to what is still there, and how many to
-- raw captures.
SELECT m.id, m.source_type, l.relation, count(l.to_id) AS links,
    count(CASE WHEN l.to_kind = 'event' OR p.id IS NOT NULL THEN 1 END) AS links_left,
    count(CASE WHEN p.kind = 'raw' THEN 1 END) AS captures
FROM memory AS m
LEFT JOIN memory_link AS l ON l.org_id = m.org_id AND l.patient_id = m.patient_id AND l.from_id = m.id
  AND l.relation IN ('derived_from', 'source_episode')
LEFT JOIN memory AS p ON p.org_id = l.org_id AND p.patient_id = l.patient_id AND p.id = l.to_id
WHERE m.org_id = $1 AND m.patient_id = $2 AND m.id IN {uuids $3}
GROUP BY m.id, m.source_type, l.relation;

-- name: read_by
-- The version of the rules that read the finding whose words a memory has.
SELECT f.extractor_version
FROM memory AS m
JOIN extracted_findings AS f ON f.org_id = m.org_id AND f.patient_id = m.patient_id AND f.id = m.finding_id
WHERE m.org_id = $1 AND m.patient_id = $2 AND m.id = $3;
