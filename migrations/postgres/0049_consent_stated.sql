-- When a person stated a consent, which can be long before it came. NULL for what was recorded before: when it begins.
ALTER TABLE consent ADD COLUMN stated_at bigint;
