-- Which key store this store was written with, and the newest generation of it whose keys are in use here. One row.
CREATE TABLE key_binding (
  one           bigint NOT NULL PRIMARY KEY CHECK (one = 1),
  key_store_id  uuid NOT NULL,
  check_value   bytea NOT NULL CHECK (length(check_value) = 32),
  generation    bigint NOT NULL,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL
);
