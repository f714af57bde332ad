-- The embedded store. Times are integer microseconds UTC; ids are 16-byte UUIDs; `_sealed` columns are AEAD ciphertext
-- under the patient's data key (bound to organisation, patient, table, row and column); `_hash` columns are keyed hashes.
-- Every tenant table starts its key with org_id, so that an id collision can never cross tenants.

CREATE TABLE organization (
  org_id            BLOB NOT NULL PRIMARY KEY CHECK (length(org_id) = 16),
  time_zone         TEXT NOT NULL DEFAULT 'UTC',
  redaction_policy  TEXT NOT NULL DEFAULT 'safe_harbor',
  consent_required  INTEGER NOT NULL DEFAULT 0 CHECK (consent_required IN (0, 1)),
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL
) STRICT;

-- S2: patient_profile. One row per known patient; safe defaults (S0 principle 3).
CREATE TABLE patient_profile (
  org_id                  BLOB NOT NULL REFERENCES organization (org_id),
  patient_id              BLOB NOT NULL CHECK (length(patient_id) = 16),
  cognitive_state         REAL CHECK (cognitive_state BETWEEN 0 AND 100),
  cognitive_state_at      INTEGER,
  disclaimer_accepted_at  INTEGER,
  region_sealed           BLOB,
  privacy_tier_sealed     BLOB,
  emergency_contacts_sealed BLOB,
  profile_at              INTEGER,
  ephemeral               INTEGER NOT NULL DEFAULT 0 CHECK (ephemeral IN (0, 1)),
  created_at              INTEGER NOT NULL,
  updated_at              INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id)
) STRICT;

-- Idempotency: (organisation, source, id) as a keyed hash. Written in the same transaction as the effects.
CREATE TABLE inbox (
  org_id        BLOB NOT NULL,
  message_hash  BLOB NOT NULL CHECK (length(message_hash) = 32),
  body_hash     BLOB NOT NULL CHECK (length(body_hash) = 32),
  patient_id    BLOB,
  message_type  TEXT NOT NULL,
  disposition   TEXT NOT NULL CHECK (disposition IN ('stored', 'quarantined', 'ignored')),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, message_hash)
) STRICT, WITHOUT ROWID;

-- How often work on a message began; written before the work (the broker's counters blame innocent neighbours).
CREATE TABLE attempt (
  message_hash  BLOB NOT NULL PRIMARY KEY CHECK (length(message_hash) = 32),
  attempts      INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What could not be stored, as ciphertext under the platform key, with a reason code.
CREATE TABLE quarantine (
  id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  org_id        BLOB,
  message_hash  BLOB NOT NULL,
  reason        TEXT NOT NULL,
  field         TEXT,
  body_sealed   BLOB,
  state         TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'retried', 'dropped')),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX quarantine_open ON quarantine (created_at) WHERE state = 'open';

-- S2: documents. One row per revision; exactly one revision of a document is current.
CREATE TABLE documents (
  org_id            BLOB NOT NULL,
  patient_id        BLOB NOT NULL,
  document_id       BLOB NOT NULL CHECK (length(document_id) = 16),
  revision          INTEGER NOT NULL CHECK (revision >= 1),
  document_type     TEXT NOT NULL CHECK (document_type IN
    ('session_transcript', 'analysis', 'intake_form', 'chat_message', 'clinical_note', 'uploaded_document')),
  occurred_at       INTEGER NOT NULL,
  language          TEXT NOT NULL CHECK (language IN ('es', 'en', 'und')),
  therapist_id      BLOB,
  session_hash      BLOB,
  sentiment         TEXT CHECK (sentiment IN ('positive', 'neutral', 'negative', 'mixed')),
  risk_level        TEXT CHECK (risk_level IN ('none', 'low', 'medium', 'high')),
  body_hash         BLOB NOT NULL CHECK (length(body_hash) = 32),
  content_sealed    BLOB NOT NULL,
  redaction_policy  TEXT NOT NULL,
  extractor_version TEXT NOT NULL,
  current           INTEGER NOT NULL CHECK (current IN (0, 1)),
  recorded_at       INTEGER NOT NULL,
  retired_at        INTEGER,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, document_id, revision),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK ((current = 1) = (retired_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX documents_current ON documents (org_id, patient_id, document_id) WHERE current = 1;
CREATE INDEX documents_recent ON documents (org_id, patient_id, occurred_at) WHERE current = 1;

-- The stretches of a document that are embedded and searched.
CREATE TABLE passage (
  org_id        BLOB NOT NULL,
  patient_id    BLOB NOT NULL,
  id            BLOB NOT NULL CHECK (length(id) = 16),
  document_id   BLOB NOT NULL,
  revision      INTEGER NOT NULL,
  ordinal       INTEGER NOT NULL,
  start_offset  INTEGER NOT NULL,
  end_offset    INTEGER NOT NULL CHECK (end_offset > start_offset),
  terms         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id, document_id, revision)
    REFERENCES documents (org_id, patient_id, document_id, revision) ON DELETE CASCADE
) STRICT;
CREATE INDEX passage_document ON passage (org_id, patient_id, document_id, revision, ordinal);

-- Vectors as 16-bit floats, little endian, searched exactly per patient. A plain table: see ARCHITECTURE.md.
CREATE TABLE embedding (
  org_id      BLOB NOT NULL,
  patient_id  BLOB NOT NULL,
  generation  INTEGER NOT NULL,
  passage_id  BLOB NOT NULL,
  dimension   INTEGER NOT NULL,
  vector      BLOB NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, generation, passage_id),
  FOREIGN KEY (org_id, patient_id, passage_id) REFERENCES passage (org_id, patient_id, id) ON DELETE CASCADE,
  CHECK (length(vector) = 2 * dimension)
) STRICT;
CREATE INDEX embedding_passage ON embedding (org_id, patient_id, passage_id);

CREATE TABLE embedding_cache (
  org_id      BLOB NOT NULL,
  patient_id  BLOB NOT NULL,
  generation  INTEGER NOT NULL,
  text_hash   BLOB NOT NULL CHECK (length(text_hash) = 16),
  vector      BLOB NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, generation, text_hash)
) STRICT, WITHOUT ROWID;

