//! What removal asks and writes.

use std::sync::LazyLock;

use anamnesis_sql::Sql;

macro_rules! statements {
    ($($name:ident = $sql:expr;)+) => {
        $(pub(super) static $name: LazyLock<Sql> = LazyLock::new(|| Sql::new($sql));)+

        pub(in crate::write) fn statements() -> Vec<&'static Sql> {
            vec![$(&*$name),+]
        }
    };
}

statements! {
    DOCUMENTS = "SELECT document_id, revision, occurred_at, body_hash, current FROM documents WHERE org_id = $1 AND patient_id = $2 \
        ORDER BY document_id, revision";
    ACCOUNTS = "SELECT id FROM summary WHERE org_id = $1 AND patient_id = $2";
    HELD = "SELECT document_id FROM legal_hold WHERE org_id = $1 AND patient_id = $2 AND lifted_at IS NULL";
    STATED = "SELECT id, stated_at FROM profile_statement WHERE org_id = $1 AND patient_id = $2";
    FINDINGS = "SELECT id, source_id, revision, group_hash, class, set_by, asserted_at, document_type, payload_sealed \
        FROM extracted_findings WHERE org_id = $1 AND patient_id = $2";
    INBOX = "SELECT message_hash, body_hash FROM inbox WHERE org_id = $1 AND patient_id = $2";
    MEMORIES = "SELECT id, group_hash, kind FROM memory WHERE org_id = $1 AND patient_id = $2";
    ACTS = "SELECT id, memory_id FROM memory_event WHERE org_id = $1 AND patient_id = $2 AND derived = 0";
    EVENTS = "SELECT id, event_type, body_sealed, published_at FROM outbox WHERE org_id = $1 AND patient_id = $2 \
        AND event_type <> 'anamnesis.erasure.completed.v1'";
    IMPORTED = "SELECT id, record_sealed FROM legacy_record WHERE org_id = $1 AND patient_id = $2";
    OLDER = "SELECT content_sealed, language FROM documents WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 \
        AND revision = $4";

    ERASED_MEMORY = "SELECT group_hash, kind, document_id FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3";
    ERASED_CONTENT = "SELECT content_sealed FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3";
    ERASED_FINDINGS = "SELECT id, source_id, revision, evidence_start, evidence_end FROM extracted_findings \
        WHERE org_id = $1 AND patient_id = $2 \
        AND group_hash = (SELECT group_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3) \
        AND attribute_hash = (SELECT attribute_hash FROM memory WHERE org_id = $1 AND patient_id = $2 AND id = $3)";
    ARCHIVED = "SELECT content_sealed FROM document_archive WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 \
        AND revision = $4";
    REWRITE_ARCHIVED = "UPDATE document_archive SET content_sealed = $5, updated_at = $6 WHERE org_id = $1 \
        AND patient_id = $2 AND document_id = $3 AND revision = $4";

    DELETE_DOCUMENT = "DELETE FROM documents WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4";
    DELETE_PASSAGES = "DELETE FROM passage WHERE org_id = $1 AND patient_id = $2 AND document_id = $3 AND revision = $4";
    DELETE_ACCOUNTS = "DELETE FROM summary WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3}";
    DELETE_FINDINGS = "DELETE FROM extracted_findings WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3}";
    DELETE_STATEMENTS = "DELETE FROM profile_statement WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3}";
    DELETE_PREFERENCES = "DELETE FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2 AND stated_by IN {uuids $3}";
    DELETE_INBOX = "DELETE FROM inbox WHERE org_id = $1 AND patient_id = $2 AND message_hash IN {blobs $3}";
    DELETE_MEMORIES = "DELETE FROM memory WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3}";
    DELETE_ACTS = "DELETE FROM memory_event WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3}";
    DELETE_HISTORY = "DELETE FROM memory_event WHERE org_id = $1 AND patient_id = $2 AND memory_id IN {uuids $3}";
    DELETE_LINKS = "DELETE FROM memory_link WHERE org_id = $1 AND patient_id = $2 \
        AND (from_id IN {uuids $3} OR to_id IN {uuids $3})";
    DELETE_EVENTS = "DELETE FROM outbox WHERE org_id = $1 AND id IN {uuids $2}";
    DELETE_IMPORTED = "DELETE FROM legacy_record WHERE org_id = $1 AND patient_id = $2 AND id IN {uuids $3}";
    DELETE_ANSWERS = "DELETE FROM rights_answer WHERE org_id = $1 AND patient_id = $2";
    PREFERENCES = "SELECT key_hash, value_sealed FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2";
    DELETE_PREFERENCE = "DELETE FROM conversation_preferences WHERE org_id = $1 AND patient_id = $2 AND key_hash IN {blobs $3}";
    DELETE_COURSE = "DELETE FROM confidence_course WHERE org_id = $1 AND patient_id = $2";

    REVIVE_DOCUMENT = "UPDATE documents SET current = 1, retired_at = NULL, updated_at = $5 WHERE org_id = $1 AND patient_id = $2 \
        AND document_id = $3 AND revision = $4";
    REVIVE_FINDINGS = "UPDATE extracted_findings SET live = 1, updated_at = $5 WHERE org_id = $1 AND patient_id = $2 \
        AND source_id = $3 AND revision = $4 AND tombstone_of IS NULL";
    GROUPS_OF = "SELECT DISTINCT group_hash FROM extracted_findings WHERE org_id = $1 AND patient_id = $2 AND source_id = $3";
}
