-- Plain names of columns. Workers of the version before use the old names until all are replaced, so for one version a row has
-- both, and a trigger keeps each pair equal: an INSERT names one of them, an UPDATE changes one of them. 0.4.0 drops the old ones.
ALTER TABLE documents ADD COLUMN retention_state text;
ALTER TABLE documents ADD COLUMN retention_state_at bigint;
ALTER TABLE documents ADD COLUMN retention_evaluated smallint NOT NULL DEFAULT 0;
ALTER TABLE documents ADD CONSTRAINT documents_retention_state_check
  CHECK (retention_state IN ('summary_only', 'source_dropped', 'archived')) NOT VALID;
ALTER TABLE documents ADD CONSTRAINT documents_retention_evaluated_check CHECK (retention_evaluated IN (0, 1)) NOT VALID;
CREATE FUNCTION documents_old_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.retention_state := coalesce(NEW.retention_state, NEW.fate); NEW.fate := NEW.retention_state;
    NEW.retention_state_at := coalesce(NEW.retention_state_at, NEW.fate_at); NEW.fate_at := NEW.retention_state_at;
    NEW.retention_evaluated := greatest(NEW.retention_evaluated, NEW.reckoned); NEW.reckoned := NEW.retention_evaluated;
    RETURN NEW;
  END IF;
  -- The new name wins where the statement changed it; else the old one says what holds.
  IF NEW.retention_state IS DISTINCT FROM OLD.retention_state THEN
    NEW.fate := NEW.retention_state;
  ELSE
    NEW.retention_state := NEW.fate;
  END IF;
  IF NEW.retention_state_at IS DISTINCT FROM OLD.retention_state_at THEN
    NEW.fate_at := NEW.retention_state_at;
  ELSE
    NEW.retention_state_at := NEW.fate_at;
  END IF;
  IF NEW.retention_evaluated IS DISTINCT FROM OLD.retention_evaluated THEN
    NEW.reckoned := NEW.retention_evaluated;
  ELSE
    NEW.retention_evaluated := NEW.reckoned;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER documents_old_names BEFORE INSERT OR UPDATE ON documents FOR EACH ROW
  WHEN (NEW.retention_state IS DISTINCT FROM NEW.fate
    OR NEW.retention_state_at IS DISTINCT FROM NEW.fate_at
    OR NEW.retention_evaluated IS DISTINCT FROM NEW.reckoned)
  EXECUTE FUNCTION documents_old_names();
