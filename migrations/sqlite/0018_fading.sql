-- What a memory's fading depends on, whatever the policy: its confidence in thousandths, cut, where it fades at all. Which
-- instants follow from it is the policy's to say when a night asks: a changed rate rewrites no memory.
ALTER TABLE memory ADD COLUMN fade_level INTEGER;
UPDATE memory SET fade_level = CAST(confidence * 1000 AS INTEGER)
  WHERE kind <> 'raw' AND is_protected = 0 AND class <> 'long_lived_fact';
DROP INDEX memory_fading;
ALTER TABLE memory DROP COLUMN uncertain_at;
CREATE INDEX memory_fading ON memory (org_id, kind, fade_level, coalesce(last_verified, recorded_at), patient_id, id)
  WHERE state = 'active' AND fade_level IS NOT NULL AND review_due_at IS NULL;
-- Open questions: another policy may not have asked them.
CREATE INDEX memory_review ON memory (org_id, patient_id, id) WHERE review_due_at IS NOT NULL;
