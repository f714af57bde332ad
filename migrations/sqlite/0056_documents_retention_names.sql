-- Plain names of columns. A file has one program, so nothing keeps the old ones.
ALTER TABLE documents RENAME COLUMN fate TO retention_state;
ALTER TABLE documents RENAME COLUMN fate_at TO retention_state_at;
ALTER TABLE documents RENAME COLUMN reckoned TO retention_evaluated;