-- S2: extracted_findings. The immutable log that memories are folded from: what one revision of one document (or one
-- profile event) states. `live` ends when the revision is replaced or the document is erased.
CREATE TABLE extracted_findings (
  org_id                BLOB NOT NULL,
  patient_id            BLOB NOT NULL,
  id                    BLOB NOT NULL CHECK (length(id) = 16),
  source_id             BLOB NOT NULL,
  revision              INTEGER NOT NULL,
  live                  INTEGER NOT NULL CHECK (live IN (0, 1)),
  group_hash            BLOB NOT NULL CHECK (length(group_hash) = 32),
  attribute_hash        BLOB NOT NULL CHECK (length(attribute_hash) = 32),
  entity_type           TEXT NOT NULL,
  kind                  TEXT NOT NULL,
  class                 TEXT NOT NULL,
  set_by                TEXT NOT NULL,
  document_type         TEXT,
  source_type           TEXT NOT NULL,
  epistemic             TEXT NOT NULL,
  trust                 INTEGER NOT NULL CHECK (trust BETWEEN 1 AND 5),
  ending                INTEGER NOT NULL CHECK (ending IN (0, 1)),
  blanket               INTEGER NOT NULL CHECK (blanket IN (0, 1)),
  negated               INTEGER NOT NULL CHECK (negated IN (0, 1)),
  uncertain             INTEGER NOT NULL CHECK (uncertain IN (0, 1)),
  temporality           TEXT NOT NULL,
  experiencer           TEXT NOT NULL,
  extraction_confidence REAL NOT NULL CHECK (extraction_confidence BETWEEN 0 AND 1),
  initial_confidence    REAL NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1),
  confidence_basis      TEXT NOT NULL,
  is_proxy              INTEGER NOT NULL CHECK (is_proxy IN (0, 1)),
  asserted_at           INTEGER NOT NULL,
  valid_from            INTEGER NOT NULL,
  expires_at            INTEGER,
  payload_sealed        BLOB NOT NULL,
  evidence_sealed       BLOB,
  evidence_start        INTEGER,
  evidence_end          INTEGER,
  extractor_version     TEXT NOT NULL,
  recorded_at           INTEGER NOT NULL,
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK (epistemic <> 'inferred' OR evidence_sealed IS NOT NULL)
) STRICT;
CREATE INDEX extracted_findings_group ON extracted_findings (org_id, patient_id, group_hash);
CREATE INDEX extracted_findings_source ON extracted_findings (org_id, patient_id, source_id, revision);

