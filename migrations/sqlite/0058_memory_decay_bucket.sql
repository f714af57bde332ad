-- Plain names of columns. A file has one program, so nothing keeps the old ones.
ALTER TABLE memory RENAME COLUMN fade_level TO decay_bucket;
