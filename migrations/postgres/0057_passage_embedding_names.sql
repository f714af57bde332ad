-- As 0056.
ALTER TABLE passage ADD COLUMN embedding_pending smallint NOT NULL DEFAULT 0;
ALTER TABLE passage ADD COLUMN missing_next_generation smallint NOT NULL DEFAULT 0;
ALTER TABLE passage ADD CONSTRAINT passage_embedding_pending_check CHECK (embedding_pending IN (0, 1)) NOT VALID;
ALTER TABLE passage ADD CONSTRAINT passage_missing_next_generation_check CHECK (missing_next_generation IN (0, 1)) NOT VALID;
CREATE FUNCTION passage_old_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.embedding_pending := greatest(NEW.embedding_pending, NEW.waits); NEW.waits := NEW.embedding_pending;
    NEW.missing_next_generation := greatest(NEW.missing_next_generation, NEW.behind); NEW.behind := NEW.missing_next_generation;
    RETURN NEW;
  END IF;
  -- The new name wins where the statement changed it; else the old one says what holds.
  IF NEW.embedding_pending IS DISTINCT FROM OLD.embedding_pending THEN
    NEW.waits := NEW.embedding_pending;
  ELSE
    NEW.embedding_pending := NEW.waits;
  END IF;
  IF NEW.missing_next_generation IS DISTINCT FROM OLD.missing_next_generation THEN
    NEW.behind := NEW.missing_next_generation;
  ELSE
    NEW.missing_next_generation := NEW.behind;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER passage_old_names BEFORE INSERT OR UPDATE ON passage FOR EACH ROW
  WHEN (NEW.embedding_pending IS DISTINCT FROM NEW.waits
    OR NEW.missing_next_generation IS DISTINCT FROM NEW.behind)
  EXECUTE FUNCTION passage_old_names();
