-- no-transaction
-- Quarantined messages by their age, for the job that ends their terms.
CREATE INDEX CONCURRENTLY IF NOT EXISTS quarantine_age ON quarantine (created_at, id);
