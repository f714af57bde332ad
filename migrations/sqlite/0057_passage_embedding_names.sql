-- Plain names of columns. A file has one program, so nothing keeps the old ones.
ALTER TABLE passage RENAME COLUMN waits TO embedding_pending;
ALTER TABLE passage RENAME COLUMN behind TO missing_next_generation;
