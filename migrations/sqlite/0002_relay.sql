-- Publishing the outbox: a row is claimed for a while, published, and marked. Two relays never hold one row, and none
-- holds a transaction while it waits for the broker.
ALTER TABLE outbox ADD COLUMN claimed_until INTEGER NOT NULL DEFAULT 0;

-- What was set aside: the attributes that travelled beside the body, and whether the notice of it went out.
ALTER TABLE quarantine ADD COLUMN attributes_sealed BLOB;
ALTER TABLE quarantine ADD COLUMN noticed_at INTEGER;
CREATE INDEX quarantine_unnoticed ON quarantine (created_at) WHERE noticed_at IS NULL;
