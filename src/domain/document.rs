//! What kind of document a text is (contract.md, `document_type`; seed 003, "Tipos de Documentos Indexados").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of documents that producers submit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentType {
    /// What was said in a session, turn by turn.
    SessionTranscript,
    /// Model output over what was already remembered: never better than an inference unless a clinician signed it.
    Analysis,
    IntakeForm,
    ChatMessage,
    ClinicalNote,
    UploadedDocument,
}

impl DocumentType {
    pub const ALL: &'static [DocumentType] = &[
        DocumentType::SessionTranscript,
        DocumentType::Analysis,
        DocumentType::IntakeForm,
        DocumentType::ChatMessage,
        DocumentType::ClinicalNote,
        DocumentType::UploadedDocument,
    ];

    /// The name on the wire, in the store and in metrics.
    pub fn code(self) -> &'static str {
        match self {
            DocumentType::SessionTranscript => "session_transcript",
            DocumentType::Analysis => "analysis",
            DocumentType::IntakeForm => "intake_form",
            DocumentType::ChatMessage => "chat_message",
            DocumentType::ClinicalNote => "clinical_note",
            DocumentType::UploadedDocument => "uploaded_document",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }

    /// A transcript or a chat: whatever its trust, it never supersedes, ends or negates what a clinician set
    /// (model.md, "Clinical wins").
    pub fn is_conversational(self) -> bool {
        matches!(self, DocumentType::SessionTranscript | DocumentType::ChatMessage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_wire_and_read_back() {
        for kind in DocumentType::ALL {
            assert_eq!(serde_json::to_value(kind).expect("serialises"), kind.code());
            assert_eq!(DocumentType::from_code(kind.code()), Some(*kind));
        }
        assert_eq!(DocumentType::from_code("novela"), None);
    }
}
