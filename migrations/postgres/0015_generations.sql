-- Which generation of vectors is searched, and which one is made beside it. Without a value: the configured one. The rows
-- of organisations are under row-level security since 0001.
ALTER TABLE organization ADD COLUMN vector_generation bigint;
ALTER TABLE organization ADD COLUMN vector_model text;
ALTER TABLE organization ADD COLUMN building_generation bigint;
ALTER TABLE organization ADD COLUMN building_model text;
ALTER TABLE organization ADD COLUMN vectors_swapped_at bigint;
-- Vectors of other generations are still kept.
ALTER TABLE organization ADD COLUMN vectors_left smallint NOT NULL DEFAULT 0 CHECK (vectors_left IN (0, 1));

-- Passages that came while a generation was made: they lack a vector of it, whatever was walked already.
ALTER TABLE passage ADD COLUMN behind smallint NOT NULL DEFAULT 0 CHECK (behind IN (0, 1));
CREATE INDEX passage_behind ON passage (org_id, patient_id, id) WHERE behind = 1;
