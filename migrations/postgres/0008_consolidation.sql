-- What came in since the last settled night, for consolidation.
CREATE INDEX documents_recorded ON documents (org_id, recorded_at, patient_id) WHERE current = 1;
