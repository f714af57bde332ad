-- A plain name.
DROP INDEX passage_waiting;
CREATE INDEX passage_embedding_pending
  ON passage (org_id, patient_id, id) WHERE embedding_pending = 1;
