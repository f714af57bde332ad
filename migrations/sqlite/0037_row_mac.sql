-- Keyed hash of what is not sealed in a row that nothing else can show to be right (`crates/store/src/covered.rs`).
ALTER TABLE extracted_findings ADD COLUMN mac blob;
ALTER TABLE memory_event ADD COLUMN mac blob;
ALTER TABLE risk_flag ADD COLUMN mac blob;
ALTER TABLE ephemeral_mode ADD COLUMN mac blob;
ALTER TABLE consent ADD COLUMN mac blob;
