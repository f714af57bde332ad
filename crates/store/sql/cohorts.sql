-- Counts of an organisation's patients. The four counts answer the same columns.

-- name: sentiments
-- Distinct patients by the sentiment of their documents.
SELECT 'sentiment' AS dimension, sentiment AS value, count(DISTINCT patient_id) AS patients
FROM documents
WHERE org_id = $1 AND current = 1 AND document_type <> 'analysis' AND sentiment IS NOT NULL
  AND occurred_at >= $2 AND occurred_at < $3 AND patient_id NOT IN {uuids $4}
GROUP BY sentiment;

-- name: risks
-- Distinct patients by the class of the risks that were flagged.
-- Same columns as `sentiments`.
SELECT 'risk' AS dimension, class AS value, count(DISTINCT patient_id) AS patients
FROM risk_flag
WHERE org_id = $1 AND denied = 0 AND experiencer = 'patient' AND at >= $2 AND at < $3
  AND patient_id NOT IN {uuids $4}
GROUP BY class;

-- name: subjects
-- Distinct patients by the type of what was spoken about.
-- Same columns as `sentiments`.
SELECT 'about' AS dimension, entity_type AS value, count(DISTINCT patient_id) AS patients
FROM extracted_findings
WHERE org_id = $1 AND live = 1 AND negated = 0 AND experiencer = 'patient'
  AND document_type IS NOT NULL AND document_type <> 'analysis' AND asserted_at >= $2 AND asserted_at < $3
  AND patient_id NOT IN {uuids $4}
GROUP BY entity_type;

-- name: outcomes
-- Distinct patients by the state that memories ended in.
-- Same columns as `sentiments`.
SELECT 'outcome' AS dimension, state AS value, count(DISTINCT patient_id) AS patients
FROM memory
WHERE org_id = $1 AND kind <> 'raw' AND state IN ('active', 'resolved', 'resolved_unconfirmed', 'superseded')
  AND class IN ('time_bound_state', 'long_lived_fact') AND valid_from >= $2 AND valid_from < $3
  AND patient_id NOT IN {uuids $4}
GROUP BY state;

-- name: count_of_month
-- How many patterns of a month are kept.
SELECT count(*) AS patterns FROM cohort_pattern WHERE org_id = $1 AND month = $2;

-- name: insert
-- rows: cohort_pattern (org_id, month, dimension, value, patients, created_at, updated_at)
INSERT INTO cohort_pattern {rows} ON CONFLICT (org_id, month, dimension, value) DO NOTHING;

-- name: of_organization
SELECT month, dimension, value, patients
FROM cohort_pattern
WHERE org_id = $1
ORDER BY month, dimension, patients DESC, value;
