//! Layer one: the people whom the message names, in every way they may be written. Must leak nothing.

mod addresses;
mod known;
mod names;
mod nicknames;
mod values;

pub use known::KnownIdentity;

use super::context::Context;
use super::finding::Finding;

/// The people of a message, made ready once for all its texts and for every look at them.
#[derive(Default)]
pub struct People(Option<Known>);

/// What there is to look for.
struct Known {
    identities: Vec<KnownIdentity>,
    names: names::Known,
    addresses: Vec<addresses::Known>,
}

impl People {
    pub fn of(identities: Vec<KnownIdentity>) -> Self {
        if identities.is_empty() {
            return Self::default();
        }
        let names = names::Known::of(&identities);
        let addresses = identities.iter().flat_map(|one| &one.addresses).map(|it| addresses::Known::of(it)).collect();
        Self(Some(Known { identities, names, addresses }))
    }

    /// Finds every known identity in a document.
    pub(super) fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut found = Vec::new();
        if let Some(known) = &self.0 {
            known.names.find(context, &mut found);
            values::find(context, &known.identities, &mut found);
            known.addresses.iter().for_each(|address| address.find(context, &mut found));
        }
        found
    }
}

#[cfg(test)]
mod tests;
