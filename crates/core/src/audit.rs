//! The audit trail as evidence: entries with a salt each, blocks that chain them, and the check of both. Pure: rows come from the
//! store and heads from where they were stored (docs/audit.md).
//!
//! A leaf is the hash of an entry's salt and content, a block the hash of its leaves and of the block before. A writer of
//! every row can write a chain again, so that its head must lie elsewhere; without the key of the store no salt can be made.

mod check;
#[cfg(test)]
mod tests;

use aws_lc_rs::digest::{Context, SHA256};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::clock::micros;
use super::coded_enum::codes;
use super::ids::OrgId;

pub use check::{ChainCheck, ChainFault, ChainReport, ChainVerdict, ERASED};

/// SHA-256.
pub type Hash = [u8; 32];

/// Keyed hash of an entry's content, cut: with it the leaf of an erased entry says nothing, without the key none can be made.
pub type Salt = [u8; 16];

/// The previous hash of the first block.
const NO_BLOCK: Hash = [0; 32];

codes!(
    /// The purpose for which a record is read or changed (HL7 PurposeOfUse in plain words).
    Purpose {
        Treatment = "treatment",
        Operations = "operations",
        /// The patient asked.
        PatientRequest = "patient_request",
        BreakGlass = "break_glass",
        Research = "research",
        Quality = "quality",
        Legal = "legal",
        Support = "support",
    }
);

/// A ticket or case: letters, digits and `. _ : / # -`, at most 64. Not free text, which could hold what a patient said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CaseReference(String);

/// A reference is something else than [`CaseReference`] allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a reason is the reference of a ticket or case: 1 to 64 letters, digits and . _ : / # -")]
pub struct InvalidReference;

impl std::str::FromStr for CaseReference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._:/#-".contains(c);
        if (1..=64).contains(&text.len()) && text.chars().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidReference)
        }
    }
}

impl CaseReference {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Between a person and the producer through whom the person acted, in the id of an actor.
pub const VIA: &str = " via ";

/// The person or program that acts, and the ground for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Actor {
    /// Id of a person or name of a program; for a person's message, followed by the producer that sent it ([`VIA`]).
    pub id: String,
    /// Code of a role; `None` where none was given, which is never taken for one.
    pub role: Option<String>,
    pub purpose: Option<Purpose>,
    pub reason: Option<CaseReference>,
}

impl Actor {
    /// A part of this program: a job, the relay, the worker.
    pub fn program(name: &str) -> Self {
        Self { id: name.to_owned(), role: Some("system".to_owned()), ..Self::default() }
    }
}

/// One act, without content: ids, codes and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Acts that belong to no organisation have a separate id.
    pub org: Uuid,
    pub id: Uuid,
    pub at: DateTime<Utc>,
    /// Nil for acts on no patient.
    pub patient: Uuid,
    pub actor: String,
    pub role: Option<String>,
    pub purpose: Option<String>,
    pub reason: Option<String>,
    /// Code of the act.
    pub action: String,
    /// Document, memory, message or event that it was done to.
    pub subject: Option<Uuid>,
    pub outcome: String,
}

impl AuditEntry {
    /// Every field with its length, an absent one unlike an empty one: no two entries have the same.
    pub fn content(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160);
        for id in [self.org, self.id, self.patient] {
            out.extend_from_slice(id.as_bytes());
        }
        out.extend_from_slice(&micros(self.at).to_be_bytes());
        // A flag first: an absent subject must not equal the nil id.
        out.push(u8::from(self.subject.is_some()));
        out.extend_from_slice(self.subject.unwrap_or_default().as_bytes());
        let texts = [
            Some(&self.actor),
            self.role.as_ref(),
            self.purpose.as_ref(),
            self.reason.as_ref(),
            Some(&self.action),
            Some(&self.outcome),
        ];
        for text in texts {
            match text {
                Some(text) => {
                    out.extend_from_slice(&(text.len() as u64).to_be_bytes());
                    out.extend_from_slice(text.as_bytes());
                }
                // No text has this length: an absent role never equals an empty one.
                None => out.extend_from_slice(&u64::MAX.to_be_bytes()),
            }
        }
        out
    }

    /// The leaf of this entry. Entries of versions before the trail was chained have no salt.
    pub(crate) fn leaf(&self, salt: Option<&Salt>) -> Hash {
        hash("leaf", &[salt.map_or(&[], Salt::as_slice), &self.content()])
    }
}

/// Makes the salt of an entry with the key of the store.
pub trait Salter {
    fn salt(&self, content: &[u8]) -> Salt;
}

/// An entry as it lies in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    pub entry: AuditEntry,
    pub salt: Option<Salt>,
    /// `None` until it is sealed.
    pub block: Option<u64>,
    /// The leaf that an erased entry had, and the id of the entry that says so.
    pub erased: Option<(Hash, Uuid)>,
}

