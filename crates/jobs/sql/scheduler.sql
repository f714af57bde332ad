-- name: organizations
-- Organisations with their time zone.
SELECT org_id, time_zone, created_at FROM organization ORDER BY org_id;
