-- Passages of a text that came before.
CREATE INDEX passage_text ON passage (org_id, patient_id, text_hash);
