-- How many risks were read in a document, so that one that is deleted is missed. NULL for documents from before it was counted.
ALTER TABLE documents ADD COLUMN risks bigint;
