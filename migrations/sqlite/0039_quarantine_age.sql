-- Quarantined messages by their age, for the job that ends their terms.
CREATE INDEX quarantine_age ON quarantine (created_at, id);
