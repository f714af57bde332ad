-- Privileges, least first; `anamnesis migrate` runs this after the migrations, each time. A table that is not named here
-- is nobody's but the owner's. No role may truncate, which row-level security does not see.
REVOKE ALL ON ALL TABLES IN SCHEMA anamnesis FROM anamnesis_app, anamnesis_jobs, anamnesis_audit, anamnesis_read, PUBLIC;
GRANT SELECT ON _sqlx_migrations TO anamnesis_app, anamnesis_jobs, anamnesis_audit, anamnesis_read;

GRANT SELECT, INSERT, UPDATE, DELETE ON
  patient_profile, profile_statement, ephemeral_mode, inbox, documents, passage, embedding,
  extracted_findings, memory, memory_event,
  contradiction, conditions, allergies, medications, symptom_states, appointments, health_signals,
  conversation_preferences, consent, risk_flag, outbox, attempt, attempt_batch, quarantine, job_run, job_watermark, document_archive, summary, legacy_record,
  confidence_course, cohort_pattern, fold_checkpoint, rights_answer
  TO anamnesis_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON legal_hold TO anamnesis_app;
-- A receipt outlives what it names, until its own term (job upkeep, which may run as this role).
GRANT SELECT, INSERT, UPDATE, DELETE ON erasure TO anamnesis_app;
-- Lineage is write-once, and what was audited stays.
GRANT SELECT, INSERT, DELETE ON memory_link TO anamnesis_app;
GRANT SELECT, INSERT ON action_audit, quarantine_act, audit_block TO anamnesis_app;
GRANT DELETE ON quarantine_act TO anamnesis_app;
-- Sealing names an entry's block, and what is past its term goes by block; a trigger keeps everything else.
GRANT UPDATE (block) ON action_audit TO anamnesis_app, anamnesis_jobs;
GRANT UPDATE (purged_before) ON audit_block TO anamnesis_app, anamnesis_jobs;
GRANT DELETE ON action_audit TO anamnesis_app, anamnesis_jobs;
GRANT SELECT, INSERT, UPDATE ON organization TO anamnesis_app;
-- Which key store belongs to this store; every role compares it, writers keep it up to date.
GRANT SELECT ON key_binding TO anamnesis_app, anamnesis_jobs, anamnesis_audit, anamnesis_read;
GRANT INSERT, UPDATE ON key_binding TO anamnesis_app;
-- Counts of reads, which belong to no organisation.
GRANT SELECT, INSERT, UPDATE ON command_metric TO anamnesis_app;
GRANT UPDATE (generation, updated_at) ON key_binding TO anamnesis_jobs;

-- Tells nothing of anybody's rows: how many tables have new statistics.
GRANT EXECUTE ON FUNCTION refresh_statistics() TO anamnesis_app, anamnesis_jobs;

-- The nights change what is remembered, never what came in; they let go of it when its time has come (retention).
GRANT SELECT ON
  organization, patient_profile, profile_statement, ephemeral_mode, inbox, documents, consent, risk_flag,
  conversation_preferences, legal_hold
  TO anamnesis_jobs;
GRANT UPDATE (content_sealed, retention_state, retention_state_at, retention_evaluated, retention_due_at, updated_at) ON documents
  TO anamnesis_jobs;
-- Accounts of several documents are documents of their own.
GRANT INSERT, UPDATE (occurred_at, body_hash, language, current, retired_at, recorded_at, mac) ON documents TO anamnesis_jobs;
GRANT UPDATE (evidence_sealed, updated_at) ON risk_flag TO anamnesis_jobs;
GRANT SELECT, INSERT, DELETE, UPDATE (content_sealed, updated_at) ON document_archive TO anamnesis_jobs;
GRANT SELECT, INSERT, UPDATE, DELETE ON
  passage, embedding, extracted_findings, memory, memory_event, contradiction, conditions, allergies,
  medications, symptom_states, appointments, health_signals, outbox, job_run, job_watermark, summary,
  confidence_course, cohort_pattern, fold_checkpoint
  TO anamnesis_jobs;
