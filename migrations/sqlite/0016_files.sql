-- Where in which uploaded file something was found: hash of the file and page, sealed. NULL for what no file says, and for
-- what was stored before.
ALTER TABLE memory ADD COLUMN file_sealed BLOB;
ALTER TABLE risk_flag ADD COLUMN file_sealed BLOB;
