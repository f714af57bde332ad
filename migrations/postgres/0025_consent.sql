-- A consent says of what it speaks and why, sealed. NULL for what was recorded before.
ALTER TABLE consent ADD COLUMN scope_sealed bytea;
ALTER TABLE consent ADD COLUMN reason_sealed bytea;

-- What becomes of memories when a patient withdraws consent: they are kept and handed to nobody, or forgotten.
ALTER TABLE organization ADD COLUMN withdrawal text NOT NULL DEFAULT 'keep' CHECK (withdrawal IN ('keep', 'forget'));

-- What came without consent was kept whole. Its ids and codes stay. Row-level security binds the owner too, who would find
-- no row to change: it is lifted within this transaction.
ALTER TABLE quarantine NO FORCE ROW LEVEL SECURITY;
UPDATE quarantine SET body_sealed = NULL, attributes_sealed = NULL WHERE reason = 'no_consent';
ALTER TABLE quarantine FORCE ROW LEVEL SECURITY;
