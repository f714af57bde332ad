-- Run once in each database, as a superuser, before the first `anamnesis migrate`; running it again changes nothing:
--
--   CREATE DATABASE clinic;
--   psql clinic -f roles.sql
--   CREATE ROLE clinic_migrator LOGIN PASSWORD '...' IN ROLE anamnesis_owner;   -- `anamnesis migrate` only
--   CREATE ROLE clinic_worker   LOGIN PASSWORD '...' IN ROLE anamnesis_app;     -- what store.url names
--
-- The roles below cannot log in: give each program or person a role of its own and make it a member.
--   anamnesis_owner   owns the schema; nothing but migrations runs as it
--   anamnesis_app     takes in and reads: the worker, `ingest`, `context`
--   anamnesis_jobs    the nights and the relay; may list organisations, reads rows inside one scope only
--   anamnesis_audit   reads what was done, never what was said
--   anamnesis_read    reads rows inside one scope, changes nothing
-- None is a superuser, none bypasses row-level security; the program refuses to run as one that does, or as the owner.
DO $$
DECLARE
  role text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('anamnesis.roles'));
  FOREACH role IN ARRAY ARRAY['anamnesis_owner', 'anamnesis_app', 'anamnesis_jobs', 'anamnesis_audit', 'anamnesis_read']
  LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = role) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', role);
    END IF;
  END LOOP;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO anamnesis_owner, anamnesis_app, anamnesis_jobs, anamnesis_audit, '
    'anamnesis_read', current_database());
END $$;

CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA IF NOT EXISTS anamnesis AUTHORIZATION anamnesis_owner;
REVOKE ALL ON SCHEMA anamnesis FROM PUBLIC;
GRANT USAGE ON SCHEMA anamnesis TO anamnesis_app, anamnesis_jobs, anamnesis_audit, anamnesis_read;
