-- Who heard a risk, the rules or the learned ear, and how surely the ear did. NULL for what was stored before; the rules give no
-- probability.
ALTER TABLE risk_flag ADD COLUMN heard_by TEXT CHECK (heard_by IN ('rules', 'learned'));
ALTER TABLE risk_flag ADD COLUMN probability REAL CHECK (probability > 0 AND probability < 1);
