-- fragment: receipt
org_id, patient_id, id, what, subject_id, requested_by, requested_at, done_at, files_at, counts, mac, said_in

-- name: begin
-- Writes a request down, where the organisation is known.
INSERT INTO erasure (org_id, patient_id, id, what, subject_id, requested_by, requested_at, mac, said_in,
    created_at, updated_at)
SELECT org_id, $2, $3, $4, $5, $6, $7, $8, $9, $7, $7 FROM organization WHERE org_id = $1
ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: end
UPDATE erasure
SET done_at = $4, counts = $5, updated_at = $4
WHERE org_id = $1 AND patient_id = $2 AND id = $3 AND done_at IS NULL;

-- name: end_of_files
-- Notes that the archive of original files holds nothing of it.
UPDATE erasure
SET files_at = $4, updated_at = $4
WHERE org_id = $1 AND patient_id = $2 AND id = $3 AND files_at IS NULL;

-- name: receipts
-- Receipts of a patient, oldest first.
SELECT {fragment erasure/statements/receipt}
FROM erasure
WHERE org_id = $1 AND patient_id = $2
ORDER BY requested_at, id;

-- name: receipts_of_organization
-- Same columns as `receipts`.
SELECT {fragment erasure/statements/receipt} FROM erasure WHERE org_id = $1 ORDER BY requested_at, id;

-- name: incomplete_receipts
-- Same columns as `receipts`.
SELECT {fragment erasure/statements/receipt}
FROM erasure
WHERE org_id = $1 AND (done_at IS NULL OR files_at IS NULL)
ORDER BY patient_id, id LIMIT 1000;

-- name: receipts_of_patients
-- Same columns as `receipts`.
SELECT {fragment erasure/statements/receipt} FROM erasure WHERE org_id = $1 AND patient_id IN {uuids $2};

-- name: receipts_of_whole_patients
-- Same columns as `receipts`.
SELECT {fragment erasure/statements/receipt}
FROM erasure
WHERE org_id = $1 AND patient_id IN {uuids $2} AND what = 'patient';

-- name: holds
-- What legal holds of a patient keep: documents, or all where none is named.
SELECT document_id FROM legal_hold WHERE org_id = $1 AND patient_id = $2 AND lifted_at IS NULL;

-- name: sources_of_memory
-- The memory is one row, looked up once: joined to the findings of a patient with very many, a server without statistics compares each
-- with each (half a minute for 5,000).
SELECT DISTINCT source_id
FROM extracted_findings
WHERE org_id = $1 AND patient_id = $2
  AND group_hash = (SELECT group_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3)
  AND attribute_hash = (SELECT attribute_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3);

-- name: account
-- An account that a job wrote.
SELECT id FROM summary WHERE org_id = $1 AND patient_id = $2 AND id = $3;

-- name: event
INSERT INTO outbox (org_id, id, patient_id, event_type, body_sealed, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6)
ON CONFLICT (org_id, id) DO NOTHING;

-- name: quarantined
-- A page of quarantined messages whose content is there, of an organisation or of none.
SELECT id, body_sealed, attributes_sealed, key_org_id, key_patient_id
FROM quarantine
WHERE (org_id = $1 OR org_id IS NULL) AND id > $2 AND body_sealed IS NOT NULL
ORDER BY id LIMIT $3;

-- name: drop_quarantined
UPDATE quarantine
SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL, updated_at = $2
WHERE id IN {uuids $1};

-- name: revisions_of_document
-- How many rows a table holds of a part.
SELECT count(*) AS held FROM documents WHERE org_id = $1 AND patient_id = $2 AND document_id = $3;

-- name: passages_of_document
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM passage WHERE org_id = $1 AND patient_id = $2 AND document_id = $3;

-- name: findings_of_document
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM extracted_findings WHERE org_id = $1 AND patient_id = $2 AND source_id = $3;

-- name: risks_of_document
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM risk_flag WHERE org_id = $1 AND patient_id = $2 AND document_id = $3;

-- name: archive_of_document
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM document_archive WHERE org_id = $1 AND patient_id = $2 AND document_id = $3;

-- name: memories_of_document
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM memory WHERE org_id = $1 AND patient_id = $2 AND document_id = $3;

-- name: rows_of_memory
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3;

-- name: links_of_memory
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM memory_link WHERE org_id = $1 AND patient_id = $2 AND from_id = $3;

-- name: events_of_memory
-- Same columns as `revisions_of_document`.
SELECT count(*) AS held FROM memory_event WHERE org_id = $1 AND patient_id = $2 AND memory_id = $3;

-- name: delete_outbox
-- Events that say that an erasure is complete stay: they hold no more than the trail does.
DELETE FROM outbox
WHERE org_id = $1 AND patient_id = $2 AND event_type <> 'anamnesis.erasure.completed.v1';

-- name: count_outbox
-- How many rows a table holds of a patient.
SELECT count(*) AS held
FROM outbox
WHERE org_id = $1 AND patient_id = $2 AND event_type <> 'anamnesis.erasure.completed.v1';

-- name: delete_quarantine
-- Of a quarantined message ids and codes stay.
UPDATE quarantine
SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL
WHERE key_org_id = $1 AND key_patient_id = $2 AND body_sealed IS NOT NULL;

-- name: count_quarantine
-- Same columns as `count_outbox`.
SELECT count(*) AS held
FROM quarantine
WHERE key_org_id = $1 AND key_patient_id = $2 AND body_sealed IS NOT NULL;

-- name: delete_rights_answer
DELETE FROM rights_answer WHERE org_id = $1 AND patient_id = $2;

-- name: count_rights_answer
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM rights_answer WHERE org_id = $1 AND patient_id = $2;

