//! Places: a gazetteer, read with letter case and with the words before places. Countries are a separate kind.

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextToken};
use super::lexicon;
pub(crate) use super::place_lists::{countries, is_country, is_place, names};
use super::words::is_whole_word;
use crate::word_tables::{self, HashedMap, WordList};
use anamnesis_linear_model::hash;
use anamnesis_text::Span;

static CUES: WordList = WordList::listed(word_tables::ENTITIES, "places.cues");
static SURE_CUES: WordList = WordList::listed(word_tables::ENTITIES, "places.sure_cues");

/// The gazetteer by first words.
pub(crate) struct PlaceRecogniser {
    /// Names by the hash of their first word and of what follows it, longest first.
    by_start: HashedMap<Vec<&'static str>>,
}

impl PlaceRecogniser {
    pub(crate) fn builtin() -> Self {
        let mut by_start: HashedMap<Vec<&'static str>> = HashedMap::default();
        for name in names().chain(countries()) {
            let [short, long] = starts(name);
            by_start.entry(long.or(short).unwrap_or_default()).or_default().push(name);
        }
        by_start.values_mut().for_each(|names| names.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name)));
        Self { by_start }
    }

    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        let mut from = 0;
        for token in context.tokens.iter().filter(|token| token.is_word()) {
            if token.span.start < from {
                continue;
            }
            let Some(span) = self.at(&context.view.lower, token.span.start) else {
                unlisted(context, token, found);
                continue;
            };
            from = span.end;
            if let Some((label, score)) = place_score(context, span) {
                found.push(PiiFinding::new(span, label, "place", score, DetectionLayer::Entity));
            }
        }
    }

    /// The longest listed name that begins at a place of the text and ends with a word.
    fn at(&self, lower: &str, start: usize) -> Option<Span> {
        let rest = &lower[start..];
        let [short, long] = starts(rest);
        // Every name with a long start is longer than one with a short start alone.
        [long, short].into_iter().flatten().filter_map(|start| self.by_start.get(&start)).find_map(|names| {
            let names = names.iter().filter(|name| rest.starts_with(**name));
            names.map(|name| Span::new(start, start + name.len())).find(|span| is_whole_word(lower, *span))
        })
    }
}

/// Bytes after the first word that a long start has: "san fr".
const MORE: usize = 3;

/// The hash of the first word, and that of the first word with a few bytes more, where there are any.
fn starts(text: &str) -> [Option<u64>; 2] {
    let first = first_word(text).len();
    let bytes = text.as_bytes();
    [Some(hash::hash_bytes(&bytes[..first])), bytes.get(..first + MORE).map(hash::hash_bytes)]
}

/// The letters up to the first sign or space.
fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// "Cohen-Mansfield", "Knight-Taylor": one of two capitalised words around a hyphen, the other of which is no place.
fn is_half_of_a_name(context: &DocumentContext<'_>, first: usize, last: usize) -> bool {
    let other = |hyphen: usize, word: usize| {
        let (Some(sign), Some(token)) = (context.tokens.get(hyphen), context.tokens.get(word)) else { return false };
        let (before, after) = (context.tokens[hyphen - 1].span.end, context.tokens[hyphen + 1].span.start);
        let joined = context.plain(sign) == "-" && before == sign.span.start && after == sign.span.end;
        joined && token.case == LetterCase::Title && !is_place(context.lower(token))
    };
    other(last + 1, last + 2) || first >= 2 && other(first - 1, first - 2)
}

/// "Born in Kilbeggan", "near Moab": an unlisted capitalised word after words that only precede a place.
fn unlisted(context: &DocumentContext<'_>, token: &TextToken, found: &mut Vec<PiiFinding>) {
    if token.case != LetterCase::Title || token.span.len() < 4 || context.no_case() {
        return;
    }
    let at = context.token_at(token.span.start);
    let word = |by: usize| at.checked_sub(by).map(|i| context.lower(&context.tokens[i])).unwrap_or_default();
    let before = word(1);
    let placed = matches!(before, "near" | "in" | "to" | "en" | "de" | "from")
        && (before == "near" || SURE_CUES.contains(format!("{} {before}", word(2)).as_str()));
    let lower = context.lower(token);
    let own = !lexicon::is_ordinary_in(context.language, lower) && !lexicon::word(lower).is_name();
    if placed && own && !super::eponyms::denotes_thing(context, at, at) {
        found.push(PiiFinding::new(token.span, label::LOCATION, "place", 0.7, DetectionLayer::Entity));
    }
}

/// Only everyday words but for articles: "la esperanza", "el plan".
fn is_everyday(name: &str) -> bool {
    name.split([' ', '-'])
        .filter(|word| !matches!(*word, "el" | "la" | "los" | "las" | "de" | "del" | "san" | "santa" | "the"))
        .all(|word| lexicon::word(word).common)
}

/// Nothing but ordinary words: "la mirada".
fn is_ordinary(name: &str) -> bool {
    name.split([' ', '-']).all(|word| word.len() <= 3 || lexicon::is_ordinary(word))
}

fn is_a_state_of_mind(name: &str) -> bool {
    static STATES: WordList = WordList::listed(word_tables::ENTITIES, "places.states");
    STATES.contains(name)
}

fn place_score(context: &DocumentContext<'_>, span: Span) -> Option<(&'static str, f64)> {
    let name = span.slice(&context.view.lower);
    let first = context.tokens.get(context.token_at(span.start))?;
    let label = if is_country(name) { label::COUNTRY } else { label::LOCATION };
    let at = context.token_at(span.start);
    let before = at.checked_sub(1).map(|i| context.lower(&context.tokens[i])).unwrap_or_default();
    let two = at.checked_sub(2).map(|i| format!("{} {before}", context.lower(&context.tokens[i]))).unwrap_or_default();
    let sure = SURE_CUES.contains(two.as_str()) || before == "from";
    if !sure && is_half_of_a_name(context, at, context.token_at(span.end).saturating_sub(1)) {
        return None;
    }
    let word = lexicon::word(name);
    let doubtful = is_everyday(name) || lexicon::is_eponym(name) || lexicon::is_ordinary_in(context.language, name);
    // "Corea de Huntington": a country's name that is also a disease's.
    if super::eponyms::names_a_thing(context, at, at + 1) {
        return None;
    }
    if !first.is_capitalized() {
        let doubtful = doubtful || is_ordinary(name);
        let spoken = context.no_case() && name.len() > 3;
        let enough =
            sure && before != "from" && spoken && !super::words::is_everyday_name(name) && !is_a_state_of_mind(name)
                || spoken && !doubtful && !word.is_name() && (CUES.contains(before) || name.contains(' '));
        return (enough || label == label::COUNTRY && !doubtful).then_some((label, 0.6));
    }
    let signs = matches!(before, "," | "(" | "-" | "/")
        || !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
    if first.case == LetterCase::Upper && name.len() <= 4 && !sure {
        return None;
    }
    if doubtful {
        let placed = signs && before != "("
            || matches!(before, "en" | "desde" | "hasta" | "hacia" | "de" | "in" | "near" | "to")
                && first.case == LetterCase::Title
                && label != label::COUNTRY;
        let thing = lexicon::is_eponym(name) || super::eponyms::denotes_thing(context, at, at);
        return (sure || placed && !thing).then_some((label, 0.6));
    }
    let last = context.token_at(span.end);
    if super::eponyms::denotes_thing(context, at, last.saturating_sub(1)) {
        return None;
    }
    if word.is_name() && (word.given || label == label::COUNTRY) {
        return (CUES.contains(before) || signs || sure).then_some((label, 0.65));
    }
    Some((label, 0.8))
}
