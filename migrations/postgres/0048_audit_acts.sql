-- no-transaction
-- Acts of people whose effects lie in rows: compared with these rows each time that rows are verified.
CREATE INDEX CONCURRENTLY IF NOT EXISTS action_audit_acts ON action_audit (org_id, patient_id, action, subject_id)
  WHERE action IN ('hold_set', 'hold_lifted', 'erase', 'quarantined_retried', 'consent_permit', 'consent_deny', 'ephemeral_on',
    'ephemeral_off');
