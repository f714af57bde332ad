-- A keyed hash over the row: who marks a run as done behind the program keeps it from being run.
ALTER TABLE job_run ADD COLUMN mac bytea;
