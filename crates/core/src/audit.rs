//! The audit trail as evidence: entries with a salt each, blocks that chain them, and the check of both. Pure: rows come from the
//! store and heads from wherever they were kept (docs/audit.md).
//!
//! A leaf is the hash of an entry's salt and content, a block the hash of its leaves and of the block before. Whoever can write
//! every row can write a chain again, so that its head must lie elsewhere; whoever lacks the key of the store can make no salt.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{Context, SHA256};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::clock::micros;
use super::code::codes;
use super::ids::OrgId;

/// SHA-256.
pub type Hash = [u8; 32];

/// Keyed hash of an entry's content, cut: with it the leaf of an erased entry says nothing, without the key none can be made.
pub type Salt = [u8; 16];

/// What a block that has none before it names as the one before.
const NO_BLOCK: Hash = [0; 32];

codes!(
    /// For what a record is read or changed (HL7 PurposeOfUse in plain words).
    Purpose {
        Treatment = "treatment",
        Operations = "operations",
        /// The patient asked.
        PatientRequest = "patient_request",
        Emergency = "emergency",
        Research = "research",
        Quality = "quality",
        Legal = "legal",
        Support = "support",
    }
);

/// A ticket or case: letters, digits and `. _ : / # -`, at most 64. Not free text, which could hold what a patient said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Reference(String);

/// A reference is something else than [`Reference`] allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a reason is the reference of a ticket or case: 1 to 64 letters, digits and . _ : / # -")]
pub struct NotAReference;

impl std::str::FromStr for Reference {
    type Err = NotAReference;

    fn from_str(text: &str) -> Result<Self, NotAReference> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._:/#-".contains(c);
        if (1..=64).contains(&text.len()) && text.chars().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAReference)
        }
    }
}

impl Reference {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who acts, and on what ground.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Actor {
    /// Id of a person or name of a program.
    pub id: String,
    /// Code of a role; `None` where none was given, which is never taken for one.
    pub role: Option<String>,
    pub purpose: Option<Purpose>,
    pub reason: Option<Reference>,
}

impl Actor {
    /// A part of this program: a job, the relay, the worker.
    pub fn program(name: &str) -> Self {
        Self { id: name.to_owned(), role: Some("system".to_owned()), ..Self::default() }
    }
}

/// One act, without content: ids, codes and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Nil for acts that belong to no organisation.
    pub org: Uuid,
    pub id: Uuid,
    pub at: DateTime<Utc>,
    /// Nil for acts on no patient.
    pub patient: Uuid,
    pub actor: String,
    pub role: Option<String>,
    pub purpose: Option<String>,
    pub reason: Option<String>,
    /// Code of what was done.
    pub action: String,
    /// Document, memory, message or event that it was done to.
    pub subject: Option<Uuid>,
    pub outcome: String,
}

impl Entry {
    /// Every field with its length, an absent one unlike an empty one: no two entries have the same.
    pub fn content(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160);
        for id in [self.org, self.id, self.patient] {
            out.extend_from_slice(id.as_bytes());
        }
        out.extend_from_slice(&micros(self.at).to_be_bytes());
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
                None => out.extend_from_slice(&u64::MAX.to_be_bytes()),
            }
        }
        out
    }

    /// The leaf of this entry. Entries of versions before the trail was chained have no salt.
    pub fn leaf(&self, salt: Option<&Salt>) -> Hash {
        hash("leaf", &[salt.map_or(&[], Salt::as_slice), &self.content()])
    }
}

/// An entry as it lies in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub entry: Entry,
    pub salt: Option<Salt>,
    /// `None` until it is sealed.
    pub block: Option<u64>,
    /// The leaf that an erased entry had, and the id of the entry that says so.
    pub erased: Option<(Hash, Uuid)>,
}

impl Stored {
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

    fn computed(&self) -> Hash {
        let numbers = [self.number.to_be_bytes(), self.entries.to_be_bytes(), micros(self.sealed_at).to_be_bytes()];
        hash("block", &[&self.previous, self.org.as_bytes(), numbers.as_flattened(), &self.leaves])
    }

    pub fn head(&self) -> Head {
        Head { org: OrgId(self.org), block: self.number, hash: hex(&self.hash), sealed_at: self.sealed_at }
    }
}

/// What is kept elsewhere of a chain: enough to show later that nothing up to here was changed or cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub org: OrgId,
    pub block: u64,
    /// 64 hexadecimal digits.
    pub hash: String,
    pub sealed_at: DateTime<Utc>,
}

