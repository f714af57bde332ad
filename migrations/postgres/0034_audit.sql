-- The audit trail becomes evidence: who did it in which role, for which purpose and reason, with a salt that only this program can
-- make (`anamnesis_core::audit`). Entries are chained in blocks of one organisation each; acts that belong to no organisation
-- have one of their own, acts on no patient the nil patient. `leaf` and `erased_by` are set where an entry was erased.
ALTER TABLE action_audit
  ADD COLUMN role text,
  ADD COLUMN purpose text,
  ADD COLUMN reason text,
  ADD COLUMN salt bytea,
  ADD COLUMN block bigint,
  ADD COLUMN leaf bytea,
  ADD COLUMN erased_by uuid;

-- One block for what was written since the last one. `purged_before`: its entries were sealed before this instant, and are gone.
CREATE TABLE audit_block (
  org_id      uuid NOT NULL,
  number      bigint NOT NULL,
  entries     bigint NOT NULL,
  sealed_at   bigint NOT NULL,
  leaves      bytea NOT NULL,
  previous    bytea NOT NULL,
  hash        bytea NOT NULL,
  purged_before   bigint,
  PRIMARY KEY (org_id, number)
);
ALTER TABLE audit_block ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY organization_in_scope ON audit_block
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid));

-- An entry goes with its block, when the block is past its term, and never before.
CREATE FUNCTION action_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM audit_block AS b WHERE b.org_id = OLD.org_id AND b.number = OLD.block AND b.purged_before IS NOT NULL) THEN
    RAISE EXCEPTION 'audit entries are kept' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER action_audit_kept BEFORE DELETE ON action_audit FOR EACH ROW EXECUTE FUNCTION action_audit_kept();
