//! `anamnesis.document.submitted.v1`: a text about a patient, whole or turn by turn.

use chrono::{DateTime, FixedOffset, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rules::{self, Checked};
use super::{LanguageTag, SensitiveText};
use crate::Limits;
use crate::rejection::{Problem, Rejection};
use anamnesis_core::coded_enum::codes;
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::provenance::SourceType;
use anamnesis_text::Speaker;

/// A document to remember. Exactly one of `text` and `turns`. A higher `revision` of the same `document_id` replaces
/// the lower one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("oneOf" = [
    {"required": ["text"], "properties": {"text": {"type": "string"}}},
    {"required": ["turns"], "properties": {"turns": {"type": "array"}}}
]))]
pub struct DocumentSubmitted {
    pub organization_id: OrgId,
    pub patient_id: PatientId,
    pub document_id: DocumentId,
    /// 1 for the first version.
    #[serde(default = "first_revision")]
    #[schemars(range(min = 1))]
    pub revision: u32,
    pub document_type: DocumentType,
    /// When it was said or written, with any UTC offset.
    pub occurred_at: DateTime<FixedOffset>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<LanguageTag>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub therapist_id: Option<Uuid>,
    /// Groups the messages of one conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<SpokenTurn>>,
    /// Who the labels of a transcript are whose speakers are names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<Vec<Participant>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Who is named in the text. Serves redaction only and is never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_identities: Option<Vec<IdentityHint>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Where an uploaded document came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<SourceFile>,
}

fn first_revision() -> u32 {
    1
}

/// One turn of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpokenTurn {
    pub(crate) speaker: Speaker,
    pub(crate) text: SensitiveText,
    /// Milliseconds since the start of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at_ms: Option<u64>,
}

/// Somebody who speaks in a transcript that came as one text, each turn opened by a label and a colon.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    /// As it stands before the colon. Serves redaction and reading only and is never stored.
    pub(crate) label: SensitiveText,
    pub(crate) role: Speaker,
    /// What a relative is to the patient: "mother".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) relation: Option<SensitiveText>,
}

impl std::fmt::Debug for Participant {
    /// A label names a person: only the role shows.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Participant").field("role", &self.role).finish_non_exhaustive()
    }
}

/// Results of the producer's analysis. Stored next to ours; the producer's value wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub themes: Option<Vec<SensitiveText>>,
}

codes!(
    /// Whose identity a hint describes.
    IdentityRole { Patient = "patient", Clinician = "clinician", Family = "family", Other = "other" }
);

/// What the producer knows about a person in the text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdentityHint {
    pub(crate) role: IdentityRole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<SensitiveText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phones: Option<Vec<SensitiveText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emails: Option<Vec<SensitiveText>>,
    /// National, insurance or record numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<SensitiveText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Vec<SensitiveText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub birth_date: Option<NaiveDate>,
}

impl std::fmt::Debug for IdentityHint {
    /// A birth date identifies: only the role shows.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdentityHint").field("role", &self.role).finish_non_exhaustive()
    }
}

/// How the producer came by the statements (seeds 001 §3 and 004).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Free text: "told by Claire".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_type: Option<SourceType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_proxy: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_agent: Option<SensitiveText>,
    /// How reliable the speaker is, where the producer says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// The patient's cognitive state when it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub cognitive_state: Option<f64>,
    /// The clinician who vouches for an `analysis`: without one it is a model's output, which ends within a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<Uuid>,
    /// When everything that the document says ends, whatever its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

impl Provenance {
    /// Rules that types alone cannot hold.
    pub(super) fn check(&self) -> Checked {
        rules::within(self.confidence, 0.0, 1.0, "provenance.confidence")?;
        rules::within(self.cognitive_state, 0.0, 100.0, "provenance.cognitive_state")?;
        rules::optional_id(self.signed_by, "provenance.signed_by")?;
        self.expires_at.map_or(Ok(()), |at| rules::instant(at, "provenance.expires_at"))
    }
}

