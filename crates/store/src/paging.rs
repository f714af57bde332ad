//! Reading page by page, in the order of a key.

/// The next rows after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<K> {
    pub after: K,
    /// At most so many.
    pub limit: u32,
}
