-- Keyed hash of what is not sealed in a row that nothing else can show to be right (`crates/store/src/covered.rs`).
ALTER TABLE extracted_findings ADD COLUMN mac bytea;
ALTER TABLE memory_event ADD COLUMN mac bytea;
ALTER TABLE risk_flag ADD COLUMN mac bytea;
ALTER TABLE ephemeral_mode ADD COLUMN mac bytea;
ALTER TABLE consent ADD COLUMN mac bytea;