codes!(
    /// What is wrong with an entry or a block.
    Fault {
        /// The block's hash is not that of its columns.
        BlockChanged = "block_changed",
        /// The block does not follow the one before.
        BlockUnlinked = "block_unlinked",
        /// A number is missing before this block.
        BlockMissing = "block_missing",
        /// Entries are missing, added or changed.
        EntriesChanged = "entries_changed",
        /// The entry's salt is not that of its content: it was changed, or written without the key of the store.
        EntryNotAuthentic = "entry_not_authentic",
        /// An entry names a block that there is not.
        EntryAstray = "entry_astray",
        /// An entry is erased, and no entry says by whom and how many.
        EntryErasedUnsaid = "entry_erased_unsaid",
        /// Entries were removed before their term.
        PurgedTooEarly = "purged_too_early",
        /// A head that was kept elsewhere is not in the chain.
        HeadMissing = "head_missing",
    }
);

codes!(
    /// What the check of a chain says.
    Verdict {
        /// Nothing is wrong, and a head that was kept elsewhere is in the chain.
        Witnessed = "witnessed",
        /// Nothing is wrong with what is there; that nothing was cut off or written again, nobody can say without a head.
        Unanchored = "unanchored",
        /// The rows fit together, and are not those of which the head was kept: written again, cut off, or restored.
        Diverged = "diverged",
        /// Rows were changed, added or removed.
        Invalid = "invalid",
    }
);

/// A fault with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub fault: Fault,
    pub block: Option<u64>,
    pub entry: Option<Uuid>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub org: OrgId,
    pub verdict: Verdict,
    pub blocks: u64,
    pub entries: u64,
    /// Not yet in a block.
    pub unsealed: u64,
    /// Of versions before the trail was chained: in the chain, and nothing shows who wrote them.
    pub unsigned: u64,
    pub erased: u64,
    pub purged: u64,
    /// Heads that were given and are in the chain.
    pub witnesses: u64,
    /// At most [`MOST_FINDINGS`].
    pub findings: Vec<Finding>,
    /// All of them.
    pub faults: u64,
}

/// So many findings are listed; a trail that was written again has millions.
pub const MOST_FINDINGS: usize = 100;

/// What makes the salt of an entry: the key of the store.
pub trait Salter {
    fn salt(&self, content: &[u8]) -> Salt;
}

/// Checks the chain of one organisation, block by block, in one pass.
pub struct Check<'a> {
    salter: &'a dyn Salter,
    /// What was sealed since may not have been purged.
    term_began: DateTime<Utc>,
    heads: BTreeMap<u64, Vec<Hash>>,
    before: Option<(u64, Hash)>,
    erasures: BTreeMap<Uuid, u64>,
    said: BTreeMap<Uuid, u64>,
    /// Heads that are not in the chain.
    diverged: u64,
    report: Report,
}

/// The action of the entry that says that others were erased; its outcome is their number.
pub const ERASED: &str = "audit_erased";

impl<'a> Check<'a> {
    /// `heads`: those of this organisation that were kept elsewhere. `term_began`: entries sealed since must be there.
    pub fn new(org: OrgId, salter: &'a dyn Salter, heads: &[Head], term_began: DateTime<Utc>) -> Self {
        let mut by_number: BTreeMap<u64, Vec<Hash>> = BTreeMap::new();
        for head in heads.iter().filter(|head| head.org == org) {
            by_number.entry(head.block).or_default().push(unhex(&head.hash).unwrap_or(NO_BLOCK));
        }
        let report = Report {
            org,
            verdict: Verdict::Unanchored,
            blocks: 0,
            entries: 0,
            unsealed: 0,
            unsigned: 0,
            erased: 0,
            purged: 0,
            witnesses: 0,
            findings: Vec::new(),
            faults: 0,
        };
        Self {
            salter,
            term_began,
            heads: by_number,
            before: None,
            erasures: BTreeMap::new(),
            said: BTreeMap::new(),
            diverged: 0,
            report,
        }
    }

    fn fault(&mut self, fault: Fault, block: Option<u64>, entry: Option<Uuid>) {
        self.report.faults += 1;
        self.diverged += u64::from(fault == Fault::HeadMissing);
        if self.report.findings.len() < MOST_FINDINGS {
            self.report.findings.push(Finding { fault, block, entry });
        }
    }

