-- Which key store this store was written with, and the newest generation of it whose keys are in use here. One row.
CREATE TABLE key_binding (
  one           INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  key_store_id  BLOB NOT NULL CHECK (length(key_store_id) = 16),
  check_value   BLOB NOT NULL CHECK (length(check_value) = 32),
  generation    INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
