-- Who looked at, retried or dropped what was set aside: content-free.
CREATE TABLE quarantine_act (
  id             uuid NOT NULL PRIMARY KEY,
  quarantine_id  uuid NOT NULL,
  at             bigint NOT NULL,
  actor          text NOT NULL,
  action         text NOT NULL CHECK (action IN ('shown', 'retried', 'dropped')),
  created_at     bigint NOT NULL,
  updated_at     bigint NOT NULL
);
CREATE INDEX quarantine_act_of ON quarantine_act (quarantine_id, at);
