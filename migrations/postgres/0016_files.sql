-- Where in which uploaded file something was found: hash of the file and page, sealed. NULL for what no file says, and for
-- what was stored before.
ALTER TABLE memory ADD COLUMN file_sealed bytea;
ALTER TABLE risk_flag ADD COLUMN file_sealed bytea;
ALTER TABLE memory ALTER COLUMN file_sealed SET STATISTICS 0;
ALTER TABLE risk_flag ALTER COLUMN file_sealed SET STATISTICS 0;
