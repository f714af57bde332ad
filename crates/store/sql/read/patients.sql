-- name: profile
SELECT cognitive_state, cognitive_state_at, disclaimer_accepted_at, region_sealed, privacy_tier_sealed,
    emergency_contacts_sealed, profile_at, ephemeral
FROM patient_profile
WHERE org_id = $1 AND patient_id = $2;

-- name: preferences
SELECT key_hash, key_sealed, value_sealed, source, confidence, stated_at
FROM conversation_preferences
WHERE org_id = $1 AND patient_id = $2
ORDER BY stated_at DESC, key_hash;

-- name: risks
-- Risks of current documents that count at $3, newest first.
SELECT r.id, r.document_id, r.revision, r.class, r.denied, r.experiencer, r.evidence_sealed, r.at,
    r.file_sealed, r.heard_by, r.probability, r.level, r.temporality, r.detail_sealed, d.document_type,
    d.signed_by
FROM risk_flag AS r
JOIN documents AS d ON d.org_id = r.org_id AND d.patient_id = r.patient_id
  AND d.document_id = r.document_id AND d.revision = r.revision AND d.current = 1
  AND (d.ends_at IS NULL OR d.ends_at > $3)
WHERE r.org_id = $1 AND r.patient_id = $2
ORDER BY r.at DESC, r.id;

-- name: of_organization
SELECT patient_id FROM patient_profile WHERE org_id = $1 ORDER BY patient_id;
