-- What an organisation shows in an emergency instead of the text of its country.
ALTER TABLE organization ADD COLUMN emergency_text_en text;
ALTER TABLE organization ADD COLUMN emergency_text_es text;
