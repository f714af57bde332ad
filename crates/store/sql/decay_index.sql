-- fragment: level_filter
-- What fades and is not asked about.
m.org_id = $1 AND m.state = 'active' AND m.decay_bucket IS NOT NULL AND m.review_due_at IS NULL

-- name: levels
-- From one level of a kind to the next through the index: as many steps as there are levels, however many rows they have. The
-- kinds are named: SQLite, asked for the next pair of kind and level, reads all rows of the kind.
WITH RECURSIVE
kinds (kind) AS (
    SELECT 'belief' UNION ALL SELECT 'drive' UNION ALL SELECT 'episode' UNION ALL SELECT 'goal'
    UNION ALL SELECT 'note' UNION ALL SELECT 'relationship' UNION ALL SELECT 'value'
),
level (kind, decay_bucket) AS (
    SELECT k.kind, (
        SELECT m.decay_bucket FROM memory AS m
        WHERE {fragment decay_index/level_filter} AND m.kind = k.kind
        ORDER BY m.decay_bucket LIMIT 1
    )
    FROM kinds AS k
    UNION ALL
    SELECT l.kind, (
        SELECT m.decay_bucket FROM memory AS m
        WHERE {fragment decay_index/level_filter} AND m.kind = l.kind AND m.decay_bucket > l.decay_bucket
        ORDER BY m.decay_bucket LIMIT 1
    )
    FROM level AS l
    WHERE l.decay_bucket IS NOT NULL
)
SELECT l.kind, l.decay_bucket, (
        SELECT coalesce(m.last_verified, m.recorded_at) FROM memory AS m
        WHERE {fragment decay_index/level_filter} AND m.kind = l.kind AND m.decay_bucket = l.decay_bucket
        ORDER BY coalesce(m.last_verified, m.recorded_at) LIMIT 1
    ) AS oldest
FROM level AS l
WHERE l.decay_bucket IS NOT NULL
ORDER BY l.kind, l.decay_bucket;

-- fragment: fading
coalesce(last_verified, recorded_at) AS since, patient_id, id, class, confidence, is_protected, recorded_at,
last_verified

-- name: oldest
-- Rows of a level whose clock runs since an instant or longer, behind a place.
SELECT {fragment decay_index/fading}
FROM memory
WHERE org_id = $1 AND state = 'active' AND decay_bucket IS NOT NULL AND review_due_at IS NULL AND kind = $2
  AND decay_bucket = $3 AND coalesce(last_verified, recorded_at) <= $4
  AND (coalesce(last_verified, recorded_at), patient_id, id) > ($5, $6, $7)
ORDER BY coalesce(last_verified, recorded_at), patient_id, id LIMIT $8 {skip_locked};

-- name: ask
-- Notes since when a review is due.
-- rows: memory (org_id, patient_id, id, due int, now int)
UPDATE memory
SET review_due_at = r.due, updated_at = r.now
FROM {rows} AS r
WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id
  AND memory.state = 'active' AND memory.review_due_at IS NULL;

-- name: patients_with_questions
SELECT DISTINCT patient_id
FROM memory
WHERE org_id = $1 AND review_due_at IS NOT NULL AND patient_id > $2
ORDER BY patient_id LIMIT $3;

-- name: questions
-- The columns of `oldest`, and the kind.
SELECT {fragment decay_index/fading}, kind
FROM memory
WHERE org_id = $1 AND patient_id IN {uuids $2} AND review_due_at IS NOT NULL
ORDER BY patient_id, id;

-- name: take_back
UPDATE memory SET review_due_at = NULL, updated_at = $3 WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: mark
SELECT mark FROM job_watermark WHERE org_id = $1 AND job = $2;

-- name: set_mark
INSERT INTO job_watermark (org_id, job, mark, created_at, updated_at)
VALUES ($1, $2, $3, $4, $4)
ON CONFLICT (org_id, job) DO UPDATE SET mark = excluded.mark, updated_at = excluded.updated_at;
