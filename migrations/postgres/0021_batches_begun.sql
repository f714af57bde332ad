-- That work began on messages, a row for each batch: written before the work and deleted with its effects. Only where somebody
-- asks about single messages, after a death, is it broken up into a row for each of them (`attempt`).
CREATE TABLE attempt_batch (
  id            uuid NOT NULL PRIMARY KEY,
  messages      bytea NOT NULL CHECK (length(messages) % 32 = 0 AND length(messages) > 0),
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL
);
ALTER TABLE attempt_batch SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
-- What a writer asks for must be enough to choose an index by, and quick: the columns of indexes. Autovacuum looks at the others.
CREATE OR REPLACE FUNCTION refresh_statistics() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = anamnesis, pg_catalog AS $$
DECLARE
  grown record;
  refreshed bigint := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('anamnesis statistics')) THEN
    RETURN 0;
  END IF;
  FOR grown IN
    SELECT c.oid::regclass AS name, string_agg(DISTINCT quote_ident(a.attname), ', ') AS keys FROM pg_class AS c
    JOIN pg_index AS i ON i.indrelid = c.oid
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
    WHERE c.relnamespace = 'anamnesis'::regnamespace AND c.relkind = 'r'
      AND pg_stat_get_live_tuples(c.oid) > 2 * greatest(c.reltuples, 0) + 50
    GROUP BY c.oid
  LOOP
    EXECUTE format('ANALYZE %s (%s)', grown.name, grown.keys);
    refreshed := refreshed + 1;
  END LOOP;
  RETURN refreshed;
END $$;
