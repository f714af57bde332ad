-- Which clinician signed a document of a model, and when all that a document says ends, where its producer says so.
ALTER TABLE documents ADD COLUMN signed_by BLOB;
ALTER TABLE documents ADD COLUMN ends_at INTEGER;
ALTER TABLE extracted_findings ADD COLUMN ends_at INTEGER;
ALTER TABLE memory ADD COLUMN ends_at INTEGER;
-- Keyed hash of the whole redacted text that carries a finding: the same words under another document id are one piece of
-- evidence. NULL for what was stored before.
ALTER TABLE extracted_findings ADD COLUMN text_hash BLOB;
