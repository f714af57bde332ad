//! The check of a chain: entries against their salts, blocks against their entries and the block before, heads against blocks.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::{Block, Hash, Head, NO_BLOCK, Salter, StoredEntry, hash_of, unhex, unsigned_are_old};
use crate::coded_enum::codes;
use crate::ids::OrgId;

codes!(
    ChainFault {
        /// The block's hash is not that of its columns.
        BlockChanged = "block_changed",
        BlockUnlinked = "block_unlinked",
        BlockMissing = "block_missing",
        /// Entries are missing, added or changed.
        EntriesChanged = "entries_changed",
        /// The entry's salt is not that of its content: it was changed, or written without the key of the store.
        EntryNotAuthentic = "entry_not_authentic",
        /// An entry names a block that does not exist.
        EntryAstray = "entry_astray",
        /// An entry is erased, and no entry records by whom and how many.
        EntryErasedUnsaid = "entry_erased_unsaid",
        /// Entries were removed before their term.
        PurgedTooEarly = "purged_too_early",
        /// A head that was stored elsewhere is not in the chain.
        HeadMissing = "head_missing",
    }
);

codes!(
    /// The result of the check of a chain.
    ChainVerdict {
        /// Nothing is wrong, and a head that was stored elsewhere is in the chain.
        Witnessed = "witnessed",
        /// Nothing is wrong with the rows. Without a head from elsewhere it is unknown whether rows were cut off or
        /// rewritten.
        Unanchored = "unanchored",
        /// The rows fit together but do not match the stored head: the chain was rewritten, cut off, or restored.
        Diverged = "diverged",
        Invalid = "invalid",
    }
);

/// A fault with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ChainFinding {
    pub fault: ChainFault,
    pub block: Option<u64>,
    pub entry: Option<Uuid>,
}

/// The report of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainReport {
    pub org: OrgId,
    pub verdict: ChainVerdict,
    pub blocks: u64,
    pub entries: u64,
    /// Not in a block yet.
    pub unsealed: u64,
    /// Of versions before the trail was chained: they are in the chain, and nothing shows who wrote them.
    pub unsigned: u64,
    pub erased: u64,
    pub(crate) purged: u64,
    /// Heads that were given and are in the chain.
    pub(crate) witnesses: u64,
    /// At most [`MOST_FINDINGS`].
    pub findings: Vec<ChainFinding>,
    /// All of them.
    pub faults: u64,
}

/// So many findings are listed; a trail that was written again has millions.
pub(crate) const MOST_FINDINGS: usize = 100;

/// Checks the chain of one organisation, block by block, in one pass.
pub struct ChainCheck<'a> {
    salter: &'a dyn Salter,
    /// Entries sealed since then may not have been purged.
    term_began: DateTime<Utc>,
    heads: BTreeMap<u64, Vec<Hash>>,
    before: Option<(u64, Hash)>,
    erasures: BTreeMap<Uuid, u64>,
    said: BTreeMap<Uuid, u64>,
    /// Heads that are not in the chain.
    diverged: u64,
    first: Option<DateTime<Utc>>,
    report: ChainReport,
}

/// The action of the entry that says that others were erased; its outcome is their number.
pub const ERASED: &str = "audit_erased";

impl<'a> ChainCheck<'a> {
    /// `heads`: those of this organisation that were stored elsewhere. `term_began`: entries sealed since must be
    /// there.
    pub fn new(org: OrgId, salter: &'a dyn Salter, heads: &[Head], term_began: DateTime<Utc>) -> Self {
        let mut by_number: BTreeMap<u64, Vec<Hash>> = BTreeMap::new();
        for head in heads.iter().filter(|head| head.org == org) {
            by_number.entry(head.block).or_default().push(unhex(&head.hash).unwrap_or(NO_BLOCK));
        }
        let report = ChainReport {
            org,
            verdict: ChainVerdict::Unanchored,
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
            first: None,
            report,
        }
    }

    fn fault(&mut self, fault: ChainFault, block: Option<u64>, entry: Option<Uuid>) {
        self.report.faults += 1;
        self.diverged += u64::from(fault == ChainFault::HeadMissing);
        if self.report.findings.len() < MOST_FINDINGS {
            self.report.findings.push(ChainFinding { fault, block, entry });
        }
    }

