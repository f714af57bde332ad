//! Layer one: the people whom the message names, in every way they may be written. Must leak nothing.

mod addresses;
mod names;
mod nicknames;
mod values;

use super::KnownIdentity;
use super::context::Context;
use super::finding::Finding;

/// Finds every known identity in a document.
pub fn find(context: &Context<'_>, identities: &[KnownIdentity]) -> Vec<Finding> {
    let mut found = Vec::new();
    if identities.is_empty() {
        return found;
    }
    names::find(context, identities, &mut found);
    values::find(context, identities, &mut found);
    addresses::find(context, identities, &mut found);
    found
}
