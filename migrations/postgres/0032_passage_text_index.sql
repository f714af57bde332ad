-- no-transaction
-- Passages of a text that came before.
CREATE INDEX CONCURRENTLY IF NOT EXISTS passage_text ON passage (org_id, patient_id, text_hash);
