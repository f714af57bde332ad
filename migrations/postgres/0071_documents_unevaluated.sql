-- no-transaction
-- As `documents_unreckoned`, which stays for workers of the version before and goes with its columns.
CREATE INDEX CONCURRENTLY IF NOT EXISTS documents_unevaluated
  ON documents (org_id, patient_id, document_id, revision) WHERE retention_evaluated = 0;
