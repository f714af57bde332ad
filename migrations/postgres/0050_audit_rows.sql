-- no-transaction
-- What was done to rows that no other table shows: compared with these rows each time that rows are verified.
CREATE INDEX CONCURRENTLY IF NOT EXISTS action_audit_rows ON action_audit (org_id, patient_id, action, subject_id)
  WHERE action IN ('document_stored', 'content_purged', 'summary_only', 'source_dropped', 'archived', 'verified', 'confirmed', 'ended',
    'denied', 'protected', 'unprotected', 'forgotten', 'recovered', 'corrected', 'answered', 'reinforced', 'weakened');