    /// The next block, with its entries in the order of their ids.
    pub fn block(&mut self, block: &Block, entries: &[Stored]) {
        let number = Some(block.number);
        self.report.blocks += 1;
        if block.hash != block.computed() || block.org != self.report.org.0 {
            self.fault(Fault::BlockChanged, number, None);
        }
        let (expected, previous) = self.before.map_or((0, NO_BLOCK), |(number, hash)| (number + 1, hash));
        if block.number != expected {
            self.fault(Fault::BlockMissing, number, None);
        } else if block.previous != previous {
            self.fault(Fault::BlockUnlinked, number, None);
        }
        self.before = Some((block.number, block.hash));
        for head in self.heads.remove(&block.number).unwrap_or_default() {
            if head == block.hash {
                self.report.witnesses += 1;
            } else {
                self.fault(Fault::HeadMissing, number, None);
            }
        }
        if block.purged_before.is_some() {
            self.report.purged += block.entries;
            if block.sealed_at >= self.term_began || !entries.is_empty() {
                self.fault(Fault::PurgedTooEarly, number, None);
            }
            return;
        }
        let leaves: Vec<Hash> = entries.iter().map(Stored::leaf).collect();
        if leaves.len() as u64 != block.entries || hash_of(&leaves) != block.leaves {
            self.fault(Fault::EntriesChanged, number, None);
        }
        for stored in entries {
            self.entry(stored);
        }
    }

    fn entry(&mut self, stored: &Stored) {
        let (id, block) = (Some(stored.entry.id), stored.block);
        self.report.entries += 1;
        if let Some((_, by)) = stored.erased {
            self.report.erased += 1;
            *self.erasures.entry(by).or_default() += 1;
            return;
        }
        match &stored.salt {
            None => self.report.unsigned += 1,
            Some(salt) if *salt != self.salter.salt(&stored.entry.content()) => {
                self.fault(Fault::EntryNotAuthentic, block, id);
            }
            Some(_) if stored.entry.action == ERASED => {
                self.said.insert(stored.entry.id, stored.entry.outcome.parse().unwrap_or_default());
            }
            Some(_) => {}
        }
    }

    /// An entry that is in no block: it waits for one, or names one that there is not.
    pub fn outside(&mut self, stored: &Stored) {
        match stored.block {
            None => self.report.unsealed += 1,
            Some(_) => self.fault(Fault::EntryAstray, stored.block, Some(stored.entry.id)),
        }
        self.entry(stored);
    }

    /// The verdict.
    pub fn end(mut self) -> Report {
        for (by, count) in std::mem::take(&mut self.erasures) {
            if self.said.get(&by) != Some(&count) {
                self.fault(Fault::EntryErasedUnsaid, None, Some(by));
            }
        }
        for number in std::mem::take(&mut self.heads).into_keys() {
            self.fault(Fault::HeadMissing, Some(number), None);
        }
        let changed = self.report.faults > self.diverged;
        self.report.verdict = match (changed, self.diverged > 0, self.report.witnesses > 0) {
            (true, ..) => Verdict::Invalid,
            (false, true, _) => Verdict::Diverged,
            (false, false, true) => Verdict::Witnessed,
            (false, false, false) => Verdict::Unanchored,
        };
        self.report
    }
}

