-- That work began on messages, a row for each batch: written before the work and deleted with its effects. Only where somebody
-- asks about single messages, after a death, is it broken up into a row for each of them (`attempt`).
CREATE TABLE attempt_batch (
  id            BLOB NOT NULL PRIMARY KEY,
  messages      BLOB NOT NULL CHECK (length(messages) % 32 = 0 AND length(messages) > 0),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
