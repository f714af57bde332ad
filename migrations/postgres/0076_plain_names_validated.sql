-- Every row has been filled, so that each is as the constraints say. Validating reads the tables; no one waits for it.
ALTER TABLE documents VALIDATE CONSTRAINT documents_retention_state_check;
ALTER TABLE documents VALIDATE CONSTRAINT documents_retention_evaluated_check;
ALTER TABLE passage VALIDATE CONSTRAINT passage_embedding_pending_check;
ALTER TABLE passage VALIDATE CONSTRAINT passage_missing_next_generation_check;
ALTER TABLE summary VALIDATE CONSTRAINT summary_period_check;
ALTER TABLE organization VALIDATE CONSTRAINT organization_stale_vectors_check;
