//! Names, places, organisations, addresses, dates: structural rules and dictionaries.

pub(super) mod words;

use super::context::Context;
use super::finding::Finding;

/// The compiled recognisers of this layer.
pub struct Entities;

impl Entities {
    pub fn builtin() -> Self {
        Self
    }

    pub fn find(&self, _context: &Context<'_>, _found: &mut Vec<Finding>) {}
}
