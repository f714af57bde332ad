-- As 0056.
ALTER TABLE memory ADD COLUMN decay_bucket bigint;
CREATE FUNCTION memory_old_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.decay_bucket := coalesce(NEW.decay_bucket, NEW.fade_level); NEW.fade_level := NEW.decay_bucket;
    RETURN NEW;
  END IF;
  -- The new name wins where the statement changed it; else the old one says what holds.
  IF NEW.decay_bucket IS DISTINCT FROM OLD.decay_bucket THEN
    NEW.fade_level := NEW.decay_bucket;
  ELSE
    NEW.decay_bucket := NEW.fade_level;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER memory_old_names BEFORE INSERT OR UPDATE ON memory FOR EACH ROW
  WHEN (NEW.decay_bucket IS DISTINCT FROM NEW.fade_level)
  EXECUTE FUNCTION memory_old_names();
