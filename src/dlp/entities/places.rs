//! Places: a gazetteer, read with case and with the words that go before places. Countries are a kind of their own.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::super::context::Context;
use super::super::finding::{Finding, Layer};
use super::super::label;
use super::super::token::Case;
use super::lexicon;
use super::words::stands_alone;
use crate::text::Span;

static PLACES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| lines(include_str!("../data/places.txt")).collect());
static COUNTRIES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| lines(include_str!("../data/countries.txt")).collect());

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

pub fn names() -> impl Iterator<Item = &'static str> {
    PLACES.iter().copied()
}

pub fn countries() -> impl Iterator<Item = &'static str> {
    COUNTRIES.iter().copied()
}

/// Whether a name as written is a country's.
pub fn is_country_name(name: &str) -> bool {
    is_country(&super::words::fold(name))
}

pub fn is_country(lower: &str) -> bool {
    COUNTRIES.contains(lower)
}

pub fn is_place(lower: &str) -> bool {
    PLACES.contains(lower) || is_country(lower)
}

/// Words before a place.
const CUES: &[&str] = &[
    "en", "desde", "hasta", "hacia", "in", "from", "near", "at", "to", "around", "a", "de", "para", "por", "entre",
    "cerca", "of", "visiting", "outside",
];
/// Words that only go before a place where somebody lives, comes from or goes.
const SURE_CUES: &[&str] = &[
    "vive en",
    "vivo en",
    "vivia en",
    "vivimos en",
    "vivir en",
    "natural de",
    "procedente de",
    "nacido en",
    "nacida en",
    "naci en",
    "residente en",
    "reside en",
    "originario de",
    "originaria de",
    "soy de",
    "es de",
    "viaje a",
    "viajo a",
    "fui a",
    "fue a",
    "vecino de",
    "vecina de",
    "ciudad de",
    "pueblo de",
    "provincia de",
    "mudo a",
    "mude a",
    "trabaja en",
    "trabajo en",
    "live in",
    "lives in",
    "lived in",
    "living in",
    "born in",
    "moved to",
    "moved from",
    "come from",
    "comes from",
    "came from",
    "from",
    "trip to",
    "city of",
    "town of",
    "travel to",
    "travelled to",
    "traveled to",
    "visit to",
    "resident of",
    "flew to",
    "grew up in",
];

/// The compiled gazetteer.
pub struct Places {
    names: AhoCorasick,
}

impl Places {
    pub fn builtin() -> Self {
        let names = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(PLACES.iter().chain(COUNTRIES.iter()))
            .expect("constant lists, built in every test");
        Self { names }
    }

    pub fn find(&self, context: &Context<'_>, found: &mut Vec<Finding>) {
        let lower = &context.view.lower;
        let mut from = 0;
        while let Some(hit) = self.names.find(aho_corasick::Input::new(lower).range(from..)) {
            let span = Span::new(hit.start(), hit.end());
            if stands_alone(lower, span) {
                if let Some((label, score)) = judge(context, span) {
                    found.push(Finding::new(span, label, "place", score, Layer::Entity));
                }
                from = hit.end();
            } else {
                from = hit.start() + lower[hit.start()..].chars().next().map_or(1, char::len_utf8);
                from = next_word(lower, from);
            }
        }
    }
}

/// The start of the next word: a place never begins inside one.
fn next_word(lower: &str, from: usize) -> usize {
    let rest = &lower[from..];
    from + rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
}

/// Only everyday words but for articles: "la esperanza", "el plan".
fn is_everyday(name: &str) -> bool {
    name.split([' ', '-'])
        .filter(|word| !matches!(*word, "el" | "la" | "los" | "las" | "de" | "del" | "san" | "santa" | "the"))
        .all(|word| lexicon::word(word).common)
}

/// Towns whose name answers "vivo en …", "live in …" in another sense.
fn is_a_state_of_mind(name: &str) -> bool {
    const STATES: &[&str] = &[
        "soledad",
        "la soledad",
        "paz",
        "la paz",
        "libertad",
        "paradise",
        "union",
        "la union",
        "independence",
        "bath",
        "nice",
        "mobile",
        "normal",
        "orange",
        "surprise",
        "enterprise",
        "hope",
        "concord",
        "liberty",
        "reading",
        "progreso",
        "el progreso",
        "armonia",
        "harmony",
        "la esperanza",
        "esperanza",
        "pareja",
        "central",
        "retiro",
        "el retiro",
        "armenia",
        "tension",
        "familia",
        "la calle",
        "casa",
        "general",
    ];
    STATES.contains(&name)
}

fn judge(context: &Context<'_>, span: Span) -> Option<(&'static str, f64)> {
    let name = span.of(&context.view.lower);
    let first = context.tokens.get(context.token_at(span.start))?;
    let label = if is_country(name) { label::COUNTRY } else { label::LOCATION };
    let at = context.token_at(span.start);
    let before = at.checked_sub(1).map(|i| context.lower(&context.tokens[i])).unwrap_or_default();
    let two = at.checked_sub(2).map(|i| format!("{} {before}", context.lower(&context.tokens[i]))).unwrap_or_default();
    let sure = SURE_CUES.contains(&two.as_str()) || before == "from";
    let word = lexicon::word(name);
    let doubtful = is_everyday(name) || lexicon::is_eponym(name);
    if !first.is_large() {
        let spoken = context.no_case && name.len() > 3;
        let enough =
            sure && before != "from" && spoken && !super::words::is_everyday_name(name) && !is_a_state_of_mind(name)
                || spoken && !doubtful && !word.is_name() && (CUES.contains(&before) || name.contains(' '));
        return (enough || label == label::COUNTRY && !doubtful).then_some((label, 0.6));
    }
    let signs = matches!(before, "," | "(" | "-" | "/")
        || !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
    if first.case == Case::Upper && name.len() <= 4 && !sure {
        return None;
    }
    if doubtful {
        let placed = signs && before != "("
            || matches!(before, "en" | "desde" | "hasta" | "hacia" | "de" | "in" | "near" | "to")
                && first.case == Case::Title
                && label != label::COUNTRY;
        let thing = lexicon::is_eponym(name) || super::eponyms::stands_for_a_thing(context, at, at);
        return (sure || placed && !thing).then_some((label, 0.6));
    }
    let last = context.token_at(span.end);
    if super::eponyms::stands_for_a_thing(context, at, last.saturating_sub(1)) {
        return None;
    }
    if word.is_name() && (word.given || label == label::COUNTRY) {
        return (CUES.contains(&before) || signs || sure).then_some((label, 0.65));
    }
    Some((label, 0.8))
}
