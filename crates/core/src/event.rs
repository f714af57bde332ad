//! The outgoing events (docs/contract.md, "Events out"): the data of each type. The code that writes an event uses one
//! of these types, and its JSON Schema is made from the same type. Ids and codes only, never text.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::AnswerKind;
use super::coded_enum::codes;
use super::confidence_trend::Alert;
use super::contradiction::ContradictionType;
use super::document::DocumentType;
use super::finding::{Experiencer, RiskLevel};
use super::ids::{DocumentId, MemoryId, OrgId};
use super::memory::{Class, Kind, State};
use super::reason::Reason;

/// The data of one type of event.
pub trait EventData: Serialize + JsonSchema {
    /// The CloudEvents `type`, which is the routing key too.
    const TYPE: &'static str;
}

macro_rules! events {
    ($($(#[doc = $about:literal])+ $data:ident of $whom:ident = $name:literal),+ $(,)?) => {
        $(impl EventData for $data {
            const TYPE: &'static str = $name;
        })+

        /// One type of event, as the contract describes it.
        #[derive(Debug, Clone, Copy)]
        pub struct EventKind {
            /// The CloudEvents `type`.
            pub name: &'static str,
            /// When it is sent.
            pub about: &'static str,
            whom: EventSubject,
            data: fn() -> Schema,
        }

        impl EventKind {
            pub const ALL: &'static [EventKind] = &[$(EventKind {
                name: $name,
                about: concat!($($about),+),
                whom: EventSubject::$whom,
                data: || SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<$data>(),
            }),+];
        }
    };
}

/// The subject of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventSubject {
    /// One patient: organisation and patient are added to the data.
    Patient,
    /// Given by the data itself.
    Data,
}

events! {
    /// A revision of a document was stored and can be searched.
    DocumentIndexed of Patient = "anamnesis.document.indexed.v1",
    /// A memory was created, confirmed or moved to another state.
    MemoryChanged of Patient = "anamnesis.memory.changed.v1",
    /// A person must say whether a memory still holds.
    ReconfirmationDue of Patient = "anamnesis.reconfirmation.due.v1",
    /// Two memories of a patient contradict each other.
    ContradictionFound of Patient = "anamnesis.contradiction.found.v1",
    /// A document speaks of a risk of level medium or high.
    RiskFlagged of Patient = "anamnesis.risk.flagged.v1",
    /// A message was quarantined.
    MessageQuarantined of Data = "anamnesis.message.quarantined.v1",
    /// An erasure is complete.
    ErasureCompleted of Patient = "anamnesis.erasure.completed.v1",
    /// A request of a person by a message was answered; `anamnesis answer show` prints the answer.
    RightsAnswered of Patient = "anamnesis.rights.answered.v1",
    /// The head of an organisation's audit trail, once in each hour with a new entry. Its partition key is nil.
    AuditSealed of Data = "anamnesis.audit.sealed.v1",
    /// The confidence of a patient's statements fell below its baseline or threshold.
    ConfidenceAlert of Patient = "anamnesis.confidence.alert.v1",
}

impl EventKind {
    /// The JSON Schema (draft 2020-12) of its data.
    pub fn schema(&self) -> Schema {
        let mut schema = (self.data)();
        schema.insert("$id".to_owned(), Value::from(format!("urn:anamnesis:schema:{}", self.name)));
        schema.insert("title".to_owned(), Value::from(self.name));
        if self.whom == EventSubject::Patient {
            let object = schema.ensure_object();
            for name in ["organization_id", "patient_id"] {
                if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
                    properties.insert(name.to_owned(), json!({"type": "string", "format": "uuid"}));
                }
                if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
                    required.push(Value::from(name));
                }
            }
        }
        schema
    }
}

/// A revision of a document was stored.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DocumentIndexed {
    pub document_id: DocumentId,
    pub revision: u32,
    pub document_type: DocumentType,
    /// Whether it is the newest revision.
    pub current: bool,
}

