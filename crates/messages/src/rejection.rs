//! Why a message was rejected: a reason code, the exact problem, and the field. Never a value of the message.

use std::fmt;

use anamnesis_core::coded_enum::codes;
use anamnesis_core::reason::Reason;

codes!(
    /// What is wrong: a reason code is for queues and metrics, this one is for the producer's developer.
    Problem {
    /// The body is larger than the limit.
    Size = "size",
    /// The body is not UTF-8.
    Encoding = "encoding",
    /// The body is not one JSON value.
    Syntax = "syntax",
    /// More levels of objects and arrays than the limit.
    Depth = "depth",
    /// An object has the same key twice.
    DuplicateKey = "duplicate_key",
    /// A control character other than tab, line feed, carriage return and form feed.
    Control = "control",
    /// A required field is not there.
    Missing = "missing",
    /// A field has the wrong type, format or an unknown code.
    Mistyped = "mistyped",
    /// A field is there but says nothing.
    Empty = "empty",
    /// A number or a date outside what can be true.
    OutOfRange = "out_of_range",
    /// More elements than the limit.
    TooMany = "too_many",
    /// An id of zeros.
    NilId = "nil_id",
    /// Fields that exclude each other are both there.
    Conflict = "conflict",
    /// No known type of message.
    UnknownType = "unknown_type",
    /// The organisation is not registered here.
    UnregisteredOrganization = "unregistered_organization",
    /// The producer is not bound to this organisation.
    UnboundProducer = "unbound_producer",
    /// The producer is not known, not proven, or not bound to this type, document type or role.
    NotPermitted = "not_permitted",
}
);

/// The rejection of a message. `Display` and `Debug` hold codes and field names only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What goes into queues, metrics and tables.
    pub reason: Reason,
    pub problem: Problem,
    /// Where: `turns[3].speaker`. Names that the contract does not know appear as `*`, since a key may be a value.
    pub field: Option<String>,
}

impl Rejection {
    pub fn new(reason: Reason, problem: Problem) -> Self {
        Self { reason, problem, field: None }
    }

    /// A field of a readable message that breaks the contract.
    pub fn malformed(problem: Problem, field: impl Into<String>) -> Self {
        Self { reason: Reason::Malformed, problem, field: Some(field.into()) }
    }

    /// Paths start at the data, wrapped or not: producers know their message, not its wrapping.
    pub(super) fn inside_data(mut self) -> Self {
        if let Some(inner) = self.field.as_deref().and_then(|field| field.strip_prefix("data.")) {
            self.field = Some(inner.to_string());
        }
        self
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.problem.code())?;
        match &self.field {
            Some(field) => write!(f, " at {field}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_reason_problem_and_place() {
        let refusal = Rejection::malformed(Problem::Missing, "turns[3].speaker");
        assert_eq!(refusal.to_string(), "malformed: missing at turns[3].speaker");
        let size = Rejection::new(Reason::TooLarge, Problem::Size);
        assert_eq!(size.to_string(), "too_large: size");
    }

    #[test]
    fn problem_codes_are_distinct() {
        let mut codes: Vec<_> = Problem::ALL.iter().map(|problem| problem.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Problem::ALL.len());
    }
}
