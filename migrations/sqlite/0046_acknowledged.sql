-- What a patient asks for by a message is answered with a text as well where it is carried out at once: what was forgotten or
-- taken back, whether anything is kept from now on, what is permitted. Which kinds there are is the program's to know.
CREATE TABLE rights_answer_new (
  org_id       BLOB NOT NULL REFERENCES organization (org_id),
  patient_id   BLOB NOT NULL,
  id           BLOB NOT NULL,
  kind         TEXT NOT NULL,
  asked_by     BLOB NOT NULL,
  answered_at  INTEGER NOT NULL,
  body_sealed  BLOB NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (org_id, patient_id, id)
) STRICT;
INSERT INTO rights_answer_new SELECT * FROM rights_answer;
DROP TABLE rights_answer;
ALTER TABLE rights_answer_new RENAME TO rights_answer;
CREATE INDEX rights_answer_age ON rights_answer (org_id, answered_at, id);
