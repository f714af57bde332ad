-- no-transaction
-- Entries of a patient are few, and blocks are in the order of time: nothing reads by this index.
DROP INDEX CONCURRENTLY IF EXISTS action_audit_at;
