-- Policy and recognisers that what is known of a patient apart from documents has passed: profile facts, preferences and imported
-- records.
ALTER TABLE patient_profile ADD COLUMN facts_redacted_by text;
