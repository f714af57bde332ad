-- The tables of the tenants, each with the columns that say what is remembered, in the order in which they are digested. The
-- second column is the patient where a table has one. Each statement has the name of its table.

-- name: patients
SELECT DISTINCT patient_id FROM patient_profile WHERE org_id = $1;

-- name: organization
SELECT org_id, time_zone, redaction_policy, consent_required, withdrawal, privacy_tier, country,
    emergency_text_en, emergency_text_es
FROM organization
WHERE org_id = $1;

-- name: patient_profile
SELECT org_id, patient_id, cognitive_state, cognitive_state_at, disclaimer_accepted_at, region_sealed,
    privacy_tier_sealed, emergency_contacts_sealed, profile_at, ephemeral, privacy_tier, country
FROM patient_profile
WHERE org_id = $1;

-- name: profile_statement
SELECT org_id, patient_id, id, stated_at, cognitive_state, disclaimer_accepted_at, region_sealed,
    privacy_tier_sealed, emergency_contacts_sealed
FROM profile_statement
WHERE org_id = $1;

-- name: ephemeral_mode
SELECT org_id, patient_id, id, from_at, is_on FROM ephemeral_mode WHERE org_id = $1;

-- name: inbox
SELECT org_id, patient_id, message_hash, body_hash, message_type, disposition FROM inbox WHERE org_id = $1;

-- name: quarantine
SELECT org_id, id, message_hash, reason, field, state FROM quarantine WHERE org_id = $1;

-- name: documents
SELECT org_id, patient_id, document_id, revision, document_type, occurred_at, language, therapist_id,
    signed_by, ends_at, session_hash, sentiment, risk_level, body_hash, content_sealed, redaction_policy,
    extractor_version, current, retention_state, risks
FROM documents
WHERE org_id = $1;

-- name: document_archive
SELECT org_id, patient_id, document_id, revision, content_sealed FROM document_archive WHERE org_id = $1;

-- name: legal_hold
SELECT org_id, patient_id, id, document_id, reference_sealed, set_by, set_at, lifted_by, lifted_at
FROM legal_hold
WHERE org_id = $1;

-- name: passage
SELECT org_id, patient_id, id, document_id, revision, ordinal, start_offset, end_offset, text_hash, terms
FROM passage
WHERE org_id = $1;

-- name: embedding
SELECT org_id, patient_id, generation, passage_id, dimension, vector FROM embedding WHERE org_id = $1;

-- name: extracted_findings
SELECT org_id, patient_id, id, source_id, revision, live, group_hash, attribute_hash, entity_type, kind,
    class, set_by, document_type, source_type, epistemic, trust, ending, blanket, negated, uncertain,
    temporality, experiencer, extraction_confidence, initial_confidence, confidence_basis, is_proxy,
    asserted_at, valid_from, expires_at, ends_at, text_hash, payload_sealed, evidence_sealed,
    evidence_start, evidence_end, extractor_version, tombstone_of
FROM extracted_findings
WHERE org_id = $1;

-- name: memory
SELECT org_id, patient_id, id, group_hash, attribute_hash, kind, class, entity_type, sensitivity, state,
    contested, ungrounded, content_sealed, finding_id, document_id, revision, evidence_sealed,
    evidence_start, evidence_end, file_sealed, source_type, epistemic, source_entity_sealed, is_proxy,
    trust, set_by, negated, experiencer, extraction_confidence, initial_confidence, confidence_basis,
    confidence, decay_bucket, times_reinforced, verification_count, last_verified, is_protected, cycle,
    valid_from, valid_to, last_confirmed_at, reconfirm_due_at, expires_at, ends_at, state_at, supersedes,
    superseded_by, terms, embedding_generation, redaction_policy, schema_version
FROM memory
WHERE org_id = $1;

-- name: legacy_record
SELECT org_id, patient_id, id, format, ordinal, record_hash, record_sealed
FROM legacy_record
WHERE org_id = $1;

-- name: confidence_course
SELECT org_id, patient_id, input_id, course_sealed, alert, alerted_at, as_of
FROM confidence_course
WHERE org_id = $1;

-- name: cohort_pattern
SELECT org_id, month, dimension, value, patients FROM cohort_pattern WHERE org_id = $1;

-- name: summary
SELECT org_id, patient_id, id, period, from_at, until_at, facts, input_id FROM summary WHERE org_id = $1;

-- name: memory_link
SELECT org_id, patient_id, relation, from_kind, from_id, to_kind, to_id FROM memory_link WHERE org_id = $1;

-- name: memory_event
SELECT org_id, patient_id, id, memory_id, derived, at, action, source, old_confidence, new_confidence,
    evidence_kind, evidence_id
FROM memory_event
WHERE org_id = $1;

-- name: contradiction
SELECT org_id, patient_id, id, group_hash, kept_id, claim_id, type, state, found_at
FROM contradiction
WHERE org_id = $1;

-- name: conditions
SELECT org_id, patient_id, memory_id, name_sealed, code_sealed, status, experiencer, trust, set_by, since
FROM conditions
WHERE org_id = $1;

-- name: allergies
SELECT org_id, patient_id, memory_id, substance_sealed, reaction_sealed, status, trust, set_by, since
FROM allergies
WHERE org_id = $1;

-- name: medications
SELECT org_id, patient_id, memory_id, name_sealed, dose_sealed, route_sealed, frequency_sealed, status,
    trust, set_by, since, until
FROM medications
WHERE org_id = $1;

-- name: symptom_states
SELECT org_id, patient_id, memory_id, name_sealed, severity, status, trust, set_by, onset,
    last_confirmed_at, expires_at
FROM symptom_states
WHERE org_id = $1;

-- name: appointments
SELECT org_id, patient_id, memory_id, title_sealed, status, at, set_by FROM appointments WHERE org_id = $1;

-- name: health_signals
SELECT org_id, patient_id, memory_id, metric_hash, reading_sealed, status, synced_at
FROM health_signals
WHERE org_id = $1;

-- name: conversation_preferences
SELECT org_id, patient_id, key_hash, key_sealed, value_sealed, source, confidence, stated_at, stated_by
FROM conversation_preferences
WHERE org_id = $1;

-- name: consent
SELECT org_id, patient_id, id, scope_hash, scope_sealed, provision, from_at, until_at, stated_at,
    recorded_by, reason_sealed
FROM consent
WHERE org_id = $1;

-- name: action_audit
SELECT org_id, patient_id, id, actor, role, purpose, reason, action, subject_id, outcome
FROM action_audit
WHERE org_id = $1;

-- name: risk_flag
SELECT org_id, patient_id, id, document_id, revision, class, denied, experiencer, heard_by, probability,
    level, temporality, detail_sealed, evidence_sealed, evidence_start, evidence_end, file_sealed, at
FROM risk_flag
WHERE org_id = $1;

-- name: outbox
SELECT org_id, patient_id, id, event_type, body_sealed FROM outbox WHERE org_id = $1;