/// Entries without a salt are of versions before the trail was chained: they are in the first block, or in those of the
/// day after it, while an older program still runs. Later ones were written without permission.
pub fn unsigned_are_old(first: Option<DateTime<Utc>>, sealed_at: DateTime<Utc>) -> bool {
    first.is_none_or(|first| sealed_at <= first + TimeDelta::days(1))
}

impl StoredEntry {
    /// The entry after its erasure: without patient, actor and subject.
    #[must_use]
    pub fn without_persons(&self, leaf: Hash, by: Uuid) -> Self {
        let entry = AuditEntry {
            patient: Uuid::nil(),
            actor: String::new(),
            role: None,
            purpose: None,
            reason: None,
            subject: None,
            ..self.entry.clone()
        };
        Self { entry, salt: None, block: self.block, erased: Some((leaf, by)) }
    }

    /// The salt over the rest of an erased entry: time, action and outcome.
    pub fn salt_of_erased(&self, salter: &dyn Salter) -> Salt {
        let (leaf, by) = self.erased.unwrap_or_default();
        salter.salt(&[leaf.as_slice(), by.as_bytes(), &self.entry.content()].concat())
    }

    pub fn leaf(&self) -> Hash {
        self.erased.map_or_else(|| self.entry.leaf(self.salt.as_ref()), |(leaf, _)| leaf)
    }
}

/// Entries of an organisation that were sealed together, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub org: Uuid,
    /// From 0, without gaps.
    pub number: u64,
    pub entries: u64,
    pub sealed_at: DateTime<Utc>,
    /// Hash of the leaves.
    pub leaves: Hash,
    /// Hash of the block before.
    pub previous: Hash,
    pub hash: Hash,
    /// Its entries were sealed before this instant, past their term, and are gone.
    pub purged_before: Option<DateTime<Utc>>,
}

impl Block {
    /// The next block of a chain; `leaves` in the order of the entries' ids.
    pub fn seal(org: Uuid, before: Option<&Self>, leaves: &[Hash], sealed_at: DateTime<Utc>) -> Self {
        let mut block = Self {
            org,
            number: before.map_or(0, |block| block.number + 1),
            entries: leaves.len() as u64,
            sealed_at,
            leaves: hash_of(leaves),
            previous: before.map_or(NO_BLOCK, |block| block.hash),
            hash: NO_BLOCK,
            purged_before: None,
        };
        block.hash = block.computed();
        block
    }

    /// `purged_before` is left out, so that a purge after the term leaves the chain valid.
    fn computed(&self) -> Hash {
        let numbers = [self.number.to_be_bytes(), self.entries.to_be_bytes(), micros(self.sealed_at).to_be_bytes()];
        hash("block", &[&self.previous, self.org.as_bytes(), numbers.as_flattened(), &self.leaves])
    }

    pub fn head(&self) -> Head {
        Head { org: OrgId(self.org), block: self.number, hash: hex(&self.hash), sealed_at: self.sealed_at }
    }
}

/// The part of a chain that is stored elsewhere: it shows later that nothing up to here was changed or cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub org: OrgId,
    pub block: u64,
    /// 64 hexadecimal digits.
    pub hash: String,
    pub sealed_at: DateTime<Utc>,
}

/// One number over the heads of all organisations, for a gauge: the first 48 bits of their hash, exact in a float.
pub fn gauge(heads: &[Head]) -> u64 {
    let mut sorted: Vec<&Head> = heads.iter().collect();
    // Sorted, so that the number does not depend on the order of the rows.
    sorted.sort_by_key(|head| head.org);
    let mut context = Context::new(&SHA256);
    for head in sorted {
        context.update(head.org.0.as_bytes());
        context.update(&head.block.to_be_bytes());
        context.update(head.hash.as_bytes());
    }
    let mut first = [0; 8];
    first[2..].copy_from_slice(&context.finish().as_ref()[..6]);
    u64::from_be_bytes(first)
}

/// Every part with its length: bytes that move from one part to the next change the hash.
fn hash(what: &str, parts: &[&[u8]]) -> Hash {
    let mut context = Context::new(&SHA256);
    context.update(b"anamnesis-audit-v1 ");
    context.update(what.as_bytes());
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    finished(context)
}

fn hash_of(leaves: &[Hash]) -> Hash {
    hash("leaves", &[leaves.as_flattened()])
}

fn finished(context: Context) -> Hash {
    let mut out = [0; 32];
    out.copy_from_slice(context.finish().as_ref());
    out
}

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Hash> {
    let mut out = NO_BLOCK;
    if text.len() != 64 || !text.is_ascii() {
        // Within a character, a slice of two bytes would panic.
        return None;
    }
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(out)
}
