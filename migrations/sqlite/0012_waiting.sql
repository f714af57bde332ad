-- Passages that wait for the night's cheaper batch of vectors: found by words until then.
ALTER TABLE passage ADD COLUMN waits INTEGER NOT NULL DEFAULT 0 CHECK (waits IN (0, 1));
CREATE INDEX passage_waiting ON passage (org_id, patient_id, id) WHERE waits = 1;
