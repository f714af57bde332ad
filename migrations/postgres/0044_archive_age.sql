-- no-transaction
-- Archived texts by their age, for the job that ends terms.
CREATE INDEX CONCURRENTLY IF NOT EXISTS document_archive_age ON document_archive (org_id, archived_at, document_id);