/// A memory was created, confirmed or moved.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryChanged {
    pub memory_id: MemoryId,
    pub kind: Kind,
    pub class: Class,
    /// `created`, `confirmed`, or the state that it moved to.
    #[schemars(schema_with = "changes")]
    pub change: &'static str,
    pub state: State,
}

fn changes(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> =
        ["created", "confirmed"].into_iter().chain(State::ALL.iter().map(|state| state.code())).collect();
    json_schema!({"type": "string", "enum": words})
}

codes!(
    /// Why a memory is to be confirmed.
    DueCause {
        /// It is time-bound, and was not confirmed in time.
        Age = "age",
        /// Its confidence fell below the threshold.
        Decay = "decay",
        /// Something said contradicts it.
        Contradiction = "contradiction",
    }
);

/// A person must say whether a memory still holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReconfirmationDue {
    pub memory_id: MemoryId,
    pub cause: DueCause,
    /// Of `age` and `decay`: since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<DateTime<Utc>>,
    /// Of `age`: how often it was confirmed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u32>,
    /// Of `contradiction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction_id: Option<Uuid>,
}

/// Two memories contradict each other.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContradictionFound {
    pub contradiction_id: Uuid,
    /// The memory that stays as it is.
    pub kept_memory_id: MemoryId,
    pub claim_memory_id: MemoryId,
    #[serde(rename = "type")]
    #[schemars(schema_with = "contradictions")]
    pub type_: &'static str,
}

/// Two clinical statements that exclude each other.
pub const CLINICAL_CONFLICT: &str = "clinical_conflict";

fn contradictions(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> =
        [CLINICAL_CONFLICT].into_iter().chain(ContradictionType::ALL.iter().map(|type_| type_.code())).collect();
    json_schema!({"type": "string", "enum": words})
}

codes!(
    /// What found a risk.
    HeardBy {
        /// The rules of extraction.
        Rules = "rules",
        /// The learned classifier.
        Learned = "learned",
    }
);

/// A document speaks of a risk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RiskFlagged {
    /// Where it was said; absent of a patient in ephemeral mode, and where the document is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The class of risk (docs/risk.md).
    pub class: &'static str,
    pub experiencer: Experiencer,
    pub level: RiskLevel,
    pub by: HeardBy,
    /// The probability that the classifier gives; absent where rules found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// True where nothing of the document is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<bool>,
}

/// A message was quarantined.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageQuarantined {
    pub quarantine_id: Uuid,
    #[schemars(schema_with = "reasons")]
    pub reason: Reason,
    /// Absent where the message names none that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<OrgId>,
}

fn reasons(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    json_schema!({"type": "string", "enum": words})
}

/// An erasure is complete.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErasureCompleted {
    pub erasure_id: Uuid,
    /// `patient`, `document` or `memory`.
    pub what: &'static str,
    /// The document or the memory; null of a patient.
    pub subject_id: Option<Uuid>,
    /// Deleted rows of each table.
    pub counts: BTreeMap<&'static str, u64>,
}

/// A request was answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RightsAnswered {
    pub answer_id: Uuid,
    pub command: AnswerKind,
}

/// The head of an audit trail.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditSealed {
    pub organization_id: OrgId,
    pub block: u64,
    /// 64 hexadecimal digits.
    pub hash: String,
    pub sealed_at: DateTime<Utc>,
}

/// A patient's confidence fell.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfidenceAlert {
    pub cause: Option<Alert>,
    pub as_of: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_a_patient_requires_the_scope() {
        for kind in EventKind::ALL.iter().filter(|kind| kind.whom == EventSubject::Patient) {
            let schema = kind.schema();
            let required = schema.get("required").and_then(Value::as_array).expect("some fields are required");
            for field in ["organization_id", "patient_id"] {
                assert!(required.contains(&Value::from(field)), "{} does not require {field}", kind.name);
            }
        }
    }

    #[test]
    fn types_are_distinct_and_have_a_version() {
        let names: std::collections::BTreeSet<&str> = EventKind::ALL.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), EventKind::ALL.len());
        assert!(names.iter().all(|name| name.starts_with("anamnesis.") && name.ends_with(".v1")));
    }
}
