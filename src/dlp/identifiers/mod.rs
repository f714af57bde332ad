//! Layer two: identifiers with check digits and context words, phones, mail and network addresses.
//!
//! National identifiers are tables of [`Rule`]s, one file per family. A value with the right check digit is taken
//! where its shape allows it alone; a mistyped one is taken beside its keyword; otherwise it stays.

mod brazil;
mod candidates;
mod checks;
mod keywords;
mod mexico;
mod money;
mod network;
mod north;
mod phones;
mod rule;
mod south;
mod spain;
mod vehicles;

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

pub(super) use candidates::has_keyword_before;

use super::context::Context;
use super::finding::Finding;
use rule::{Rule, Shape};

/// The compiled recognisers of this layer.
pub struct Identifiers {
    /// Shapes by the number of letters and digits they have.
    by_length: HashMap<usize, Vec<(Shape, &'static Rule)>>,
    /// Where one of these stands, a value may be announced: everywhere else no keyword is looked for.
    announcers: AhoCorasick,
    keywords: keywords::Keywords,
    network: network::Network,
}

impl Identifiers {
    pub fn builtin() -> Self {
        let mut by_length: HashMap<usize, Vec<(Shape, &'static Rule)>> = HashMap::new();
        let families =
            [spain::RULES, mexico::RULES, south::RULES, brazil::RULES, north::RULES, money::RULES, vehicles::RULES];
        let mut announcers: Vec<&str> = Vec::new();
        for rule in families.into_iter().flatten() {
            announcers.extend(rule.keywords);
            for shape in rule.shapes.iter().map(|text| Shape::compile(text)) {
                by_length.entry(shape.length()).or_default().push((shape, rule));
            }
        }
        let announcers = AhoCorasick::new(announcers).expect("constant tables, built in every test");
        Self { by_length, announcers, keywords: keywords::Keywords::builtin(), network: network::Network::builtin() }
    }

    pub fn find(&self, context: &Context<'_>, found: &mut Vec<Finding>) {
        self.network.find(context, found);
        let announced: Vec<usize> = self.announcers.find_iter(&context.view.lower).map(|hit| hit.start()).collect();
        candidates::find(context, &self.by_length, &announced, found);
        phones::find(context, found);
        self.keywords.find(context, found);
    }
}
