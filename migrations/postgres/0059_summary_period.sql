-- As 0056. Empty until the row is changed or filled: the old column has no default, and an INSERT by the new name leaves it out.
ALTER TABLE summary ADD COLUMN period text NOT NULL DEFAULT '';
ALTER TABLE summary ADD CONSTRAINT summary_period_check
  CHECK (period IN ('document', 'session', 'week', 'quarter')) NOT VALID;
CREATE FUNCTION summary_old_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.period = '' THEN NEW.period := NEW.stretch; RETURN NEW; END IF;
  IF TG_OP = 'INSERT' THEN NEW.stretch := NEW.period; RETURN NEW; END IF;
  IF NEW.period IS DISTINCT FROM OLD.period THEN NEW.stretch := NEW.period; ELSE NEW.period := NEW.stretch; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER summary_old_names BEFORE INSERT OR UPDATE ON summary FOR EACH ROW
  WHEN (NEW.period IS DISTINCT FROM NEW.stretch)
  EXECUTE FUNCTION summary_old_names();
