-- A plain name.
DROP INDEX documents_unreckoned;
CREATE INDEX documents_unevaluated
  ON documents (org_id, patient_id, document_id, revision) WHERE retention_evaluated = 0;
