-- name: add
-- Adds to the sums of series.
-- rows: command_metric (series, value, now int)
INSERT INTO command_metric (series, value, created_at, updated_at)
SELECT r.series, r.value, r.now, r.now FROM {rows} AS r WHERE true
ON CONFLICT (series) DO UPDATE
SET value = command_metric.value + excluded.value, updated_at = excluded.updated_at;

-- name: replace
-- Puts the newest values in place of those before them. Same rows as `add`.
-- rows: command_metric (series, value, now int)
INSERT INTO command_metric (series, value, created_at, updated_at)
SELECT r.series, r.value, r.now, r.now FROM {rows} AS r WHERE true
ON CONFLICT (series) DO UPDATE
SET value = excluded.value, updated_at = excluded.updated_at;

-- name: all
SELECT series, value FROM command_metric;
