-- Findings of a group that came after a checkpoint.
CREATE INDEX extracted_findings_time ON extracted_findings (org_id, patient_id, group_hash, asserted_at);
