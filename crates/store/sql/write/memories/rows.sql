-- name: write
-- A message that comes late may open a memory that others opened before: all of its provenance is the opening's then.
-- `created_at` equals `recorded_at`; a memory that is folded again keeps both, and keeps its sealed words while the
-- finding that they come from is the same (an event's content is never updated). A confirmation opens a new cycle.
-- rows: memory (org_id, patient_id, id, group_hash,
--   attribute_hash, kind, class, entity_type, sensitivity, state, contested, ungrounded, source_type, epistemic,
--   is_proxy, trust, set_by, negated, experiencer, extraction_confidence, initial_confidence, confidence_basis,
--   confidence, times_reinforced, verification_count, last_verified, is_protected, cycle, valid_from, valid_to,
--   last_confirmed_at, expires_at, state_at, supersedes, superseded_by, ends_at,
--   content_sealed, finding_id, document_id, revision, evidence_sealed, evidence_start, evidence_end, file_sealed,
--   source_entity_sealed, terms, redaction_policy, fold_hash, schema_version, recorded_at, updated_at, decay_bucket,
--   lines, created_at)
INSERT INTO memory {rows}
ON CONFLICT (org_id, patient_id, id) DO UPDATE SET attribute_hash = excluded.attribute_hash, kind = excluded.kind,
    class = excluded.class, entity_type = excluded.entity_type, sensitivity = excluded.sensitivity,
    negated = excluded.negated, experiencer = excluded.experiencer, state = excluded.state,
    contested = excluded.contested, ungrounded = excluded.ungrounded,
    content_sealed = CASE WHEN memory.finding_id IS NOT DISTINCT FROM excluded.finding_id
        THEN memory.content_sealed ELSE excluded.content_sealed END,
    finding_id = excluded.finding_id, document_id = excluded.document_id, revision = excluded.revision,
    evidence_sealed = excluded.evidence_sealed, evidence_start = excluded.evidence_start,
    evidence_end = excluded.evidence_end, file_sealed = excluded.file_sealed,
    source_type = excluded.source_type, epistemic = excluded.epistemic,
    source_entity_sealed = excluded.source_entity_sealed, is_proxy = excluded.is_proxy, trust = excluded.trust,
    set_by = excluded.set_by, extraction_confidence = excluded.extraction_confidence,
    initial_confidence = excluded.initial_confidence, confidence_basis = excluded.confidence_basis,
    confidence = excluded.confidence, times_reinforced = excluded.times_reinforced,
    verification_count = excluded.verification_count, last_verified = excluded.last_verified,
    is_protected = excluded.is_protected,
    reconfirm_due_at = CASE WHEN memory.cycle = excluded.cycle THEN memory.reconfirm_due_at ELSE NULL END,
    review_due_at = CASE WHEN memory.kind = excluded.kind AND memory.confidence = excluded.confidence
        AND memory.decay_bucket IS NOT DISTINCT FROM excluded.decay_bucket
        AND memory.last_verified IS NOT DISTINCT FROM excluded.last_verified
        THEN memory.review_due_at ELSE NULL END,
    decay_bucket = excluded.decay_bucket, cycle = excluded.cycle, valid_from = excluded.valid_from,
    valid_to = excluded.valid_to, last_confirmed_at = excluded.last_confirmed_at, expires_at = excluded.expires_at,
    state_at = excluded.state_at, supersedes = excluded.supersedes, superseded_by = excluded.superseded_by,
    terms = excluded.terms, redaction_policy = excluded.redaction_policy, fold_hash = excluded.fold_hash,
    ends_at = excluded.ends_at, lines = excluded.lines,
    recorded_at = CASE WHEN excluded.class = 'inference' THEN excluded.recorded_at ELSE memory.recorded_at END,
    updated_at = excluded.updated_at;

-- name: insert_raws
-- Raw captures of documents.
-- shared: org_id, kind, class, sensitivity, state, contested, ungrounded, source_type, epistemic, is_proxy, set_by, negated, experiencer, extraction_confidence, initial_confidence, confidence_basis, confidence, times_reinforced, verification_count, is_protected, cycle, terms, schema_version, recorded_at, created_at, updated_at
-- rows: memory (patient_id, id, group_hash, attribute_hash, document_id, revision, valid_from, state_at,
--   redaction_policy, trust, expires_at, ends_at)
INSERT INTO memory {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;

-- name: insert_links
-- rows: memory_link (org_id, patient_id, relation, from_kind, from_id, to_kind, to_id, created_at, updated_at)
INSERT INTO memory_link {rows} ON CONFLICT (org_id, patient_id, relation, from_id, to_id) DO NOTHING;
