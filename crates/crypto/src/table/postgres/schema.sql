-- The key table on PostgreSQL: run by `anamnesis keys init` in a database that is not the store's.
CREATE SCHEMA IF NOT EXISTS anamnesis_keys;
REVOKE ALL ON SCHEMA anamnesis_keys FROM PUBLIC;
CREATE TABLE IF NOT EXISTS anamnesis_keys.key_store (
    one smallint PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    id uuid NOT NULL,
    format integer NOT NULL,
    root text NOT NULL,
    wrapped bytea NOT NULL,
    check_value bytea NOT NULL CHECK (length(check_value) = 32),
    generation bigint NOT NULL CHECK (generation >= 0)
);
-- Version 1 is the patient's first key. A patient who was erased keeps that row, without a key: none is ever made again.
CREATE TABLE IF NOT EXISTS anamnesis_keys.data_key (
    org_id uuid NOT NULL,
    patient_id uuid NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    kek integer NOT NULL CHECK (kek >= 1),
    wrapped bytea,
    created_at bigint NOT NULL,
    destroyed_at bigint,
    PRIMARY KEY (org_id, patient_id, version),
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL)),
    CHECK (version = 1 OR wrapped IS NOT NULL)
);
CREATE TABLE IF NOT EXISTS anamnesis_keys.kek (
    version integer PRIMARY KEY CHECK (version > 1),
    wrapped bytea NOT NULL,
    created_at bigint NOT NULL
);
