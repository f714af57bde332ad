-- The primary key finds a patient's vectors; those of one passage are few among them, and an index of their own cost every
-- insert.
DROP INDEX embedding_passage;
