-- What commands counted of their reads, by series as it is scraped: counts by closed labels, of nobody in particular.
CREATE TABLE command_metric (
  series        text NOT NULL PRIMARY KEY,
  value         double precision NOT NULL,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL
);
