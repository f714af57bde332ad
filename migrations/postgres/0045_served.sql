-- Since when a worker serves this store: files that a person names on the command line are bound like any other from then on.
ALTER TABLE key_binding ADD COLUMN served_at bigint;
