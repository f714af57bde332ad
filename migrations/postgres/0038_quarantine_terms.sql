-- Whose key the body of a quarantined message is sealed with; empty where the platform's is. `expired_at` says when the body
-- went because its term ended. A look says what of the body was shown (none, redacted, raw).
ALTER TABLE quarantine ADD COLUMN key_org_id uuid;
ALTER TABLE quarantine ADD COLUMN key_patient_id uuid;
ALTER TABLE quarantine ADD COLUMN expired_at bigint;
ALTER TABLE quarantine_act ADD COLUMN content text;
-- A message that no organisation could be read of belongs to none; the job that ends its term runs inside some scope.
ALTER POLICY organization_in_scope_or_platform ON quarantine
  USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid) OR org_id IS NULL
    OR (SELECT current_setting('anamnesis.access', true)) = 'platform');
