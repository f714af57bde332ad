-- The store on PostgreSQL: the same tables, columns and nullability as the embedded one (a test holds them equal). Times
-- are integer microseconds UTC; flags are 0 or 1, as the statements compare them on both engines; `_sealed` columns are
-- AEAD ciphertext under the patient's data key; `_hash` columns are keyed hashes. Every tenant table starts its key with
-- org_id, so that an id collision can never cross tenants. Tables are made in the first schema of the search path
-- (`anamnesis`); row-level security stands at the end of this file, privileges in grants.sql.

CREATE TABLE organization (
  org_id            uuid NOT NULL PRIMARY KEY,
  time_zone         text NOT NULL DEFAULT 'UTC',
  redaction_policy  text NOT NULL DEFAULT 'safe_harbor',
  consent_required  smallint NOT NULL DEFAULT 0 CHECK (consent_required IN (0, 1)),
  created_at        bigint NOT NULL,
  updated_at        bigint NOT NULL
);

-- S2: patient_profile. One row per known patient; safe defaults (S0 principle 3).
CREATE TABLE patient_profile (
  org_id                  uuid NOT NULL REFERENCES organization (org_id),
  patient_id              uuid NOT NULL,
  cognitive_state         double precision CHECK (cognitive_state BETWEEN 0 AND 100),
  cognitive_state_at      bigint,
  disclaimer_accepted_at  bigint,
  region_sealed           bytea,
  privacy_tier_sealed     bytea,
  emergency_contacts_sealed bytea,
  profile_at              bigint,
  ephemeral               smallint NOT NULL DEFAULT 0 CHECK (ephemeral IN (0, 1)),
  created_at              bigint NOT NULL,
  updated_at              bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id)
);

-- Idempotency: (organisation, source, id) as a keyed hash. Written in the same transaction as the effects.
CREATE TABLE inbox (
  org_id        uuid NOT NULL,
  message_hash  bytea NOT NULL CHECK (length(message_hash) = 32),
  body_hash     bytea NOT NULL CHECK (length(body_hash) = 32),
  patient_id    uuid,
  message_type  text NOT NULL,
  disposition   text NOT NULL CHECK (disposition IN ('stored', 'quarantined', 'ignored')),
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, message_hash)
);

-- How often work on a message began; written before the work (the broker's counters blame innocent neighbours).
CREATE TABLE attempt (
  message_hash  bytea NOT NULL PRIMARY KEY CHECK (length(message_hash) = 32),
  attempts      bigint NOT NULL,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL
);

-- What could not be stored, as ciphertext under the platform key, with a reason code.
CREATE TABLE quarantine (
  id            uuid NOT NULL PRIMARY KEY,
  org_id        uuid,
  message_hash  bytea NOT NULL,
  reason        text NOT NULL,
  field         text,
  body_sealed   bytea,
  state         text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'retried', 'dropped')),
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL
);
CREATE INDEX quarantine_open ON quarantine (created_at) WHERE state = 'open';

-- S2: documents. One row per revision; exactly one revision of a document is current.
CREATE TABLE documents (
  org_id            uuid NOT NULL,
  patient_id        uuid NOT NULL,
  document_id       uuid NOT NULL,
  revision          bigint NOT NULL CHECK (revision >= 1),
  document_type     text NOT NULL CHECK (document_type IN
    ('session_transcript', 'analysis', 'intake_form', 'chat_message', 'clinical_note', 'uploaded_document')),
  occurred_at       bigint NOT NULL,
  language          text NOT NULL CHECK (language IN ('es', 'en', 'und')),
  therapist_id      uuid,
  session_hash      bytea,
  sentiment         text CHECK (sentiment IN ('positive', 'neutral', 'negative', 'mixed')),
  risk_level        text CHECK (risk_level IN ('none', 'low', 'medium', 'high')),
  body_hash         bytea NOT NULL CHECK (length(body_hash) = 32),
  content_sealed    bytea NOT NULL,
  redaction_policy  text NOT NULL,
  extractor_version text NOT NULL,
  current           smallint NOT NULL CHECK (current IN (0, 1)),
  recorded_at       bigint NOT NULL,
  retired_at        bigint,
  created_at        bigint NOT NULL,
  updated_at        bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, document_id, revision),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK ((current = 1) = (retired_at IS NULL))
);
CREATE UNIQUE INDEX documents_current ON documents (org_id, patient_id, document_id) WHERE current = 1;
CREATE INDEX documents_recent ON documents (org_id, patient_id, occurred_at) WHERE current = 1;

