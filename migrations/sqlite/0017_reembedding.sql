-- What the last night of re-embedding left for the next one: how far it walked, or what the gates said, of how many passages and
-- under which settings. Opaque ids and numbers. Without a value: all is walked from the beginning.
ALTER TABLE organization ADD COLUMN building_left TEXT;
