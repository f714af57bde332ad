-- name: list
SELECT org_id, time_zone, redaction_policy, consent_required, privacy_tier, country, withdrawal,
    emergency_text_en, emergency_text_es
FROM organization
ORDER BY org_id;

-- name: update
-- What is NULL stays as it is.
UPDATE organization
SET time_zone = coalesce($2, time_zone), privacy_tier = coalesce($3, privacy_tier),
    country = coalesce($4, country), consent_required = coalesce($5, consent_required),
    withdrawal = coalesce($6, withdrawal),
    emergency_text_en = nullif(coalesce($7, emergency_text_en), ''),
    emergency_text_es = nullif(coalesce($8, emergency_text_es), ''), updated_at = $9
WHERE org_id = $1;

-- name: policy
-- What decides of patients and their rows; which generation of vectors is searched is no policy. The columns behind the
-- hash are hashed in their order.
SELECT mac, time_zone, redaction_policy, consent_required, privacy_tier, country, withdrawal,
    emergency_text_en, emergency_text_es
FROM organization
WHERE org_id = $1;

-- name: cover_policy
UPDATE organization SET mac = $2 WHERE org_id = $1;