-- The stretches of a document that are embedded and searched.
CREATE TABLE passage (
  org_id        uuid NOT NULL,
  patient_id    uuid NOT NULL,
  id            uuid NOT NULL,
  document_id   uuid NOT NULL,
  revision      bigint NOT NULL,
  ordinal       bigint NOT NULL,
  start_offset  bigint NOT NULL,
  end_offset    bigint NOT NULL CHECK (end_offset > start_offset),
  terms         bigint[] NOT NULL,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id, document_id, revision)
    REFERENCES documents (org_id, patient_id, document_id, revision) ON DELETE CASCADE
);
CREATE INDEX passage_document ON passage (org_id, patient_id, document_id, revision, ordinal);

-- Vectors as 16-bit floats, searched exactly per patient: no approximate index, so that no row is ever hidden.
CREATE TABLE embedding (
  org_id      uuid NOT NULL,
  patient_id  uuid NOT NULL,
  generation  bigint NOT NULL,
  passage_id  uuid NOT NULL,
  dimension   bigint NOT NULL,
  vector      halfvec NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, generation, passage_id),
  FOREIGN KEY (org_id, patient_id, passage_id) REFERENCES passage (org_id, patient_id, id) ON DELETE CASCADE,
  CHECK (vector_dims(vector) = dimension)
);
CREATE INDEX embedding_passage ON embedding (org_id, patient_id, passage_id);

CREATE TABLE embedding_cache (
  org_id      uuid NOT NULL,
  patient_id  uuid NOT NULL,
  generation  bigint NOT NULL,
  text_hash   bytea NOT NULL CHECK (length(text_hash) = 16),
  vector      halfvec NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, generation, text_hash)
);

-- S2: extracted_findings. The immutable log that memories are folded from: what one revision of one document (or one
-- profile event) states. `live` ends when the revision is replaced or the document is erased.
CREATE TABLE extracted_findings (
  org_id                uuid NOT NULL,
  patient_id            uuid NOT NULL,
  id                    uuid NOT NULL,
  source_id             uuid NOT NULL,
  revision              bigint NOT NULL,
  live                  smallint NOT NULL CHECK (live IN (0, 1)),
  group_hash            bytea NOT NULL CHECK (length(group_hash) = 32),
  attribute_hash        bytea NOT NULL CHECK (length(attribute_hash) = 32),
  entity_type           text NOT NULL,
  kind                  text NOT NULL,
  class                 text NOT NULL,
  set_by                text NOT NULL,
  document_type         text,
  source_type           text NOT NULL,
  epistemic             text NOT NULL,
  trust                 bigint NOT NULL CHECK (trust BETWEEN 1 AND 5),
  ending                smallint NOT NULL CHECK (ending IN (0, 1)),
  blanket               smallint NOT NULL CHECK (blanket IN (0, 1)),
  negated               smallint NOT NULL CHECK (negated IN (0, 1)),
  uncertain             smallint NOT NULL CHECK (uncertain IN (0, 1)),
  temporality           text NOT NULL,
  experiencer           text NOT NULL,
  extraction_confidence double precision NOT NULL CHECK (extraction_confidence BETWEEN 0 AND 1),
  initial_confidence    double precision NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1),
  confidence_basis      text NOT NULL,
  is_proxy              smallint NOT NULL CHECK (is_proxy IN (0, 1)),
  asserted_at           bigint NOT NULL,
  valid_from            bigint NOT NULL,
  expires_at            bigint,
  payload_sealed        bytea NOT NULL,
  evidence_sealed       bytea,
  evidence_start        bigint,
  evidence_end          bigint,
  extractor_version     text NOT NULL,
  recorded_at           bigint NOT NULL,
  created_at            bigint NOT NULL,
  updated_at            bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK (epistemic <> 'inferred' OR evidence_sealed IS NOT NULL)
);
CREATE INDEX extracted_findings_group ON extracted_findings (org_id, patient_id, group_hash);
CREATE INDEX extracted_findings_source ON extracted_findings (org_id, patient_id, source_id, revision);

