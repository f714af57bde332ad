-- Content goes some time after a memory was forgotten or expired. A finding whose words are gone still holds the place of
-- its memory in the order of things, so that nothing it replaced comes back.
ALTER TABLE extracted_findings ADD COLUMN tombstone_of uuid;
CREATE INDEX memory_purge ON memory (org_id, state, state_at, patient_id, id)
  WHERE state IN ('expired', 'inactive') AND content_sealed IS NOT NULL;

-- What served its purpose: ids of messages, events that are published.
CREATE INDEX inbox_age ON inbox (org_id, created_at, message_hash);
CREATE INDEX outbox_published ON outbox (org_id, published_at, id) WHERE published_at IS NOT NULL;
