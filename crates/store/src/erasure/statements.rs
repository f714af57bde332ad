//! Every table that an erasure empties, and the counts for a part.

use std::sync::LazyLock;

use crate::statements::erasure::statements as sql;
use anamnesis_sql::Sql;

/// The type of the event that says that an erasure is complete.
pub(crate) const COMPLETED: &str = "anamnesis.erasure.completed.v1";

/// A statement that is made when it is first asked for.
pub(super) type LazySql = &'static LazyLock<Sql>;

/// A table with rows of patients: how they are deleted and counted.
pub(super) struct PatientTable {
    pub(super) table: &'static str,
    pub(super) delete: LazySql,
    pub(super) count: LazySql,
}

const fn held(table: &'static str, delete: LazySql, count: LazySql) -> PatientTable {
    PatientTable { table, delete, count }
}

/// Every table with rows of a patient, children first. Not in it are the receipts and the audit trail, which hold only
/// ids and codes. Events that announce an erasure stay for the same reason; of a quarantined message, ids and codes
/// stay.
pub(super) static HOLDINGS: [PatientTable; 30] = [
    held("outbox", &sql::DELETE_OUTBOX, &sql::COUNT_OUTBOX),
    held("quarantine", &sql::DELETE_QUARANTINE, &sql::COUNT_QUARANTINE),
    held("rights_answer", &sql::DELETE_RIGHTS_ANSWER, &sql::COUNT_RIGHTS_ANSWER),
    held("fold_checkpoint", &sql::DELETE_FOLD_CHECKPOINT, &sql::COUNT_FOLD_CHECKPOINT),
    held("inbox", &sql::DELETE_INBOX, &sql::COUNT_INBOX),
    held("embedding", &sql::DELETE_EMBEDDING, &sql::COUNT_EMBEDDING),
    held("passage", &sql::DELETE_PASSAGE, &sql::COUNT_PASSAGE),
    held("risk_flag", &sql::DELETE_RISK_FLAG, &sql::COUNT_RISK_FLAG),
    held("document_archive", &sql::DELETE_DOCUMENT_ARCHIVE, &sql::COUNT_DOCUMENT_ARCHIVE),
    held("conditions", &sql::DELETE_CONDITIONS, &sql::COUNT_CONDITIONS),
    held("allergies", &sql::DELETE_ALLERGIES, &sql::COUNT_ALLERGIES),
    held("medications", &sql::DELETE_MEDICATIONS, &sql::COUNT_MEDICATIONS),
    held("symptom_states", &sql::DELETE_SYMPTOM_STATES, &sql::COUNT_SYMPTOM_STATES),
    held("appointments", &sql::DELETE_APPOINTMENTS, &sql::COUNT_APPOINTMENTS),
    held("health_signals", &sql::DELETE_HEALTH_SIGNALS, &sql::COUNT_HEALTH_SIGNALS),
    held("contradiction", &sql::DELETE_CONTRADICTION, &sql::COUNT_CONTRADICTION),
    held("memory_link", &sql::DELETE_MEMORY_LINK, &sql::COUNT_MEMORY_LINK),
    held("memory_event", &sql::DELETE_MEMORY_EVENT, &sql::COUNT_MEMORY_EVENT),
    held("memory", &sql::DELETE_MEMORY, &sql::COUNT_MEMORY),
    held("extracted_findings", &sql::DELETE_EXTRACTED_FINDINGS, &sql::COUNT_EXTRACTED_FINDINGS),
    held("summary", &sql::DELETE_SUMMARY, &sql::COUNT_SUMMARY),
    held("legacy_record", &sql::DELETE_LEGACY_RECORD, &sql::COUNT_LEGACY_RECORD),
    held("confidence_course", &sql::DELETE_CONFIDENCE_COURSE, &sql::COUNT_CONFIDENCE_COURSE),
    held("conversation_preferences", &sql::DELETE_CONVERSATION_PREFERENCES, &sql::COUNT_CONVERSATION_PREFERENCES),
    held("profile_statement", &sql::DELETE_PROFILE_STATEMENT, &sql::COUNT_PROFILE_STATEMENT),
    held("ephemeral_mode", &sql::DELETE_EPHEMERAL_MODE, &sql::COUNT_EPHEMERAL_MODE),
    held("consent", &sql::DELETE_CONSENT, &sql::COUNT_CONSENT),
    held("documents", &sql::DELETE_DOCUMENTS, &sql::COUNT_DOCUMENTS),
    held("legal_hold", &sql::DELETE_LEGAL_HOLD, &sql::COUNT_LEGAL_HOLD),
    held("patient_profile", &sql::DELETE_PATIENT_PROFILE, &sql::COUNT_PATIENT_PROFILE),
];

/// Remaining rows of a document, by table.
pub(super) static OF_DOCUMENT: [(&str, LazySql); 6] = [
    ("documents", &sql::REVISIONS_OF_DOCUMENT),
    ("passage", &sql::PASSAGES_OF_DOCUMENT),
    ("extracted_findings", &sql::FINDINGS_OF_DOCUMENT),
    ("risk_flag", &sql::RISKS_OF_DOCUMENT),
    ("document_archive", &sql::ARCHIVE_OF_DOCUMENT),
    ("memory", &sql::MEMORIES_OF_DOCUMENT),
];

/// Remaining rows of a memory, by table.
pub(super) static OF_MEMORY: [(&str, LazySql); 3] = [
    ("memory", &sql::ROWS_OF_MEMORY),
    ("memory_link", &sql::LINKS_OF_MEMORY),
    ("memory_event", &sql::EVENTS_OF_MEMORY),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    /// Ids and codes that outlive an erasure: its own receipt, and the trail of what people did.
    const OUTLIVING: [&str; 2] = ["action_audit", "erasure"];

    #[tokio::test]
    async fn every_table_with_rows_of_a_patient_is_emptied_or_outlives_an_erasure_by_name() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let tables = Sql::new(
            "SELECT t.name FROM sqlite_schema AS t WHERE t.type = 'table' \
             AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'patient_id') ORDER BY t.name",
        );
        let rows = db.read(Access::Platform).await.unwrap().fetch_all(&tables, Vec::new()).await.unwrap();
        let held: BTreeSet<String> = rows.iter().map(|row| row.text(0).unwrap()).collect();
        // The patient column of quarantined messages has another name.
        let patients = HOLDINGS.iter().filter(|holding| holding.table != "quarantine");
        let named: BTreeSet<String> =
            patients.map(|holding| holding.table).chain(OUTLIVING).map(str::to_owned).collect();
        assert_eq!(held, named);
    }

    #[test]
    fn each_table_has_its_own_statements_and_events_of_erasures_stay() {
        for PatientTable { table, delete, count } in &HOLDINGS {
            let deletes = delete.sqlite();
            let rows = [format!("DELETE FROM {table} WHERE "), format!("UPDATE {table} SET ")];
            assert!(rows.iter().any(|rows| deletes.starts_with(rows)), "{table}: {deletes}");
            let which = |text: &str| text.split_once(" WHERE ").map(|(_, which)| which.to_owned());
            assert!(count.sqlite().contains(&format!(" FROM {table} WHERE ")), "{table}");
            assert_eq!(which(deletes), which(count.sqlite()), "{table}");
        }
        for (table, count) in OF_DOCUMENT.iter().chain(&OF_MEMORY) {
            assert!(count.sqlite().contains(&format!(" FROM {table} WHERE ")), "{table}");
        }
        assert!(sql::DELETE_OUTBOX.sqlite().contains(&format!("event_type <> '{COMPLETED}'")));
    }
}