-- A memory: what the log of findings and acts amounts to.
CREATE TABLE memory (
  org_id                uuid NOT NULL,
  patient_id            uuid NOT NULL,
  id                    uuid NOT NULL,
  group_hash            bytea NOT NULL,
  attribute_hash        bytea NOT NULL,
  kind                  text NOT NULL CHECK (kind IN
    ('raw', 'episode', 'note', 'belief', 'value', 'goal', 'drive', 'relationship')),
  class                 text NOT NULL CHECK (class IN
    ('long_lived_fact', 'time_bound_state', 'event', 'inference', 'health_signal', 'preference', 'pattern')),
  entity_type           text,
  sensitivity           text NOT NULL CHECK (sensitivity IN ('low', 'medium', 'high')),
  state                 text NOT NULL CHECK (state IN
    ('active', 'resolved', 'resolved_unconfirmed', 'expired', 'stale', 'superseded', 'inactive', 'quarantined')),
  contested             smallint NOT NULL CHECK (contested IN (0, 1)),
  ungrounded            smallint NOT NULL CHECK (ungrounded IN (0, 1)),
  content_sealed        bytea,
  finding_id            uuid,
  document_id           uuid,
  revision              bigint,
  evidence_sealed       bytea,
  evidence_start        bigint,
  evidence_end          bigint,
  source_type           text NOT NULL CHECK (source_type IN
    ('direct_experience', 'inference', 'consolidation', 'external', 'seed', 'observation', 'unknown')),
  epistemic             text NOT NULL CHECK (epistemic IN ('explicit', 'observed', 'inferred', 'unknown')),
  source_entity_sealed  bytea,
  is_proxy              smallint NOT NULL CHECK (is_proxy IN (0, 1)),
  trust                 bigint NOT NULL CHECK (trust BETWEEN 1 AND 5),
  set_by                text NOT NULL,
  negated               smallint NOT NULL CHECK (negated IN (0, 1)),
  experiencer           text NOT NULL CHECK (experiencer IN ('patient', 'family', 'other')),
  extraction_confidence double precision NOT NULL CHECK (extraction_confidence BETWEEN 0 AND 1),
  initial_confidence    double precision NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1),
  confidence_basis      text NOT NULL CHECK (confidence_basis IN
    ('proxy', 'given', 'cognitive_state', 'formed', 'default')),
  confidence            double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  times_reinforced      bigint NOT NULL DEFAULT 0,
  verification_count    bigint NOT NULL DEFAULT 0,
  last_verified         bigint,
  is_protected          smallint NOT NULL CHECK (is_protected IN (0, 1)),
  cycle                 bigint NOT NULL DEFAULT 0,
  valid_from            bigint NOT NULL,
  valid_to              bigint,
  last_confirmed_at     bigint,
  reconfirm_due_at      bigint,
  expires_at            bigint,
  state_at              bigint NOT NULL,
  supersedes            uuid,
  superseded_by         uuid,
  terms                 bigint[] NOT NULL,
  embedding_generation  bigint,
  redaction_policy      text NOT NULL,
  fold_hash             bytea,
  schema_version        bigint NOT NULL,
  recorded_at           bigint NOT NULL,
  retired_at            bigint,
  created_at            bigint NOT NULL,
  updated_at            bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK (epistemic <> 'inferred' OR evidence_sealed IS NOT NULL),
  CHECK (class <> 'time_bound_state' OR (last_confirmed_at IS NOT NULL AND expires_at IS NOT NULL)),
  CHECK (class <> 'inference' OR (expires_at IS NOT NULL AND expires_at <= recorded_at + 86400000000))
);
CREATE INDEX memory_group ON memory (org_id, patient_id, group_hash);
CREATE INDEX memory_document ON memory (org_id, patient_id, document_id);
-- What the nightly jobs look for: rows that time will change. The decaying confidence is in no index.
CREATE INDEX memory_expiring ON memory (org_id, expires_at, patient_id, id) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX memory_aging ON memory (org_id, class, last_confirmed_at, patient_id, id)
  WHERE state = 'active' AND class IN ('time_bound_state', 'health_signal');
