-- Who heard a risk, the rules or the learned ear, and how surely the ear did. NULL for what was stored before; the rules give no
-- probability.
ALTER TABLE risk_flag ADD COLUMN heard_by text CHECK (heard_by IN ('rules', 'learned'));
ALTER TABLE risk_flag ADD COLUMN probability double precision CHECK (probability > 0 AND probability < 1);
