-- A consent says of what it speaks and why, sealed. NULL for what was recorded before.
ALTER TABLE consent ADD COLUMN scope_sealed bytea;
ALTER TABLE consent ADD COLUMN reason_sealed bytea;

-- What becomes of memories when a patient withdraws consent: they are kept and handed to nobody, or forgotten.
ALTER TABLE organization ADD COLUMN withdrawal text NOT NULL DEFAULT 'keep';
ALTER TABLE organization ADD CONSTRAINT organization_withdrawal CHECK (withdrawal IN ('keep', 'forget')) NOT VALID;