CREATE INDEX memory_reconfirm ON memory (org_id, last_confirmed_at, patient_id, id)
  WHERE state = 'active' AND class = 'time_bound_state' AND reconfirm_due_at IS NULL;

-- An event happened as it happened; what is said of it later is another memory.
CREATE FUNCTION refuse_new_event_content() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'event content is immutable'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'memory_event_content_is_immutable';
END $$;
CREATE TRIGGER memory_event_content_is_immutable BEFORE UPDATE OF content_sealed ON memory FOR EACH ROW
WHEN (OLD.class = 'event' AND OLD.content_sealed IS NOT NULL AND NEW.content_sealed IS NOT NULL
  AND OLD.content_sealed IS DISTINCT FROM NEW.content_sealed AND OLD.finding_id IS NOT DISTINCT FROM NEW.finding_id)
EXECUTE FUNCTION refuse_new_event_content();

-- Lineage, both directions, write-once (S1 section 4).
CREATE TABLE memory_link (
  org_id       uuid NOT NULL,
  patient_id   uuid NOT NULL,
  relation     text NOT NULL CHECK (relation IN ('derived_from', 'processed_into', 'source_episode', 'relates_to')),
  from_kind    text NOT NULL,
  from_id      uuid NOT NULL,
  to_kind      text NOT NULL,
  to_id        uuid NOT NULL,
  created_at   bigint NOT NULL,
  updated_at   bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, relation, from_id, to_id),
  CHECK (from_id <> to_id)
);
CREATE INDEX memory_link_back ON memory_link (org_id, patient_id, to_id);
CREATE FUNCTION refuse_new_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'lineage is write-once' USING ERRCODE = 'check_violation', CONSTRAINT = 'memory_link_is_write_once';
END $$;
CREATE TRIGGER memory_link_is_write_once BEFORE UPDATE ON memory_link FOR EACH ROW
EXECUTE FUNCTION refuse_new_lineage();

-- What people and jobs did to a memory (input of the fold), and the history that the fold tells (derived).
CREATE TABLE memory_event (
  org_id          uuid NOT NULL,
  patient_id      uuid NOT NULL,
  id              uuid NOT NULL,
  memory_id       uuid NOT NULL,
  derived         smallint NOT NULL CHECK (derived IN (0, 1)),
  at              bigint NOT NULL,
  action          text NOT NULL,
  source          text NOT NULL,
  old_confidence  double precision,
  new_confidence  double precision,
  evidence_kind   text,
  evidence_id     uuid,
  created_at      bigint NOT NULL,
  updated_at      bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
);
CREATE INDEX memory_event_memory ON memory_event (org_id, patient_id, memory_id, at);

CREATE TABLE contradiction (
  org_id      uuid NOT NULL,
  patient_id  uuid NOT NULL,
  id          uuid NOT NULL,
  group_hash  bytea NOT NULL,
  kept_id     uuid NOT NULL,
  claim_id    uuid NOT NULL,
  type        text NOT NULL CHECK (type IN
    ('direct_negation', 'comparative_opposition', 'preference_conflict', 'clinical_conflict')),
  state       text NOT NULL CHECK (state IN ('open', 'answered')),
  found_at    bigint NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
);
CREATE INDEX contradiction_group ON contradiction (org_id, patient_id, group_hash);

-- S2: the clinical store. One row per memory of clinical standing; an inference never enters.
CREATE TABLE conditions (
  org_id        uuid NOT NULL,
  patient_id    uuid NOT NULL,
  memory_id     uuid NOT NULL,
  name_sealed   bytea NOT NULL,
  code_sealed   bytea,
  status        text NOT NULL CHECK (status IN ('active', 'inactive', 'resolved', 'refuted')),
  experiencer   text NOT NULL,
  trust         bigint NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by        text NOT NULL,
  since         bigint,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
);