/// One number over the heads of all organisations, for a gauge: the first 48 bits of their hash, exact in a float.
pub fn gauge(heads: &[Head]) -> u64 {
    let mut sorted: Vec<&Head> = heads.iter().collect();
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
        return None;
    }
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A key of the store.
    struct Key(u8);

    impl Salter for Key {
        fn salt(&self, content: &[u8]) -> Salt {
            let mut salt = [0; 16];
            salt.copy_from_slice(&hash("key", &[&[self.0], content])[..16]);
            salt
        }
    }

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + second, 0).unwrap()
    }

    fn entry(n: u128) -> Stored {
        let entry = Entry {
            org: Uuid::from_u128(1),
            id: Uuid::from_u128(n),
            at: at(n as i64),
            patient: Uuid::from_u128(2),
            actor: "dr-perez".to_owned(),
            role: Some("clinician".to_owned()),
            purpose: None,
            reason: Some(String::new()),
            action: "read_context".to_owned(),
            subject: None,
            outcome: "done".to_owned(),
        };
        let salt = Key(1).salt(&entry.content());
        Stored { entry, salt: Some(salt), block: None, erased: None }
    }

    /// Blocks of these sizes, in one chain.
    fn chain(sizes: &[u64]) -> Vec<(Block, Vec<Stored>)> {
        let (mut out, mut n) = (Vec::<(Block, Vec<Stored>)>::new(), 0);
        for size in sizes {
            let mut entries: Vec<Stored> = (0..*size).map(|i| entry(n + u128::from(i) + 1)).collect();
            n += u128::from(*size);
            let leaves: Vec<Hash> = entries.iter().map(Stored::leaf).collect();
            let block = Block::seal(Uuid::from_u128(1), out.last().map(|(block, _)| block), &leaves, at(n as i64));
            entries.iter_mut().for_each(|stored| stored.block = Some(block.number));
            out.push((block, entries));
        }
        out
    }

    fn checked(chain: &[(Block, Vec<Stored>)], heads: &[Head]) -> Report {
        let mut check = Check::new(OrgId(Uuid::from_u128(1)), &Key(1), heads, at(-1_000_000));
        chain.iter().for_each(|(block, entries)| check.block(block, entries));
        check.end()
    }

    #[test]
    fn a_whole_chain_is_unanchored_without_a_head_and_witnessed_with_one() {
        let chain = chain(&[3, 1, 5]);
        assert_eq!(checked(&chain, &[]).verdict, Verdict::Unanchored);
        let heads: Vec<Head> = chain.iter().map(|(block, _)| block.head()).collect();
        let report = checked(&chain, &heads);
        assert_eq!((report.verdict, report.witnesses, report.entries), (Verdict::Witnessed, 3, 9));
    }

    #[test]
    fn a_chain_that_is_written_again_with_the_key_diverges_from_its_head() {
        let head = chain(&[3, 2])[1].0.head();
        let other = chain(&[2, 3]);
        let report = checked(&other, std::slice::from_ref(&head));
        assert_eq!((report.verdict, report.findings[0].fault), (Verdict::Diverged, Fault::HeadMissing));
        let cut = chain(&[3]);
        assert_eq!(checked(&cut, &[head]).verdict, Verdict::Diverged);
    }

    #[test]
    fn an_entry_without_the_key_of_the_store_is_not_authentic_though_its_chain_is_whole() {
        let mut forged = chain(&[2]);
        forged[0].1[1].entry.actor = "dr-lopez".to_owned();
        forged[0].1[1].salt = Some(Key(2).salt(&forged[0].1[1].entry.content()));
        let leaves: Vec<Hash> = forged[0].1.iter().map(Stored::leaf).collect();
        forged[0].0 = Block::seal(Uuid::from_u128(1), None, &leaves, forged[0].0.sealed_at);
        let report = checked(&forged, &[]);
        assert_eq!((report.verdict, report.findings[0].fault), (Verdict::Invalid, Fault::EntryNotAuthentic));
    }

    #[test]
    fn an_absent_field_is_unlike_an_empty_one() {
        let (with, mut without) = (entry(1).entry, entry(1).entry);
        without.reason = None;
        assert_ne!(with.content(), without.content());
    }

    #[test]
    fn the_gauge_does_not_depend_on_the_order_of_organisations() {
        let (one, other) =
            (chain(&[1])[0].0.head(), Head { org: OrgId(Uuid::from_u128(9)), ..chain(&[2])[0].0.head() });
        assert_eq!(gauge(&[one.clone(), other.clone()]), gauge(&[other.clone(), one.clone()]));
        assert_ne!(gauge(&[one.clone()]), gauge(&[one, other]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn no_single_change_of_an_entry_stays_unseen(block in 0usize..3, place in 0usize..4, field in 0usize..9, word in "[a-z]{1,8}") {
            let mut changed = chain(&[4, 4, 4]);
            let entry = &mut changed[block].1[place].entry;
            let before = entry.clone();
            match field {
                0 => entry.actor = word,
                1 => entry.role = Some(word),
                2 => entry.purpose = Some(word),
                3 => entry.reason = Some(word),
                4 => entry.action = word,
                5 => entry.outcome = word,
                6 => entry.subject = Some(Uuid::from_u128(77)),
                7 => entry.patient = Uuid::from_u128(78),
                _ => entry.at += chrono::TimeDelta::microseconds(1),
            }
            prop_assume!(*entry != before);
            prop_assert_eq!(checked(&changed, &[]).verdict, Verdict::Invalid);
        }
    }
}
