-- In which documents an erased memory was said: messages and original files that name them go as well. Ids, separated by spaces.
ALTER TABLE erasure ADD COLUMN said_in text;