CREATE TABLE allergies (
  org_id            uuid NOT NULL,
  patient_id        uuid NOT NULL,
  memory_id         uuid NOT NULL,
  substance_sealed  bytea NOT NULL,
  reaction_sealed   bytea,
  status            text NOT NULL CHECK (status IN ('active', 'inactive', 'resolved', 'refuted')),
  trust             bigint NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by            text NOT NULL,
  since             bigint,
  created_at        bigint NOT NULL,
  updated_at        bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
);

CREATE TABLE medications (
  org_id            uuid NOT NULL,
  patient_id        uuid NOT NULL,
  memory_id         uuid NOT NULL,
  name_sealed       bytea NOT NULL,
  dose_sealed       bytea,
  route_sealed      bytea,
  frequency_sealed  bytea,
  status            text NOT NULL CHECK (status IN ('active', 'stopped', 'not_taken', 'superseded')),
  trust             bigint NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by            text NOT NULL,
  since             bigint,
  until             bigint,
  created_at        bigint NOT NULL,
  updated_at        bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
);

CREATE TABLE symptom_states (
  org_id             uuid NOT NULL,
  patient_id         uuid NOT NULL,
  memory_id          uuid NOT NULL,
  name_sealed        bytea NOT NULL,
  severity           text,
  status             text NOT NULL,
  trust              bigint NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by             text NOT NULL,
  onset              bigint,
  last_confirmed_at  bigint NOT NULL,
  expires_at         bigint NOT NULL,
  created_at         bigint NOT NULL,
  updated_at         bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
);

CREATE TABLE appointments (
  org_id        uuid NOT NULL,
  patient_id    uuid NOT NULL,
  memory_id     uuid NOT NULL,
  title_sealed  bytea NOT NULL,
  status        text NOT NULL,
  at            bigint,
  set_by        text NOT NULL,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
);

-- S2 section 5: a trend of a registered device, with its source and recency.
CREATE TABLE health_signals (
  org_id          uuid NOT NULL,
  patient_id      uuid NOT NULL,
  memory_id       uuid NOT NULL,
  metric_hash     bytea NOT NULL CHECK (length(metric_hash) = 32),
  reading_sealed  bytea NOT NULL,
  status          text NOT NULL,
  synced_at       bigint NOT NULL,
  created_at      bigint NOT NULL,
  updated_at      bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
);

CREATE TABLE conversation_preferences (
  org_id        uuid NOT NULL,
  patient_id    uuid NOT NULL,
  key_hash      bytea NOT NULL CHECK (length(key_hash) = 32),
  key_sealed    bytea NOT NULL,
  value_sealed  bytea NOT NULL,
  source        text NOT NULL,
  confidence    double precision NOT NULL,
  stated_at     bigint NOT NULL,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, key_hash)
);

CREATE TABLE consent (
  org_id       uuid NOT NULL,
  patient_id   uuid NOT NULL,
  id           uuid NOT NULL,
  scope_hash   bytea NOT NULL CHECK (length(scope_hash) = 32),
  provision    text NOT NULL CHECK (provision IN ('permit', 'deny')),
  from_at      bigint NOT NULL,
  until_at     bigint,
  recorded_by  uuid NOT NULL,
  created_at   bigint NOT NULL,
  updated_at   bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
);

-- S2 section 9: who did what, content-free.
CREATE TABLE action_audit (
  org_id      uuid NOT NULL,
  patient_id  uuid NOT NULL,
  id          uuid NOT NULL,
  at          bigint NOT NULL,
  actor       text NOT NULL,
  action      text NOT NULL,
  subject_id  uuid,
  outcome     text NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
);
CREATE INDEX action_audit_at ON action_audit (org_id, patient_id, at);

