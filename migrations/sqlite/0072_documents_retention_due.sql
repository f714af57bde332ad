-- A plain name.
DROP INDEX documents_retention;
CREATE INDEX documents_retention_due
  ON documents (org_id, retention_due_at, patient_id, document_id, revision)
  WHERE retention_state IS NULL AND retention_evaluated = 1 AND retention_due_at IS NOT NULL;