-- A memory: what the log of findings and acts amounts to.
CREATE TABLE memory (
  org_id                BLOB NOT NULL,
  patient_id            BLOB NOT NULL,
  id                    BLOB NOT NULL CHECK (length(id) = 16),
  group_hash            BLOB NOT NULL,
  attribute_hash        BLOB NOT NULL,
  kind                  TEXT NOT NULL CHECK (kind IN
    ('raw', 'episode', 'note', 'belief', 'value', 'goal', 'drive', 'relationship')),
  class                 TEXT NOT NULL CHECK (class IN
    ('long_lived_fact', 'time_bound_state', 'event', 'inference', 'health_signal', 'preference', 'pattern')),
  entity_type           TEXT,
  sensitivity           TEXT NOT NULL CHECK (sensitivity IN ('low', 'medium', 'high')),
  state                 TEXT NOT NULL CHECK (state IN
    ('active', 'resolved', 'resolved_unconfirmed', 'expired', 'stale', 'superseded', 'inactive', 'quarantined')),
  contested             INTEGER NOT NULL CHECK (contested IN (0, 1)),
  ungrounded            INTEGER NOT NULL CHECK (ungrounded IN (0, 1)),
  content_sealed        BLOB,
  finding_id            BLOB,
  document_id           BLOB,
  revision              INTEGER,
  evidence_sealed       BLOB,
  evidence_start        INTEGER,
  evidence_end          INTEGER,
  source_type           TEXT NOT NULL CHECK (source_type IN
    ('direct_experience', 'inference', 'consolidation', 'external', 'seed', 'observation', 'unknown')),
  epistemic             TEXT NOT NULL CHECK (epistemic IN ('explicit', 'observed', 'inferred', 'unknown')),
  source_entity_sealed  BLOB,
  is_proxy              INTEGER NOT NULL CHECK (is_proxy IN (0, 1)),
  trust                 INTEGER NOT NULL CHECK (trust BETWEEN 1 AND 5),
  set_by                TEXT NOT NULL,
  negated               INTEGER NOT NULL CHECK (negated IN (0, 1)),
  experiencer           TEXT NOT NULL CHECK (experiencer IN ('patient', 'family', 'other')),
  extraction_confidence REAL NOT NULL CHECK (extraction_confidence BETWEEN 0 AND 1),
  initial_confidence    REAL NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1),
  confidence_basis      TEXT NOT NULL CHECK (confidence_basis IN
    ('proxy', 'given', 'cognitive_state', 'formed', 'default')),
  confidence            REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  times_reinforced      INTEGER NOT NULL DEFAULT 0,
  verification_count    INTEGER NOT NULL DEFAULT 0,
  last_verified         INTEGER,
  is_protected          INTEGER NOT NULL CHECK (is_protected IN (0, 1)),
  cycle                 INTEGER NOT NULL DEFAULT 0,
  valid_from            INTEGER NOT NULL,
  valid_to              INTEGER,
  last_confirmed_at     INTEGER,
  reconfirm_due_at      INTEGER,
  expires_at            INTEGER,
  state_at              INTEGER NOT NULL,
  supersedes            BLOB,
  superseded_by         BLOB,
  terms                 TEXT NOT NULL,
  embedding_generation  INTEGER,
  redaction_policy      TEXT NOT NULL,
  fold_hash             BLOB,
  schema_version        INTEGER NOT NULL,
  recorded_at           INTEGER NOT NULL,
  retired_at            INTEGER,
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id) REFERENCES patient_profile (org_id, patient_id),
  CHECK (epistemic <> 'inferred' OR evidence_sealed IS NOT NULL),
  CHECK (class <> 'time_bound_state' OR (last_confirmed_at IS NOT NULL AND expires_at IS NOT NULL)),
  CHECK (class <> 'inference' OR (expires_at IS NOT NULL AND expires_at <= recorded_at + 86400000000))
) STRICT;
CREATE INDEX memory_group ON memory (org_id, patient_id, group_hash);
CREATE INDEX memory_document ON memory (org_id, patient_id, document_id);
-- What the nightly jobs look for: rows that time will change. The decaying confidence is in no index.
CREATE INDEX memory_expiring ON memory (org_id, expires_at, patient_id, id) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX memory_aging ON memory (org_id, class, last_confirmed_at, patient_id, id)
  WHERE state = 'active' AND class IN ('time_bound_state', 'health_signal');
CREATE INDEX memory_reconfirm ON memory (org_id, last_confirmed_at, patient_id, id)
  WHERE state = 'active' AND class = 'time_bound_state' AND reconfirm_due_at IS NULL;

-- An event happened as it happened; what is said of it later is another memory.
CREATE TRIGGER memory_event_content_is_immutable BEFORE UPDATE OF content_sealed ON memory
WHEN OLD.class = 'event' AND OLD.content_sealed IS NOT NULL AND NEW.content_sealed IS NOT NULL
  AND OLD.content_sealed IS NOT NEW.content_sealed AND OLD.finding_id IS NEW.finding_id
