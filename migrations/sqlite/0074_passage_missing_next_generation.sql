-- A plain name.
DROP INDEX passage_behind;
CREATE INDEX passage_missing_next_generation
  ON passage (org_id, patient_id, id) WHERE missing_next_generation = 1;
