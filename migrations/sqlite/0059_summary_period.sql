-- Plain names of columns. A file has one program, so nothing keeps the old ones.
ALTER TABLE summary RENAME COLUMN stretch TO period;
