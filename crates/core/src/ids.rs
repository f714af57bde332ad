//! Ids. A row from a document has an id derived from its content address, so that a replay yields the same rows
//! (model.md, "Keys and scope"); everything else has a version 7 id from the injected generator (`clock::ordered_id`).

use std::fmt;

use aws_lc_rs::digest::{Context, SHA256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { self.0.fmt(f) }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self { Self(id) }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> { Ok(Self(text.parse()?)) }
        }
    )+};
}

id! {
    /// The organisation (tenant) that owns a row. First column of every key.
    OrgId,
    /// A patient of one organisation.
    PatientId,
    /// A document as its producer names it.
    DocumentId,
    /// A memory.
    MemoryId,
    /// One statement found in one revision of one document: the immutable fact of the log that memories are folded from.
    FindingId,
    /// One stretch of a document that is embedded and searched.
    PassageId,
    /// One entry of a memory's own log (confirmed, verified, ended …).
    MemoryEventId,
    /// A pair of memories that contradict each other.
    ContradictionId,
}

/// A version 8 id from a hash over length-prefixed parts. `domain` separates the kinds of ids, so that equal parts of
/// different kinds never collide.
pub fn derive(domain: &str, parts: &[&[u8]]) -> Uuid {
    let mut hash = Context::new(&SHA256);
    for part in std::iter::once(domain.as_bytes()).chain(parts.iter().copied()) {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finish();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest.as_ref()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}
