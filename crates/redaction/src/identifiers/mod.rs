//! Layer two: identifiers with check digits and keywords, phones, mail and network addresses.
//!
//! National identifiers are tables of [`IdentifierRule`]s, one file per family. A value with a right check digit is
//! redacted if its shape allows it alone. A mistyped value is redacted next to its keyword; otherwise it stays.

mod brazil;
mod candidates;
mod checks;
mod extensions;
mod keyword_index;
mod keywords;
mod mexico;
mod money;
mod network;
mod phones;
mod prefilter;
mod rule;
mod south_america;
mod spain;
mod us_uk;
mod vehicles;

pub(super) use candidates::has_keyword_before;
pub(super) use phones::is_crisis_line;

use super::document::DocumentContext;
use super::finding::PiiFinding;
use crate::deadline;

/// The compiled recognisers of this layer.
pub(crate) struct Identifiers {
    by_length: candidates::IdentifierRules,
    announcing_keywords: keyword_index::KeywordIndex,
    keywords: keywords::Keywords,
    network: network::NetworkPatterns,
}

impl Identifiers {
    pub(crate) fn builtin() -> Self {
        let families = [
            spain::RULES,
            mexico::RULES,
            south_america::RULES,
            brazil::RULES,
            us_uk::RULES,
            money::RULES,
            vehicles::RULES,
        ];
        let rules = || families.into_iter().flatten();
        let by_length = candidates::IdentifierRules::compile(rules());
        // Phones and all rules share one index, so a text is searched for keywords once.
        let mut announcing_keywords: Vec<&str> = phones::KEYWORDS.to_vec();
        announcing_keywords.extend(rules().flat_map(|rule| rule.keywords));
        announcing_keywords.sort_unstable();
        announcing_keywords.dedup();
        let announcing_keywords = keyword_index::KeywordIndex::new(announcing_keywords);
        Self {
            by_length,
            announcing_keywords,
            keywords: keywords::Keywords::builtin(),
            network: network::NetworkPatterns::builtin(),
        }
    }

    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        self.network.find(context, found);
        deadline::check();
        // Keywords are searched only near values: a walk over the whole text took a fifth of the time.
        let announced = self.announcing_keywords.lookup(&context.view.lower);
        candidates::find(context, &self.by_length, &announced, found);
        deadline::check();
        phones::find(context, &announced, found);
        deadline::check();
        extensions::find(context, found);
        deadline::check();
        // Last: values without a check, which a keyword before them announces.
        self.keywords.find(context, found);
        deadline::check();
    }
}

#[cfg(test)]
mod tests;
