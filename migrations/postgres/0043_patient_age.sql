-- no-transaction
-- Patients by their age, for the job that ends records.
CREATE INDEX CONCURRENTLY IF NOT EXISTS patient_profile_age ON patient_profile (org_id, created_at, patient_id);
