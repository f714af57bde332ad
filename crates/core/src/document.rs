//! The kinds of documents (contract.md, `document_type`; seed 003, "Tipos de Documentos Indexados").

use super::coded_enum::codes;

codes!(
    /// The kinds of documents that producers submit.
    DocumentType {
        /// What was said in a session, turn by turn.
        SessionTranscript = "session_transcript",
        /// Model output over what was already remembered: never better than an inference unless a clinician signed it.
        Analysis = "analysis",
        IntakeForm = "intake_form",
        ChatMessage = "chat_message",
        ClinicalNote = "clinical_note",
        UploadedDocument = "uploaded_document",
    }
);

impl DocumentType {
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
