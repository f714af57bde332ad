-- Since when a worker serves this store: files that a person names on the command line are bound like any other from then on.
ALTER TABLE key_binding ADD COLUMN served_at bigint;
-- Blocks of the audit trail are a worker's work: such a store was served.
UPDATE key_binding SET served_at = updated_at WHERE EXISTS (SELECT 1 FROM audit_block);
