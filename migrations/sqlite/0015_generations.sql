-- Which generation of vectors is searched, and which one is made beside it. Without a value: the configured one.
ALTER TABLE organization ADD COLUMN vector_generation INTEGER;
ALTER TABLE organization ADD COLUMN vector_model TEXT;
ALTER TABLE organization ADD COLUMN building_generation INTEGER;
ALTER TABLE organization ADD COLUMN building_model TEXT;
ALTER TABLE organization ADD COLUMN vectors_swapped_at INTEGER;
-- Vectors of other generations are still kept.
ALTER TABLE organization ADD COLUMN vectors_left INTEGER NOT NULL DEFAULT 0 CHECK (vectors_left IN (0, 1));

-- Passages that came while a generation was made: they lack a vector of it, whatever was walked already.
ALTER TABLE passage ADD COLUMN behind INTEGER NOT NULL DEFAULT 0 CHECK (behind IN (0, 1));
CREATE INDEX passage_behind ON passage (org_id, patient_id, id) WHERE behind = 1;
