-- As 0056.
ALTER TABLE organization ADD COLUMN stale_vectors smallint NOT NULL DEFAULT 0;
ALTER TABLE organization ADD COLUMN reembedding_state text;
ALTER TABLE organization ADD CONSTRAINT organization_stale_vectors_check CHECK (stale_vectors IN (0, 1)) NOT VALID;
CREATE FUNCTION organization_old_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.stale_vectors := greatest(NEW.stale_vectors, NEW.vectors_left); NEW.vectors_left := NEW.stale_vectors;
    NEW.reembedding_state := coalesce(NEW.reembedding_state, NEW.building_left); NEW.building_left := NEW.reembedding_state;
    RETURN NEW;
  END IF;
  -- The new name wins where the statement changed it; else the old one says what holds.
  IF NEW.stale_vectors IS DISTINCT FROM OLD.stale_vectors THEN
    NEW.vectors_left := NEW.stale_vectors;
  ELSE
    NEW.stale_vectors := NEW.vectors_left;
  END IF;
  IF NEW.reembedding_state IS DISTINCT FROM OLD.reembedding_state THEN
    NEW.building_left := NEW.reembedding_state;
  ELSE
    NEW.reembedding_state := NEW.building_left;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER organization_old_names BEFORE INSERT OR UPDATE ON organization FOR EACH ROW
  WHEN (NEW.stale_vectors IS DISTINCT FROM NEW.vectors_left
    OR NEW.reembedding_state IS DISTINCT FROM NEW.building_left)
  EXECUTE FUNCTION organization_old_names();