-- What a text says about danger. A denial is kept as a denial; plan or means are never dropped.
CREATE TABLE risk_flag (
  org_id           uuid NOT NULL,
  patient_id       uuid NOT NULL,
  id               uuid NOT NULL,
  document_id      uuid NOT NULL,
  revision         bigint NOT NULL,
  class            text NOT NULL,
  denied           smallint NOT NULL CHECK (denied IN (0, 1)),
  experiencer      text NOT NULL,
  evidence_sealed  bytea NOT NULL,
  evidence_start   bigint NOT NULL,
  evidence_end     bigint NOT NULL,
  at               bigint NOT NULL,
  created_at       bigint NOT NULL,
  updated_at       bigint NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id, document_id, revision)
    REFERENCES documents (org_id, patient_id, document_id, revision) ON DELETE CASCADE
);
CREATE INDEX risk_flag_at ON risk_flag (org_id, patient_id, at);

-- Events to publish. Never a sequence watermark: rows wait until published_at is set.
CREATE TABLE outbox (
  org_id        uuid NOT NULL,
  id            uuid NOT NULL,
  patient_id    uuid NOT NULL,
  event_type    text NOT NULL,
  body_sealed   bytea NOT NULL,
  attempts      bigint NOT NULL DEFAULT 0,
  published_at  bigint,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX outbox_waiting ON outbox (created_at) WHERE published_at IS NULL;

-- The ledger of nightly work: the lease decides who runs a night, the fence who may write. `cutoff_at` is the night's
-- scheduled instant; `wake_at` the end of the lease, or of the rest after a failure.
CREATE TABLE job_run (
  org_id        uuid NOT NULL,
  job           text NOT NULL,
  as_of         text NOT NULL,
  cutoff_at     bigint NOT NULL,
  state         text NOT NULL CHECK (state IN ('running', 'done', 'failed', 'partial')),
  owner         text NOT NULL,
  fence         bigint NOT NULL,
  attempts      bigint NOT NULL,
  wake_at       bigint,
  cursor        text,
  status        text,
  error         text,
  started_at    bigint NOT NULL,
  finished_at   bigint,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (org_id, job, as_of),
  CHECK (state <> 'running' OR wake_at IS NOT NULL)
);
CREATE INDEX job_run_recent ON job_run (as_of);

-- Vectors are compared, not only kept: beside their row they are read several times faster than out of line. A row fits
-- a page up to 4,000 dimensions.
ALTER TABLE embedding ALTER COLUMN vector SET STORAGE PLAIN;
ALTER TABLE embedding_cache ALTER COLUMN vector SET STORAGE PLAIN;
-- Ciphertext does not compress: trying costs time and gains nothing.
ALTER TABLE documents ALTER COLUMN content_sealed SET STORAGE EXTERNAL;
ALTER TABLE extracted_findings ALTER COLUMN payload_sealed SET STORAGE EXTERNAL,
  ALTER COLUMN evidence_sealed SET STORAGE EXTERNAL;
ALTER TABLE memory ALTER COLUMN content_sealed SET STORAGE EXTERNAL, ALTER COLUMN evidence_sealed SET STORAGE EXTERNAL;
ALTER TABLE quarantine ALTER COLUMN body_sealed SET STORAGE EXTERNAL;

-- Row-level security, for the owner too. A transaction says whose rows it may touch by a setting of its own
-- (set_config(..., true)); after it the setting is '' and not NULL, and both mean nobody.
DO $$
DECLARE
  tenant text;
BEGIN
  FOREACH tenant IN ARRAY ARRAY[
    'patient_profile', 'inbox', 'documents', 'passage', 'embedding', 'embedding_cache', 'extracted_findings', 'memory',
    'memory_link', 'memory_event', 'contradiction', 'conditions', 'allergies', 'medications', 'symptom_states',
    'appointments', 'health_signals', 'conversation_preferences', 'consent', 'action_audit', 'risk_flag', 'outbox']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenant);
    EXECUTE format($p$CREATE POLICY organization_in_scope ON %I
      USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid))$p$, tenant);
  END LOOP;
  -- What is known of organisations and of messages that belong to none; the platform's work may see all of it.
  FOREACH tenant IN ARRAY ARRAY['organization', 'quarantine', 'job_run'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenant);
    EXECUTE format($p$CREATE POLICY organization_in_scope_or_platform ON %I
      USING (org_id = (SELECT nullif(current_setting('anamnesis.org', true), '')::uuid)
        OR (SELECT current_setting('anamnesis.access', true)) = 'platform')$p$, tenant);
  END LOOP;
END $$;
