-- What a memory's fading depends on, whatever the policy: its confidence in thousandths, cut, where it fades at all. Which
-- instants follow from it is the policy's to say when a night asks: a changed rate rewrites no memory.
-- Row-level security binds the owner too, who would find no row to change: it is lifted within this transaction.
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory ADD COLUMN fade_level bigint;
DROP INDEX memory_fading;
UPDATE memory SET fade_level = floor(confidence * 1000)
  WHERE kind <> 'raw' AND is_protected = 0 AND class <> 'long_lived_fact';
ALTER TABLE memory DROP COLUMN uncertain_at;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
CREATE INDEX memory_fading ON memory (org_id, kind, fade_level, (coalesce(last_verified, recorded_at)), patient_id, id)
  WHERE state = 'active' AND fade_level IS NOT NULL AND review_due_at IS NULL;
-- Open questions: another policy may not have asked them.
CREATE INDEX memory_review ON memory (org_id, patient_id, id) WHERE review_due_at IS NOT NULL;