GRANT SELECT, INSERT, DELETE ON memory_link TO anamnesis_jobs;
-- But for what a later redaction takes out of it.
GRANT UPDATE (content_sealed, redaction_policy, updated_at) ON documents TO anamnesis_jobs;
GRANT UPDATE (evidence_sealed, evidence_start, evidence_end, updated_at) ON risk_flag TO anamnesis_jobs;
-- Which generation of vectors is searched is the nights' to change.
GRANT UPDATE (vector_generation, vector_model, building_generation, building_model, vectors_swapped_at, stale_vectors,
  reembedding_state, updated_at) ON organization TO anamnesis_jobs;
-- What passed through long ago is known by nobody any more.
GRANT DELETE ON inbox TO anamnesis_jobs;
GRANT SELECT, DELETE ON attempt, attempt_batch TO anamnesis_jobs;
-- What was set aside has a term; that it ended is written down.
GRANT SELECT, DELETE, UPDATE (state, body_sealed, attributes_sealed, expired_at, updated_at) ON quarantine TO anamnesis_jobs;
GRANT SELECT, INSERT, DELETE ON quarantine_act TO anamnesis_jobs;
-- Rows of versions before rows had a hash get one.
GRANT UPDATE (mac) ON consent, risk_flag, ephemeral_mode, legal_hold, erasure, documents, profile_statement, organization,
  document_archive, quarantine TO anamnesis_jobs;
-- A hold that was lifted has a term.
GRANT DELETE ON legal_hold TO anamnesis_jobs;
GRANT SELECT, DELETE ON rights_answer TO anamnesis_jobs;
-- Who folds a patient's memory holds the patient's row, which is a right to write it.
GRANT UPDATE (facts_redacted_by, updated_at) ON patient_profile TO anamnesis_jobs;
-- What was stated of a patient is projected again where a version before this one left it out.
GRANT UPDATE (cognitive_state, cognitive_state_at, disclaimer_accepted_at, region_sealed, privacy_tier_sealed,
  emergency_contacts_sealed, profile_at, privacy_tier, country, ephemeral) ON patient_profile TO anamnesis_jobs;
-- But for what a later redaction takes out of them.
GRANT UPDATE (value_sealed, updated_at) ON conversation_preferences TO anamnesis_jobs;
GRANT SELECT, UPDATE (record_sealed, updated_at) ON legacy_record TO anamnesis_jobs;
GRANT SELECT, INSERT ON action_audit, audit_block TO anamnesis_jobs;

-- A record that is past its term is erased by a request, which a worker completes; a receipt has a term too.
GRANT SELECT, INSERT, DELETE ON erasure TO anamnesis_jobs;

-- Who reads what was done may also erase a patient from the trail: an entry says so, and the chain holds.
GRANT SELECT, INSERT ON action_audit, audit_block TO anamnesis_audit;
GRANT UPDATE (patient_id, actor, role, purpose, reason, subject_id, salt, block, leaf, erased_by, updated_at) ON action_audit
  TO anamnesis_audit;
GRANT SELECT ON quarantine_act, memory_event, job_run, organization, legal_hold, erasure TO anamnesis_audit;

GRANT SELECT ON
  organization, patient_profile, profile_statement, ephemeral_mode, documents, passage, embedding, extracted_findings,
  memory, memory_link, memory_event,
  contradiction, conditions, allergies, medications, symptom_states, appointments, health_signals,
  conversation_preferences, consent, risk_flag, summary, legacy_record, confidence_course,
  cohort_pattern
  TO anamnesis_read;

-- Names of the version before (migrations 0056 to 0061), for its workers until they are replaced: 0.4.0 drops them.
GRANT UPDATE (fate, fate_at, reckoned) ON documents TO anamnesis_jobs;
GRANT UPDATE (vectors_left, building_left) ON organization TO anamnesis_jobs;
GRANT SELECT, INSERT, UPDATE, DELETE ON job_mark TO anamnesis_app, anamnesis_jobs;
