-- The audit trail becomes evidence: who did it in which role, for which purpose and reason, with a salt that only this program can
-- make (`anamnesis_core::audit`). Entries are chained in blocks of one organisation each; acts that belong to no organisation
-- have one of their own, acts on no patient the nil patient. `leaf` and `erased_by` are set where an entry was erased.
ALTER TABLE action_audit ADD COLUMN role text;
ALTER TABLE action_audit ADD COLUMN purpose text;
ALTER TABLE action_audit ADD COLUMN reason text;
ALTER TABLE action_audit ADD COLUMN salt blob;
ALTER TABLE action_audit ADD COLUMN block integer;
ALTER TABLE action_audit ADD COLUMN leaf blob;
ALTER TABLE action_audit ADD COLUMN erased_by blob;

-- One block for what was written since the last one. `purged_before`: its entries were sealed before this instant, and are gone.
CREATE TABLE audit_block (
  org_id      blob NOT NULL,
  number      integer NOT NULL,
  entries     integer NOT NULL,
  sealed_at   integer NOT NULL,
  leaves      blob NOT NULL,
  previous    blob NOT NULL,
  hash        blob NOT NULL,
  purged_before   integer,
  PRIMARY KEY (org_id, number)
) STRICT, WITHOUT ROWID;

-- There are no roles in a file: entries are kept by triggers from programs that do not mean to remove them.
CREATE TRIGGER action_audit_kept BEFORE DELETE ON action_audit
WHEN NOT EXISTS (SELECT 1 FROM audit_block AS b WHERE b.org_id = OLD.org_id AND b.number = OLD.block AND b.purged_before IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'audit entries are kept'); END;
CREATE TRIGGER action_audit_unchanged BEFORE UPDATE ON action_audit
WHEN NEW.erased_by IS NULL AND (NEW.id, NEW.at, NEW.actor, NEW.action, NEW.outcome) IS NOT (OLD.id, OLD.at, OLD.actor, OLD.action, OLD.outcome)
BEGIN SELECT RAISE(ABORT, 'audit entries do not change'); END;
CREATE TRIGGER audit_block_kept BEFORE DELETE ON audit_block
BEGIN SELECT RAISE(ABORT, 'audit blocks are kept'); END;
