-- Who looked at, retried or dropped what was set aside: content-free.
CREATE TABLE quarantine_act (
  id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  quarantine_id  BLOB NOT NULL,
  at             INTEGER NOT NULL,
  actor          TEXT NOT NULL,
  action         TEXT NOT NULL CHECK (action IN ('shown', 'retried', 'dropped')),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX quarantine_act_of ON quarantine_act (quarantine_id, at);
