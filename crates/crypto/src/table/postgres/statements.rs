//! The statements of the key table on PostgreSQL.

pub(super) const SCHEMA: &str = include_str!("schema.sql");
/// Two hosts that initialise at once take turns.
pub(super) const ALONE: &str = "SELECT pg_advisory_xact_lock(7017280452245743464)";
pub(super) const TABLES: &str = "SELECT count(*) FROM pg_catalog.pg_class c \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = 'anamnesis_keys' AND c.relname IN ('key_store', 'data_key', 'kek')";
pub(super) const HEADER: &str =
    "SELECT id, format, root, wrapped, check_value, generation FROM anamnesis_keys.key_store";
pub(super) const WRITE_HEADER: &str = "INSERT INTO anamnesis_keys.key_store (id, format, root, wrapped, check_value, generation) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
pub(super) const NEXT: &str = "UPDATE anamnesis_keys.key_store SET generation = generation + 1 WHERE id = $1 AND generation >= $2 RETURNING id, generation";
pub(super) const STAMP: &str = "SELECT id, generation FROM anamnesis_keys.key_store";
/// One statement, so that keys and stamp are of one moment. Where no one has a key, one row with the stamp alone.
pub(super) const FIND: &str = "SELECT s.id, s.generation, k.org_id, k.patient_id, k.version, k.kek, k.wrapped \
     FROM anamnesis_keys.key_store s LEFT JOIN (SELECT d.* FROM anamnesis_keys.data_key d \
     JOIN unnest($1::uuid[], $2::uuid[]) AS asked (o, p) ON d.org_id = o AND d.patient_id = p) k ON true \
     ORDER BY k.org_id, k.patient_id, k.version";
pub(super) const PAGE: &str = "WITH page AS (SELECT org_id, patient_id FROM anamnesis_keys.data_key \
     WHERE version = 1 AND (org_id, patient_id) > ($1, $2) ORDER BY org_id, patient_id LIMIT $3) \
     SELECT k.org_id, k.patient_id, k.version, k.kek, k.wrapped FROM anamnesis_keys.data_key k \
     JOIN page USING (org_id, patient_id) ORDER BY k.org_id, k.patient_id, k.version";
pub(super) const FIRST: &str = "INSERT INTO anamnesis_keys.data_key (org_id, patient_id, version, kek, wrapped, created_at) \
     SELECT o, p, v, e, w, $6 FROM unnest($1::uuid[], $2::uuid[], $3::int4[], $4::int4[], $5::bytea[]) AS n (o, p, v, e, w) \
     WHERE v = 1 ON CONFLICT DO NOTHING";
/// A further key of a patient who has one and was not erased.
pub(super) const LATER: &str = "INSERT INTO anamnesis_keys.data_key (org_id, patient_id, version, kek, wrapped, created_at) \
     SELECT o, p, v, e, w, $6 FROM unnest($1::uuid[], $2::uuid[], $3::int4[], $4::int4[], $5::bytea[]) AS n (o, p, v, e, w) \
     WHERE v > 1 AND EXISTS (SELECT 1 FROM anamnesis_keys.data_key f WHERE f.org_id = o AND f.patient_id = p \
     AND f.version = 1 AND f.wrapped IS NOT NULL) ON CONFLICT DO NOTHING";
pub(super) const DESTROY: &str = "INSERT INTO anamnesis_keys.data_key (org_id, patient_id, version, kek, created_at, destroyed_at) \
     VALUES ($1, $2, 1, 1, $3, $3) ON CONFLICT (org_id, patient_id, version) DO UPDATE \
     SET wrapped = NULL, destroyed_at = coalesce(data_key.destroyed_at, excluded.destroyed_at)";
pub(super) const DESTROY_LATER: &str =
    "DELETE FROM anamnesis_keys.data_key WHERE org_id = $1 AND patient_id = $2 AND version > 1";
pub(super) const KEKS: &str = "SELECT version, wrapped FROM anamnesis_keys.kek ORDER BY version";
pub(super) const ADD_KEK: &str =
    "INSERT INTO anamnesis_keys.kek (version, wrapped, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
pub(super) const SET_ROOT: &str = "UPDATE anamnesis_keys.key_store SET root = $1, wrapped = $2";
pub(super) const REWRAP: &str = "UPDATE anamnesis_keys.data_key k SET wrapped = w, kek = e \
     FROM unnest($1::uuid[], $2::uuid[], $3::int4[], $4::int4[], $5::bytea[]) AS n (o, p, v, e, w) \
     WHERE k.org_id = o AND k.patient_id = p AND k.version = v AND k.wrapped IS NOT NULL";
pub(super) const COUNTS: &str = "SELECT count(*) FILTER (WHERE version = 1 AND wrapped IS NOT NULL), \
     count(*) FILTER (WHERE wrapped IS NULL), count(*) FILTER (WHERE wrapped IS NOT NULL AND kek < $1) \
     FROM anamnesis_keys.data_key";
/// Settings of a transaction, never of a session: a pooler may give the connection to others. A commit is synced.
pub(super) const LIMITS: &str = "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), \
     set_config('idle_in_transaction_session_timeout', $3, true), set_config('synchronous_commit', 'on', true)";
/// Whether the store's tables lie in this database.
pub(super) const STORE_HERE: &str = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'anamnesis')";
/// Whether the role can read a store of this server: a superuser, or a member of one of the store's roles.
pub(super) const READS_STORE: &str = "SELECT bool_or(rolsuper AND rolname = current_user) \
     OR bool_or(rolname IN ('anamnesis_app', 'anamnesis_owner', 'anamnesis_jobs', \
     'anamnesis_audit', 'anamnesis_read') AND pg_has_role(current_user, oid, 'MEMBER')) FROM pg_catalog.pg_roles";
