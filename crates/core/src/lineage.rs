//! The evidence of a memory for its origin (seed 001, section 4).

/// The evidence of a memory for its origin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryOrigins {
    /// Its source type is known.
    pub has_source: bool,
    /// Links it was created from: how many there were, and how many still exist.
    pub derived_from: usize,
    pub derived_from_left: usize,
    /// Of the former, captures of the memory itself: they show that it was written down, not where it comes from.
    pub captures: usize,
    /// Supporting evidence, counted likewise.
    pub evidence: usize,
    pub evidence_left: usize,
}

impl MemoryOrigins {
    /// No provenance at all (seed 001, section 8, `meta orphans`).
    pub fn is_orphan(&self) -> bool {
        !self.has_source && self.derived_from == self.captures && self.evidence == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_an_orphan_without_a_source_links_or_evidence_beyond_captures_of_itself() {
        let legacy = MemoryOrigins::default();
        assert!(legacy.is_orphan());
        let captured = MemoryOrigins { derived_from: 1, derived_from_left: 1, captures: 1, ..legacy };
        assert!(captured.is_orphan(), "a capture of its own words is no provenance");
        assert!(!MemoryOrigins { derived_from: 2, derived_from_left: 2, ..captured }.is_orphan());
        assert!(!MemoryOrigins { has_source: true, ..legacy }.is_orphan());
        assert!(!MemoryOrigins { evidence: 1, ..legacy }.is_orphan());
    }
}
