-- A patient's vectors in the order in which they came, which is how they lie in the file. By the primary key, in the order of
-- ids that are hashes, every one of them was looked for from the root again: half the time of a search.
CREATE INDEX embedding_order ON embedding (org_id, patient_id, generation);
