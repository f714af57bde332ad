-- What commands counted of their reads, by series as it is scraped: counts by closed labels, of nobody in particular.
CREATE TABLE command_metric (
  series        TEXT NOT NULL PRIMARY KEY,
  value         REAL NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
