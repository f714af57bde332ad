-- Plain names of columns. A file has one program, so nothing keeps the old ones.
ALTER TABLE organization RENAME COLUMN vectors_left TO stale_vectors;
ALTER TABLE organization RENAME COLUMN building_left TO reembedding_state;
