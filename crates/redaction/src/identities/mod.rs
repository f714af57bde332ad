//! Layer one: the people whom the message names, in every way they may be written. Must leak nothing.

mod addresses;
mod known_identity;
mod names;
mod nicknames;
mod values;

pub use known_identity::KnownIdentity;

use super::document::DocumentContext;
use super::finding::PiiFinding;

/// The people of a message, prepared once for all its texts and for every pass over them.
#[derive(Default)]
pub struct KnownPeople(Option<PeopleMatchers>);

/// The search patterns of the people.
struct PeopleMatchers {
    identities: Vec<KnownIdentity>,
    names: names::KnownNames,
    addresses: Vec<addresses::KnownAddress>,
}

impl KnownPeople {
    pub fn from_identities(identities: Vec<KnownIdentity>) -> Self {
        if identities.is_empty() {
            return Self::default();
        }
        let names = names::KnownNames::from_identities(&identities);
        let addresses =
            identities.iter().flat_map(|one| &one.addresses).map(|it| addresses::KnownAddress::parse(it)).collect();
        Self(Some(PeopleMatchers { identities, names, addresses }))
    }

    /// Finds every known identity in a document.
    pub(super) fn find(&self, context: &DocumentContext<'_>) -> Vec<PiiFinding> {
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
