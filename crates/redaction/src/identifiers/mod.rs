//! Layer two: identifiers with check digits and context words, phones, mail and network addresses.
//!
//! National identifiers are tables of [`Rule`]s, one file per family. A value with the right check digit is taken
//! where its shape allows it alone; a mistyped one is taken beside its keyword; otherwise it stays.

mod announced;
mod brazil;
mod candidates;
mod checks;
mod extensions;
mod keywords;
mod mexico;
mod money;
mod network;
mod north;
mod phones;
mod rule;
mod sights;
mod south;
mod spain;
mod vehicles;

pub(super) use candidates::has_keyword_before;
pub(super) use phones::is_crisis_line;

use super::context::Context;
use super::finding::Finding;
use crate::deadline;

/// The compiled recognisers of this layer.
pub(crate) struct Identifiers {
    by_length: candidates::Rules,
    announcers: announced::Announcers,
    keywords: keywords::Keywords,
    network: network::Network,
}

impl Identifiers {
    pub(crate) fn builtin() -> Self {
        let families =
            [spain::RULES, mexico::RULES, south::RULES, brazil::RULES, north::RULES, money::RULES, vehicles::RULES];
        let rules = || families.into_iter().flatten();
        let by_length = candidates::Rules::of(rules());
        let mut announcers: Vec<&str> = phones::KEYWORDS.to_vec();
        announcers.extend(rules().flat_map(|rule| rule.keywords));
        announcers.sort_unstable();
        announcers.dedup();
        let announcers = announced::Announcers::new(announcers);
        Self { by_length, announcers, keywords: keywords::Keywords::builtin(), network: network::Network::builtin() }
    }

    pub(crate) fn find(&self, context: &Context<'_>, found: &mut Vec<Finding>) {
        self.network.find(context, found);
        deadline::check();
        let announced = self.announcers.of(&context.view.lower);
        candidates::find(context, &self.by_length, &announced, found);
        deadline::check();
        phones::find(context, &announced, found);
        deadline::check();
        extensions::find(context, found);
        deadline::check();
        self.keywords.find(context, found);
        deadline::check();
    }
}

#[cfg(test)]
mod tests;
