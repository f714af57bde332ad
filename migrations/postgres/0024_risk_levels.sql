-- How soon somebody must look (docs/risk.md), whether it is past, and, sealed, when it happened and which relative is meant. NULL
-- for what was stored before.
ALTER TABLE risk_flag ADD COLUMN level text CHECK (level IN ('none', 'low', 'medium', 'high'));
ALTER TABLE risk_flag ADD COLUMN temporality text CHECK (temporality IN ('recent', 'historical', 'hypothetical'));
ALTER TABLE risk_flag ADD COLUMN detail_sealed bytea;
