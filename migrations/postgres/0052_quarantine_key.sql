-- no-transaction
-- Contents of one patient are found when the patient is erased, withdraws consent or begins ephemeral mode.
CREATE INDEX CONCURRENTLY IF NOT EXISTS quarantine_key ON quarantine (key_org_id, key_patient_id) WHERE body_sealed IS NOT NULL;
