-- Whose key the body of a quarantined message is sealed with; empty where the platform's is. `expired_at` says when the body
-- went because its term ended. A look says what of the body was shown (none, redacted, raw).
ALTER TABLE quarantine ADD COLUMN key_org_id BLOB;
ALTER TABLE quarantine ADD COLUMN key_patient_id BLOB;
ALTER TABLE quarantine ADD COLUMN expired_at INTEGER;
ALTER TABLE quarantine_act ADD COLUMN content TEXT;
