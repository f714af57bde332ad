-- How rows lie, as `anamnesis bench storage` measured it (docs/benchmarks.md).
-- A patient's vectors are found by the primary key; those of one passage are few among them, and an index of their own
-- cost every insert.
DROP INDEX embedding_passage;
-- Vacuum comes by rows changed, not by the fifth part of a table that only grows: 2 % of it, and a thousand rows.
ALTER TABLE memory SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE extracted_findings SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE symptom_states SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- Rows that come and go: what is published or done is dead at once, and their tables stay small.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
ALTER TABLE attempt SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
-- Of sealed cells, vectors and keyed terms a planner can learn nothing, and looking at them is most of what looking costs.
DO $$
DECLARE
  cell record;
BEGIN
  FOR cell IN
    SELECT c.oid::regclass AS name, a.attname AS column_name FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE c.relnamespace = 'anamnesis'::regnamespace AND c.relkind = 'r'
      AND (a.attname LIKE '%\_sealed' OR t.typname IN ('halfvec', 'vector', '_int8'))
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', cell.name, cell.column_name);
  END LOOP;
END $$;
-- A server without statistics takes every organisation for a small one, and reads all of it where an index knows the
-- place. Autovacuum comes once a minute: too late for the first thousands of documents after an installation. Whoever
-- writes asks for new statistics of what has doubled since the last ones; only the owner may make them.
CREATE FUNCTION refresh_statistics() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = anamnesis, pg_catalog AS $$
DECLARE
  grown record;
  refreshed bigint := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('anamnesis statistics')) THEN
    RETURN 0;
  END IF;
  FOR grown IN
    SELECT c.oid::regclass AS name FROM pg_class AS c
    WHERE c.relnamespace = 'anamnesis'::regnamespace AND c.relkind = 'r'
      AND pg_stat_get_live_tuples(c.oid) > 2 * greatest(c.reltuples, 0) + 50
  LOOP
    EXECUTE format('ANALYZE %s', grown.name);
    refreshed := refreshed + 1;
  END LOOP;
  RETURN refreshed;
END $$;
REVOKE ALL ON FUNCTION refresh_statistics() FROM PUBLIC;
