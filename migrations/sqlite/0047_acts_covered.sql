-- Keyed hash of what a legal hold covers, of what an erasure asked for, of a document's type and dates, of what was stated of a
-- patient, of an organisation's policy, and of when a text was archived or a message set aside (`crates/store/src/covered.rs`).
ALTER TABLE legal_hold ADD COLUMN mac BLOB;
ALTER TABLE erasure ADD COLUMN mac BLOB;
ALTER TABLE documents ADD COLUMN mac BLOB;
ALTER TABLE profile_statement ADD COLUMN mac BLOB;
ALTER TABLE organization ADD COLUMN mac BLOB;
ALTER TABLE document_archive ADD COLUMN mac BLOB;
ALTER TABLE quarantine ADD COLUMN mac BLOB;