-- name: delete_fold_checkpoint
DELETE FROM fold_checkpoint WHERE org_id = $1 AND patient_id = $2;

-- name: count_fold_checkpoint
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM fold_checkpoint WHERE org_id = $1 AND patient_id = $2;

-- name: delete_inbox
DELETE FROM inbox WHERE org_id = $1 AND patient_id = $2;

-- name: count_inbox
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM inbox WHERE org_id = $1 AND patient_id = $2;

-- name: delete_embedding
DELETE FROM embedding WHERE org_id = $1 AND patient_id = $2;

-- name: count_embedding
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM embedding WHERE org_id = $1 AND patient_id = $2;

-- name: delete_passage
DELETE FROM passage WHERE org_id = $1 AND patient_id = $2;

-- name: count_passage
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM passage WHERE org_id = $1 AND patient_id = $2;

-- name: delete_risk_flag
DELETE FROM risk_flag WHERE org_id = $1 AND patient_id = $2;

-- name: count_risk_flag
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM risk_flag WHERE org_id = $1 AND patient_id = $2;

-- name: delete_document_archive
DELETE FROM document_archive WHERE org_id = $1 AND patient_id = $2;

-- name: count_document_archive
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM document_archive WHERE org_id = $1 AND patient_id = $2;

-- name: delete_conditions
DELETE FROM conditions WHERE org_id = $1 AND patient_id = $2;

-- name: count_conditions
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM conditions WHERE org_id = $1 AND patient_id = $2;

-- name: delete_allergies
DELETE FROM allergies WHERE org_id = $1 AND patient_id = $2;

-- name: count_allergies
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM allergies WHERE org_id = $1 AND patient_id = $2;

-- name: delete_medications
DELETE FROM medications WHERE org_id = $1 AND patient_id = $2;

-- name: count_medications
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM medications WHERE org_id = $1 AND patient_id = $2;

-- name: delete_symptom_states
DELETE FROM symptom_states WHERE org_id = $1 AND patient_id = $2;

-- name: count_symptom_states
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM symptom_states WHERE org_id = $1 AND patient_id = $2;

-- name: delete_appointments
DELETE FROM appointments WHERE org_id = $1 AND patient_id = $2;

-- name: count_appointments
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM appointments WHERE org_id = $1 AND patient_id = $2;

-- name: delete_health_signals
DELETE FROM health_signals WHERE org_id = $1 AND patient_id = $2;

-- name: count_health_signals
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM health_signals WHERE org_id = $1 AND patient_id = $2;

-- name: delete_contradiction
DELETE FROM contradiction WHERE org_id = $1 AND patient_id = $2;

-- name: count_contradiction
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM contradiction WHERE org_id = $1 AND patient_id = $2;

-- name: delete_memory_link
DELETE FROM memory_link WHERE org_id = $1 AND patient_id = $2;

-- name: count_memory_link
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM memory_link WHERE org_id = $1 AND patient_id = $2;

-- name: delete_memory_event
DELETE FROM memory_event WHERE org_id = $1 AND patient_id = $2;

-- name: count_memory_event
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM memory_event WHERE org_id = $1 AND patient_id = $2;

-- name: delete_memory
DELETE FROM memory WHERE org_id = $1 AND patient_id = $2;

-- name: count_memory
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM memory WHERE org_id = $1 AND patient_id = $2;

-- name: delete_extracted_findings
DELETE FROM extracted_findings WHERE org_id = $1 AND patient_id = $2;

-- name: count_extracted_findings
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM extracted_findings WHERE org_id = $1 AND patient_id = $2;

-- name: delete_summary
DELETE FROM summary WHERE org_id = $1 AND patient_id = $2;

-- name: count_summary
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM summary WHERE org_id = $1 AND patient_id = $2;

-- name: delete_legacy_record
DELETE FROM legacy_record WHERE org_id = $1 AND patient_id = $2;

-- name: count_legacy_record
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM legacy_record WHERE org_id = $1 AND patient_id = $2;

-- name: delete_confidence_course
DELETE FROM confidence_course WHERE org_id = $1 AND patient_id = $2;

-- name: count_confidence_course
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM confidence_course WHERE org_id = $1 AND patient_id = $2;

-- name: delete_conversation_preferences
DELETE FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2;

-- name: count_conversation_preferences
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2;

-- name: delete_profile_statement
DELETE FROM profile_statement WHERE org_id = $1 AND patient_id = $2;

-- name: count_profile_statement
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM profile_statement WHERE org_id = $1 AND patient_id = $2;

-- name: delete_ephemeral_mode
DELETE FROM ephemeral_mode WHERE org_id = $1 AND patient_id = $2;

-- name: count_ephemeral_mode
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM ephemeral_mode WHERE org_id = $1 AND patient_id = $2;

-- name: delete_consent
DELETE FROM consent WHERE org_id = $1 AND patient_id = $2;

-- name: count_consent
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM consent WHERE org_id = $1 AND patient_id = $2;

-- name: delete_documents
DELETE FROM documents WHERE org_id = $1 AND patient_id = $2;

-- name: count_documents
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM documents WHERE org_id = $1 AND patient_id = $2;

-- name: delete_legal_hold
DELETE FROM legal_hold WHERE org_id = $1 AND patient_id = $2;

-- name: count_legal_hold
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM legal_hold WHERE org_id = $1 AND patient_id = $2;

-- name: delete_patient_profile
DELETE FROM patient_profile WHERE org_id = $1 AND patient_id = $2;

-- name: count_patient_profile
-- Same columns as `count_outbox`.
SELECT count(*) AS held FROM patient_profile WHERE org_id = $1 AND patient_id = $2;
