-- Search terms as eight bytes each, biggest first, instead of a list in JSON: read as they lie, a third of the size.
ALTER TABLE passage ADD COLUMN packed BLOB NOT NULL DEFAULT x'';
UPDATE passage SET packed =
  (SELECT coalesce(unhex(group_concat(printf('%016x', value), '')), x'') FROM json_each(passage.terms));
ALTER TABLE passage DROP COLUMN terms;
ALTER TABLE passage RENAME COLUMN packed TO terms;

ALTER TABLE memory ADD COLUMN packed BLOB NOT NULL DEFAULT x'';
UPDATE memory SET packed =
  (SELECT coalesce(unhex(group_concat(printf('%016x', value), '')), x'') FROM json_each(memory.terms));
ALTER TABLE memory DROP COLUMN terms;
ALTER TABLE memory RENAME COLUMN packed TO terms;
