-- What a long group of findings amounts to so far, so that one more finding does not read them all again. Derived: without
-- it the group is folded whole. `last_at` is the time of the last finding or act in it.
CREATE TABLE fold_checkpoint (
  org_id        uuid NOT NULL,
  patient_id    uuid NOT NULL,
  group_hash    bytea NOT NULL CHECK (octet_length(group_hash) = 32),
  last_at       bigint NOT NULL,
  state_sealed  bytea NOT NULL,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, group_hash),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
);
ALTER TABLE fold_checkpoint ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY organization_in_scope ON fold_checkpoint
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid));

-- Lines of the history that the fold has written; NULL for what was written before this was counted.
ALTER TABLE memory ADD COLUMN lines bigint;

-- A checkpoint goes with anything that it rests on and that is not just a later finding.
CREATE FUNCTION drop_checkpoint_of_finding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id AND group_hash = OLD.group_hash;
  IF TG_OP = 'UPDATE' AND NEW.group_hash <> OLD.group_hash THEN
    DELETE FROM fold_checkpoint WHERE org_id = NEW.org_id AND patient_id = NEW.patient_id AND group_hash = NEW.group_hash;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER fold_checkpoint_after_changed_finding AFTER UPDATE ON extracted_findings FOR EACH ROW
EXECUTE FUNCTION drop_checkpoint_of_finding();
CREATE TRIGGER fold_checkpoint_after_deleted_finding AFTER DELETE ON extracted_findings FOR EACH ROW
EXECUTE FUNCTION drop_checkpoint_of_finding();

CREATE FUNCTION drop_checkpoint_of_act() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  act memory_event;
BEGIN
  act := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  DELETE FROM fold_checkpoint AS c USING memory AS m WHERE m.org_id = act.org_id AND m.patient_id = act.patient_id
    AND m.id = act.memory_id AND c.org_id = m.org_id AND c.patient_id = m.patient_id AND c.group_hash = m.group_hash;
  RETURN NULL;
END $$;
CREATE TRIGGER fold_checkpoint_after_act AFTER INSERT ON memory_event FOR EACH ROW WHEN (NEW.derived = 0)
EXECUTE FUNCTION drop_checkpoint_of_act();
CREATE TRIGGER fold_checkpoint_after_deleted_act AFTER DELETE ON memory_event FOR EACH ROW WHEN (OLD.derived = 0)
EXECUTE FUNCTION drop_checkpoint_of_act();

CREATE FUNCTION drop_checkpoints_of_patient() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    DELETE FROM fold_checkpoint WHERE org_id = NEW.org_id AND patient_id = NEW.patient_id;
  ELSE
    DELETE FROM fold_checkpoint WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER fold_checkpoint_after_stated_confidence AFTER INSERT ON profile_statement FOR EACH ROW
WHEN (NEW.cognitive_state IS NOT NULL) EXECUTE FUNCTION drop_checkpoints_of_patient();
CREATE TRIGGER fold_checkpoint_after_changed_confidence AFTER UPDATE ON profile_statement FOR EACH ROW
EXECUTE FUNCTION drop_checkpoints_of_patient();
CREATE TRIGGER fold_checkpoint_after_deleted_confidence AFTER DELETE ON profile_statement FOR EACH ROW
WHEN (OLD.cognitive_state IS NOT NULL) EXECUTE FUNCTION drop_checkpoints_of_patient();
