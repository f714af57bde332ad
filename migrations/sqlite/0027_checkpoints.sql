-- What a long group of findings amounts to so far, so that one more finding does not read them all again. Derived: without
-- it the group is folded whole. `last_at` is the time of the last finding or act in it.
CREATE TABLE fold_checkpoint (
  org_id        BLOB NOT NULL,
  patient_id    BLOB NOT NULL,
  group_hash    BLOB NOT NULL CHECK (length(group_hash) = 32),
  last_at       INTEGER NOT NULL,
  state_sealed  BLOB NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, group_hash),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id)
) STRICT, WITHOUT ROWID;

-- Lines of the history that the fold has written; NULL for what was written before this was counted.
ALTER TABLE memory ADD COLUMN lines INTEGER;

-- A checkpoint goes with anything that it rests on and that is not just a later finding.
CREATE TRIGGER fold_checkpoint_after_changed_finding AFTER UPDATE ON extracted_findings
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id
    AND group_hash IN (OLD.group_hash, NEW.group_hash);
END;
CREATE TRIGGER fold_checkpoint_after_deleted_finding AFTER DELETE ON extracted_findings
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id AND group_hash = OLD.group_hash;
END;
CREATE TRIGGER fold_checkpoint_after_act AFTER INSERT ON memory_event WHEN NEW.derived = 0
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = NEW.org_id AND patient_id = NEW.patient_id AND group_hash =
    (SELECT group_hash FROM memory WHERE org_id = NEW.org_id AND patient_id = NEW.patient_id AND id = NEW.memory_id);
END;
CREATE TRIGGER fold_checkpoint_after_deleted_act AFTER DELETE ON memory_event WHEN OLD.derived = 0
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id AND group_hash =
    (SELECT group_hash FROM memory WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id AND id = OLD.memory_id);
END;
CREATE TRIGGER fold_checkpoint_after_stated_confidence AFTER INSERT ON profile_statement
WHEN NEW.cognitive_state IS NOT NULL
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = NEW.org_id AND patient_id = NEW.patient_id;
END;
CREATE TRIGGER fold_checkpoint_after_changed_confidence AFTER UPDATE ON profile_statement
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id;
END;
CREATE TRIGGER fold_checkpoint_after_deleted_confidence AFTER DELETE ON profile_statement
WHEN OLD.cognitive_state IS NOT NULL
BEGIN
  DELETE FROM fold_checkpoint WHERE org_id = OLD.org_id AND patient_id = OLD.patient_id;
END;
