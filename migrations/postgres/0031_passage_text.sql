-- An equal text of the same patient has the same vector: it is found by the passage that has it, and no longer kept a second
-- time. Of passages from before, the text counts as new when it comes again.
ALTER TABLE passage ADD COLUMN text_hash bytea;
DROP TABLE embedding_cache;