BEGIN SELECT RAISE(ABORT, 'constraint: event content is immutable'); END;

-- Lineage, both directions, write-once (S1 section 4).
CREATE TABLE memory_link (
  org_id       BLOB NOT NULL,
  patient_id   BLOB NOT NULL,
  relation     TEXT NOT NULL CHECK (relation IN ('derived_from', 'processed_into', 'source_episode', 'relates_to')),
  from_kind    TEXT NOT NULL,
  from_id      BLOB NOT NULL,
  to_kind      TEXT NOT NULL,
  to_id        BLOB NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, relation, from_id, to_id),
  CHECK (from_id <> to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_link_back ON memory_link (org_id, patient_id, to_id);
CREATE TRIGGER memory_link_is_write_once BEFORE UPDATE ON memory_link
BEGIN SELECT RAISE(ABORT, 'constraint: lineage is write-once'); END;

-- What people and jobs did to a memory (input of the fold), and the history that the fold tells (derived).
CREATE TABLE memory_event (
  org_id          BLOB NOT NULL,
  patient_id      BLOB NOT NULL,
  id              BLOB NOT NULL CHECK (length(id) = 16),
  memory_id       BLOB NOT NULL,
  derived         INTEGER NOT NULL CHECK (derived IN (0, 1)),
  at              INTEGER NOT NULL,
  action          TEXT NOT NULL,
  source          TEXT NOT NULL,
  old_confidence  REAL,
  new_confidence  REAL,
  evidence_kind   TEXT,
  evidence_id     BLOB,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
) STRICT;
CREATE INDEX memory_event_memory ON memory_event (org_id, patient_id, memory_id, at);

CREATE TABLE contradiction (
  org_id      BLOB NOT NULL,
  patient_id  BLOB NOT NULL,
  id          BLOB NOT NULL CHECK (length(id) = 16),
  group_hash  BLOB NOT NULL,
  kept_id     BLOB NOT NULL,
  claim_id    BLOB NOT NULL,
  type        TEXT NOT NULL CHECK (type IN
    ('direct_negation', 'comparative_opposition', 'preference_conflict', 'clinical_conflict')),
  state       TEXT NOT NULL CHECK (state IN ('open', 'answered')),
  found_at    INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
) STRICT;
CREATE INDEX contradiction_group ON contradiction (org_id, patient_id, group_hash);

-- S2: the clinical store. One row per memory of clinical standing; an inference never enters.
CREATE TABLE conditions (
  org_id        BLOB NOT NULL,
  patient_id    BLOB NOT NULL,
  memory_id     BLOB NOT NULL,
  name_sealed   BLOB NOT NULL,
  code_sealed   BLOB,
  status        TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'resolved', 'refuted')),
  experiencer   TEXT NOT NULL,
  trust         INTEGER NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by        TEXT NOT NULL,
  since         INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE allergies (
  org_id            BLOB NOT NULL,
  patient_id        BLOB NOT NULL,
  memory_id         BLOB NOT NULL,
  substance_sealed  BLOB NOT NULL,
  reaction_sealed   BLOB,
  status            TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'resolved', 'refuted')),
  trust             INTEGER NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by            TEXT NOT NULL,
  since             INTEGER,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE medications (
  org_id            BLOB NOT NULL,
  patient_id        BLOB NOT NULL,
  memory_id         BLOB NOT NULL,
  name_sealed       BLOB NOT NULL,
  dose_sealed       BLOB,
  route_sealed      BLOB,
  frequency_sealed  BLOB,
  status            TEXT NOT NULL CHECK (status IN ('active', 'stopped', 'not_taken', 'superseded')),
  trust             INTEGER NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by            TEXT NOT NULL,
  since             INTEGER,
  until             INTEGER,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE symptom_states (
  org_id             BLOB NOT NULL,
  patient_id         BLOB NOT NULL,
  memory_id          BLOB NOT NULL,
  name_sealed        BLOB NOT NULL,
  severity           TEXT,
  status             TEXT NOT NULL,
  trust              INTEGER NOT NULL CHECK (trust BETWEEN 1 AND 3),
  set_by             TEXT NOT NULL,
  onset              INTEGER,
  last_confirmed_at  INTEGER NOT NULL,
  expires_at         INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE appointments (
  org_id        BLOB NOT NULL,
  patient_id    BLOB NOT NULL,
  memory_id     BLOB NOT NULL,
  title_sealed  BLOB NOT NULL,
  status        TEXT NOT NULL,
  at            INTEGER,
  set_by        TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
) STRICT;

-- S2 section 5: a trend of a registered device, with its source and recency.
CREATE TABLE health_signals (
  org_id          BLOB NOT NULL,
  patient_id      BLOB NOT NULL,
  memory_id       BLOB NOT NULL,
  metric_hash     BLOB NOT NULL CHECK (length(metric_hash) = 32),
  reading_sealed  BLOB NOT NULL,
  status          TEXT NOT NULL,
  synced_at       INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, memory_id),
  FOREIGN KEY (org_id, patient_id, memory_id) REFERENCES memory (org_id, patient_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE conversation_preferences (
  org_id        BLOB NOT NULL,
  patient_id    BLOB NOT NULL,
  key_hash      BLOB NOT NULL CHECK (length(key_hash) = 32),
  key_sealed    BLOB NOT NULL,
  value_sealed  BLOB NOT NULL,
  source        TEXT NOT NULL,
  confidence    REAL NOT NULL,
  stated_at     INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, key_hash)
) STRICT;

CREATE TABLE consent (
  org_id       BLOB NOT NULL,
  patient_id   BLOB NOT NULL,
  id           BLOB NOT NULL CHECK (length(id) = 16),
  scope_hash   BLOB NOT NULL CHECK (length(scope_hash) = 32),
  provision    TEXT NOT NULL CHECK (provision IN ('permit', 'deny')),
  from_at      INTEGER NOT NULL,
  until_at     INTEGER,
  recorded_by  BLOB NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
) STRICT;

-- S2 section 9: who did what, content-free.
CREATE TABLE action_audit (
  org_id      BLOB NOT NULL,
  patient_id  BLOB NOT NULL,
  id          BLOB NOT NULL CHECK (length(id) = 16),
  at          INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  action      TEXT NOT NULL,
  subject_id  BLOB,
  outcome     TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
) STRICT;
CREATE INDEX action_audit_at ON action_audit (org_id, patient_id, at);

-- What a text says about danger. A denial is kept as a denial; plan or means are never dropped.
CREATE TABLE risk_flag (
  org_id           BLOB NOT NULL,
  patient_id       BLOB NOT NULL,
  id               BLOB NOT NULL CHECK (length(id) = 16),
  document_id      BLOB NOT NULL,
  revision         INTEGER NOT NULL,
  class            TEXT NOT NULL,
  denied           INTEGER NOT NULL CHECK (denied IN (0, 1)),
  experiencer      TEXT NOT NULL,
  evidence_sealed  BLOB NOT NULL,
  evidence_start   INTEGER NOT NULL,
  evidence_end     INTEGER NOT NULL,
  at               INTEGER NOT NULL,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id),
  FOREIGN KEY (org_id, patient_id, document_id, revision)
    REFERENCES documents (org_id, patient_id, document_id, revision) ON DELETE CASCADE
) STRICT;
CREATE INDEX risk_flag_at ON risk_flag (org_id, patient_id, at);

-- Events to publish. Never a sequence watermark: rows wait until published_at is set.
CREATE TABLE outbox (
  org_id        BLOB NOT NULL,
  id            BLOB NOT NULL CHECK (length(id) = 16),
  patient_id    BLOB NOT NULL,
  event_type    TEXT NOT NULL,
  body_sealed   BLOB NOT NULL,
  attempts      INTEGER NOT NULL DEFAULT 0,
  published_at  INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, id)
) STRICT;
CREATE INDEX outbox_waiting ON outbox (created_at) WHERE published_at IS NULL;

-- The ledger of nightly work: the lease decides who runs a night, the fence who may write. `cutoff_at` is the night's
-- scheduled instant; `wake_at` the end of the lease, or of the rest after a failure.
CREATE TABLE job_run (
  org_id        BLOB NOT NULL,
  job           TEXT NOT NULL,
  as_of         TEXT NOT NULL,
  cutoff_at     INTEGER NOT NULL,
  state         TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'partial')),
  owner         TEXT NOT NULL,
  fence         INTEGER NOT NULL,
  attempts      INTEGER NOT NULL,
  wake_at       INTEGER,
  cursor        TEXT,
  status        TEXT,
  error         TEXT,
  started_at    INTEGER NOT NULL,
  finished_at   INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (org_id, job, as_of),
  CHECK (state <> 'running' OR wake_at IS NOT NULL)
) STRICT;
CREATE INDEX job_run_recent ON job_run (as_of);
