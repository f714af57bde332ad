//! Why a message was not stored. Closed: these codes go into queues, metrics and tables, never free text
//! (contract.md, "Topology").

use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $code:literal),+ $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Reason { $($(#[$doc])* $variant),+ }

        impl Reason {
            pub const ALL: &'static [Reason] = &[$(Reason::$variant),+];

            pub fn code(self) -> &'static str {
                match self { $(Reason::$variant => $code),+ }
            }
        }
    };
}

reasons! {
    /// Not JSON, wrong type, missing field, duplicate key, bad UTF-8, too deep.
    Malformed = "malformed",
    /// A type of message that this version does not know.
    SchemaUnknown = "schema_unknown",
    /// Larger than the limit (1 MiB by default).
    TooLarge = "too_large",
    /// U+0000 or another control character that PostgreSQL or a reader would refuse for ever.
    NulOrControl = "nul_or_control",
    UnknownOrganization = "unknown_organization",
    /// The producer may not speak for this organisation.
    OrganizationMismatch = "organization_mismatch",
    /// The producer may not send this: unknown or unproven, or its binding lacks the type, document type or role.
    NotPermitted = "not_permitted",
    /// The same message id came before with another body.
    IdReused = "id_reused",
    /// The patient was erased.
    ErasedSubject = "erased_subject",
    RedactionFailed = "redaction_failed",
    /// The text, or a part of it, is in a language or a script that redaction and extraction do not know.
    UnsupportedLanguage = "unsupported_language",
    EmbeddingDimension = "embedding_dimension",
    EmbeddingNotFinite = "embedding_not_finite",
    NoConsent = "no_consent",
    /// Dated more than a day in the future: to be offered again when that day has come.
    NotYet = "not_yet",
    TransientExhausted = "transient_exhausted",
    /// Killed three processes in a row that worked on it alone.
    CrashSuspect = "crash_suspect",
    /// A legal hold protects what is to be erased: to be offered again when the hold is lifted.
    LegalHold = "legal_hold",
    /// A constraint of the schema refuses its rows, and takes those of other messages.
    ConstraintViolation = "constraint_violation",
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}
