-- A consent says of what it speaks and why, sealed. NULL for what was recorded before.
ALTER TABLE consent ADD COLUMN scope_sealed BLOB;
ALTER TABLE consent ADD COLUMN reason_sealed BLOB;

-- What becomes of memories when a patient withdraws consent: they are kept and handed to nobody, or forgotten.
ALTER TABLE organization ADD COLUMN withdrawal TEXT NOT NULL DEFAULT 'keep' CHECK (withdrawal IN ('keep', 'forget'));
