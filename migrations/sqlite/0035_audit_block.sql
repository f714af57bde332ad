-- What waits for a block, and what is in one.
CREATE INDEX action_audit_block ON action_audit (org_id, block);