    /// The next block, with its entries in the order of their ids.
    pub fn block(&mut self, block: &Block, entries: &[StoredEntry]) {
        let number = Some(block.number);
        self.first.get_or_insert(block.sealed_at);
        self.report.blocks += 1;
        if block.hash != block.computed() || block.org != self.report.org.0 {
            self.fault(ChainFault::BlockChanged, number, None);
        }
        let (expected, previous) = self.before.map_or((0, NO_BLOCK), |(number, hash)| (number + 1, hash));
        if block.number != expected {
            self.fault(ChainFault::BlockMissing, number, None);
        } else if block.previous != previous {
            self.fault(ChainFault::BlockUnlinked, number, None);
        }
        self.before = Some((block.number, block.hash));
        for head in self.heads.remove(&block.number).unwrap_or_default() {
            if head == block.hash {
                self.report.witnesses += 1;
            } else {
                self.fault(ChainFault::HeadMissing, number, None);
            }
        }
        if block.purged_before.is_some() {
            self.report.purged += block.entries;
            if block.sealed_at >= self.term_began || !entries.is_empty() {
                self.fault(ChainFault::PurgedTooEarly, number, None);
            }
            return;
        }
        let leaves: Vec<Hash> = entries.iter().map(StoredEntry::leaf).collect();
        if leaves.len() as u64 != block.entries || hash_of(&leaves) != block.leaves {
            self.fault(ChainFault::EntriesChanged, number, None);
        }
        for stored in entries {
            self.entry(stored, block.sealed_at);
        }
    }

    fn entry(&mut self, stored: &StoredEntry, sealed_at: DateTime<Utc>) {
        let (id, block) = (Some(stored.entry.id), stored.block);
        self.report.entries += 1;
        if let Some((_, by)) = stored.erased {
            self.report.erased += 1;
            *self.erasures.entry(by).or_default() += 1;
            if stored.salt != Some(stored.salt_of_erased(self.salter)) {
                self.fault(ChainFault::EntryNotAuthentic, block, id);
            }
            return;
        }
        match &stored.salt {
            None => {
                self.report.unsigned += 1;
                if !unsigned_are_old(self.first, sealed_at) {
                    self.fault(ChainFault::EntryNotAuthentic, block, id);
                }
            }
            Some(salt) if *salt != self.salter.salt(&stored.entry.content()) => {
                self.fault(ChainFault::EntryNotAuthentic, block, id);
            }
            Some(_) if stored.entry.action == ERASED => {
                self.said.insert(stored.entry.id, stored.entry.outcome.parse().unwrap_or_default());
            }
            Some(_) => {}
        }
    }

    /// An entry in no block: it waits for one, or names one that does not exist.
    pub fn outside(&mut self, stored: &StoredEntry, now: DateTime<Utc>) {
        match stored.block {
            None => self.report.unsealed += 1,
            Some(_) => self.fault(ChainFault::EntryAstray, stored.block, Some(stored.entry.id)),
        }
        self.entry(stored, now);
    }

    /// The verdict.
    pub fn end(mut self) -> ChainReport {
        for (by, count) in std::mem::take(&mut self.erasures) {
            // Of those that were erased, some may be past their term meanwhile.
            let said = self.said.get(&by).copied().unwrap_or_default();
            if count > said || (count < said && self.report.purged == 0) {
                self.fault(ChainFault::EntryErasedUnsaid, None, Some(by));
            }
        }
        for number in std::mem::take(&mut self.heads).into_keys() {
            self.fault(ChainFault::HeadMissing, Some(number), None);
        }
        let changed = self.report.faults > self.diverged;
        self.report.verdict = match (changed, self.diverged > 0, self.report.witnesses > 0) {
            (true, ..) => ChainVerdict::Invalid,
            (false, true, _) => ChainVerdict::Diverged,
            (false, false, true) => ChainVerdict::Witnessed,
            (false, false, false) => ChainVerdict::Unanchored,
        };
        self.report
    }
}
