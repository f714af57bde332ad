-- fragment: indexed_actions
-- The list of actions is that of the index `action_audit_acts`, in the words in which an engine finds it.
action IN ('hold_set', 'hold_lifted', 'erase', 'quarantined_retried', 'consent_permit', 'consent_deny',
    'ephemeral_on', 'ephemeral_off')

-- name: acts
-- Entries of acts that rows are compared with.
SELECT action, patient_id, subject_id, id, outcome, at
FROM action_audit
WHERE org_id = $1
  AND {fragment audit_trail/acts/indexed_actions}
  AND action IN ('hold_set', 'hold_lifted', 'erase', 'quarantined_retried');

-- name: acts_of
-- Entries on the holds of some patients. Same columns as `acts`.
SELECT action, patient_id, subject_id, id, outcome, at
FROM action_audit
WHERE org_id = $1 AND patient_id IN {uuids $2}
  AND {fragment audit_trail/acts/indexed_actions}
  AND action IN ('hold_set', 'hold_lifted');

-- name: holds
SELECT patient_id, id, lifted_at FROM legal_hold WHERE org_id = $1;

-- name: holds_of
-- Same columns as `holds`.
SELECT patient_id, id, lifted_at FROM legal_hold WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: receipts
-- Receipts of erasures, which `erasing::receipt` reads.
SELECT {fragment erasure/statements/receipt} FROM erasure WHERE org_id = $1;

-- name: unknown_of_documents
-- Patients are compared by their profiles' rows, which every message makes: one without is compared by nothing.
SELECT count(DISTINCT d.patient_id) AS patients
FROM documents AS d
WHERE d.org_id = $1
  AND NOT EXISTS (SELECT 1 FROM patient_profile AS p WHERE p.org_id = $1 AND p.patient_id = d.patient_id);

-- name: unknown_of_memories
-- Same columns as `unknown_of_documents`.
SELECT count(DISTINCT m.patient_id) AS patients
FROM memory AS m
WHERE m.org_id = $1
  AND NOT EXISTS (SELECT 1 FROM patient_profile AS p WHERE p.org_id = $1 AND p.patient_id = m.patient_id);

-- name: quarantined
-- A page of quarantined messages. Those of no known organisation are looked at by every organisation's run: they are
-- what its producers may have sent.
SELECT id, org_id, reason, created_at, mac, state, updated_at,
  CASE WHEN body_sealed IS NULL THEN 0 ELSE 1 END AS has_body
FROM quarantine
WHERE (org_id = $1 OR org_id IS NULL) AND id > $2
ORDER BY id LIMIT $3;

-- name: horizon
-- The instant before which entries may be gone after their term.
SELECT max(purged_before) AS horizon FROM audit_block WHERE org_id = $1 AND purged_before IS NOT NULL;

-- name: held
-- The holds that are in force.
SELECT patient_id, id FROM legal_hold WHERE org_id = $1 AND lifted_at IS NULL;

-- name: adopt
-- Gives receipts of versions before they were covered their hash.
-- rows: erasure (org_id, patient_id, id, mac)
UPDATE erasure
SET mac = r.mac
FROM {rows} AS r
WHERE erasure.org_id = r.org_id AND erasure.patient_id = r.patient_id AND erasure.id = r.id
  AND erasure.mac IS NULL;

-- name: adopt_quarantined
-- The same of quarantined messages.
-- rows: quarantine (id, mac)
UPDATE quarantine SET mac = r.mac FROM {rows} AS r WHERE quarantine.id = r.id AND quarantine.mac IS NULL;