/// The file behind an uploaded document. `name` and `uri` pass redaction like the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    pub name: SensitiveText,
    pub media_type: SensitiveText,
    /// 64 hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-fA-F]{64}$"))]
    pub sha256: SensitiveText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<SensitiveText>,
    /// Where each page starts in `text`, in Unicode code points, ascending from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<u64>>,
}

impl DocumentSubmitted {
    /// The day on which it was said or written, where it was: an evening's note is of that evening, not of the next day in
    /// UTC. "Today" and "yesterday" in its text count from this.
    pub fn day(&self) -> NaiveDate {
        self.occurred_at.date_naive()
    }

    /// The clinician who vouches for what a model wrote; documents of other types need none.
    pub fn signed_by(&self) -> Option<Uuid> {
        let signed = self.provenance.as_ref().and_then(|p| p.signed_by);
        signed.filter(|_| self.document_type == DocumentType::Analysis)
    }

    /// As what its text is read: what a clinician signed is theirs like a note.
    pub fn read_as(&self) -> DocumentType {
        if self.signed_by().is_some() { DocumentType::ClinicalNote } else { self.document_type }
    }

    /// When everything that it says ends, by the producer's word.
    pub fn ends_at(&self) -> Option<DateTime<Utc>> {
        self.provenance.as_ref().and_then(|p| p.expires_at)
    }

    /// Rules that types alone cannot hold.
    pub(super) fn check(&self, limits: &Limits) -> Checked {
        rules::scope(self.organization_id, self.patient_id)?;
        rules::id(self.document_id.0, "document_id")?;
        rules::optional_id(self.therapist_id, "therapist_id")?;
        rules::ensure(self.revision >= 1, Problem::OutOfRange, "revision")?;
        rules::instant(self.occurred_at.to_utc(), "occurred_at")?;
        self.check_body(limits)?;
        for (index, hint) in self.known_identities.iter().flatten().enumerate() {
            rules::ensure(index < limits.max_identities, Problem::TooMany, "known_identities")?;
            if let Some(born) = hint.birth_date {
                rules::date(born, || format!("known_identities[{index}].birth_date"))?;
            }
        }
        let several = self.participants.as_ref().map_or(0, Vec::len);
        rules::ensure(several <= limits.max_identities, Problem::TooMany, "participants")?;
        self.provenance.as_ref().map_or(Ok(()), Provenance::check)?;
        self.file.as_ref().map_or(Ok(()), |file| file.check(self.text.as_deref().unwrap_or("")))
    }

    /// Either a text or turns, and something said in it.
    fn check_body(&self, limits: &Limits) -> Checked {
        match (&self.text, &self.turns) {
            (None, None) => Err(Rejection::malformed(Problem::Missing, "text")),
            (Some(_), Some(_)) => Err(Rejection::malformed(Problem::Conflict, "turns")),
            (Some(text), None) => rules::ensure(!text.is_blank(), Problem::Empty, "text"),
            (None, Some(turns)) => {
                rules::ensure(turns.len() <= limits.max_turns, Problem::TooMany, "turns")?;
                // A transcriber may leave a turn empty; a session without any words is an error.
                rules::ensure(turns.iter().any(|turn| !turn.text.is_blank()), Problem::Empty, "turns")
            }
        }
    }
}

impl SourceFile {
    fn check(&self, text: &str) -> Checked {
        rules::ensure(!self.name.is_blank(), Problem::Empty, "file.name")?;
        rules::ensure(!self.media_type.is_blank(), Problem::Empty, "file.media_type")?;
        let hex = self.sha256.len() == 64 && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        rules::ensure(hex, Problem::Mistyped, "file.sha256")?;
        let Some(pages) = &self.pages else { return Ok(()) };
        let characters = text.chars().count() as u64;
        let mut before = None;
        for (index, start) in pages.iter().copied().enumerate() {
            let rising = before.map_or(start == 0, |previous| start > previous);
            if !rising || start > characters {
                return Err(Rejection::malformed(Problem::OutOfRange, format!("file.pages[{index}]")));
            }
            before = Some(start);
        }
        Ok(())
    }
}
