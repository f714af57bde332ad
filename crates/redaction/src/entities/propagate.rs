//! Replaces a name that was found once in the whole document, and links parts of a name to the same person.

use std::collections::{HashMap, HashSet};

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::cues::{NameTrigger, trigger};
use super::post_filter::stop_words;
use super::{informal, lexicon, person_verbs};
use crate::deadline;
use crate::value_normalization::{is_no_part_of_a_name, normalized_value};
use anamnesis_text::Span;

/// Longer runs are no name. The limit also bounds linking, which compares each word with each other.
const LONGEST: usize = 12;
const SURE: f64 = 0.75;
/// The same for a word that is in no list.
const LIKELY: f64 = 0.6;

/// Adds all further mentions of the people found so far, and links parts to whole names.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let wholes = wholes(context, found);
    let parts: HashSet<&str> = wholes.iter().flat_map(|whole| whole.split(' ')).filter(may_spread).collect();
    if !parts.is_empty() {
        spread(context, &parts, found);
    }
    link(context, &wholes, found);
}

/// Whether a name found here must be searched in the whole document.
pub(crate) fn reaches_out(context: &DocumentContext<'_>, found: &[PiiFinding]) -> bool {
    wholes(context, found).iter().any(|whole| whole.split(' ').any(|part| spreads(&part)))
}

fn wholes(context: &DocumentContext<'_>, found: &[PiiFinding]) -> HashSet<String> {
    found
        .iter()
        .filter(|finding| finding.label == label::PERSON && finding.layer != DetectionLayer::Identity)
        .filter(|finding| finding.score >= SURE || finding.score >= LIKELY && is_of_no_list(context, finding.span))
        .filter(|finding| !finding.is_learned() || !context.no_case() || is_listed(context, finding.span))
        .map(|finding| normalized_value(label::PERSON, finding.span.slice(&context.view.lower)))
        .filter(|whole| whole.split(' ').count() <= LONGEST)
        .collect()
}

/// A single unlisted word is unlikely to mean another thing elsewhere.
fn is_of_no_list(context: &DocumentContext<'_>, span: Span) -> bool {
    let word = span.slice(&context.view.lower);
    word.len() > 4 && !word.contains(' ') && informal::is_unknown(word)
}

/// In a text without letter case, a name found only by the model is propagated if a word of it is listed as a name or
/// is in no list. Other words would be replaced wherever they occur.
fn is_listed(context: &DocumentContext<'_>, span: Span) -> bool {
    let large = span.slice(&context.view.plain).starts_with(char::is_uppercase);
    let known = |word: &str| {
        lexicon::word(word).is_strong() || informal::is_unknown(word) || large && informal::is_unknown_capitalized(word)
    };
    span.slice(&context.view.lower).split(' ').any(known)
}

/// A part that means a person wherever it occurs.
fn spreads(part: &&str) -> bool {
    part.len() >= 3 && !is_no_part_of_a_name(part) && !lexicon::word(part).common
}

fn spread(context: &DocumentContext<'_>, parts: &HashSet<&str>, found: &mut Vec<PiiFinding>) {
    let tokens = &context.tokens;
    let is_part = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            let lower = context.lower(token);
            let bare = lower.strip_suffix("'s").unwrap_or(lower);
            parts.contains(bare)
                && if spreads(&bare) {
                    token.is_capitalized() || context.no_case() || is_sure_in_small(context, at, bare)
                } else {
                    is_mentioned_again(context, at)
                }
        })
    };
    let mut at = 0;
    while at < tokens.len() {
        deadline::check_at(at);
        if !is_part(at) {
            at += 1;
            continue;
        }
        let mut last = at;
        while is_part(last + 1) && context.touches(last, last + 1) {
            last += 1;
        }
        let span = Span::new(tokens[at].span.start, tokens[last].span.end);
        if !super::eponyms::denotes_thing(context, at, last) {
            found.push(PiiFinding::new(span, label::PERSON, "name_again", 0.7, DetectionLayer::Entity));
        }
        at = last + 1;
    }
}

/// As [`spreads`], or a name that is also a word, which is then judged by its context.
fn may_spread(part: &&str) -> bool {
    spreads(part) || part.len() >= LEAST && lexicon::word(part).is_name() && !is_no_part_of_a_name(part)
}

fn is_mentioned_again(context: &DocumentContext<'_>, at: usize) -> bool {
    trigger(context, at) != NameTrigger::None
        || person_verbs::begins_sentence(context, at) && person_verbs::acts(context, at)
        || is_first_name_again(context, at)
}

/// A capitalised first name inside a sentence, or addressed at its beginning ("Ruby, you're fourteen"). Next to a
/// capital, a clinical word or a number it may be part of a thing: "Strawberry Mark", "WBC Rose".
fn is_first_name_again(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if token.case != LetterCase::Title
        || context.no_case()
        || !lexicon::word(lower.strip_suffix("'s").unwrap_or(lower)).given
    {
        return false;
    }
    let is_other = |near: &TextToken| {
        near.is_word() && (near.is_capitalized() || stop_words::is_clinical(context.lower(near)))
            || near.kind == TextTokenKind::Number
    };
    let before =
        at.checked_sub(1).filter(|before| context.touches(*before, at)).and_then(|before| context.tokens.get(before));
    let after = context.tokens.get(at + 1).filter(|_| context.touches(at, at + 1));
    let is_called = after.is_some_and(|next| context.plain(next) == ",");
    let begins = person_verbs::begins_sentence(context, at);
    (!begins || is_called) && ![before, after].into_iter().flatten().any(is_other)
}

const LEAST: usize = 4;

/// "turno con pacheco": a known person in lower case, by a word with no other meaning or by its context.
fn is_sure_in_small(context: &DocumentContext<'_>, at: usize, bare: &str) -> bool {
    let own = bare.len() >= LEAST
        && !lexicon::is_ordinary_in(context.language, bare)
        && !lexicon::is_rare(bare)
        && !stop_words::is_clinical(bare)
        && !stop_words::is_verb(bare);
    context.tokens[at].is_word() && (own || bare.len() >= LEAST && is_mentioned_again(context, at))
}

/// "García" gets the tag of "Ana García" if the document has only one García.
fn link(context: &DocumentContext<'_>, wholes: &HashSet<String>, found: &mut [PiiFinding]) {
    let mut by_part: HashMap<&str, Vec<&String>> = HashMap::new();
    for whole in wholes {
        whole.split(' ').for_each(|part| by_part.entry(part).or_default().push(whole));
    }
    for finding in found.iter_mut().filter(|finding| finding.label == label::PERSON && finding.subject.is_none()) {
        let own = normalized_value(label::PERSON, finding.span.slice(&context.view.lower));
        let words: Vec<&str> = own.split(' ').collect();
        if words.len() > LONGEST {
            continue;
        }
        let candidates: HashSet<&String> = by_part
            .get(words[0])
            .into_iter()
            .flatten()
            .filter(|whole| words.iter().all(|word| whole.split(' ').any(|part| part == *word)))
            .copied()
            .collect();
        let longest = candidates.iter().map(|whole| whole.split(' ').count()).max().unwrap_or(0);
        let mut best = candidates.iter().filter(|whole| whole.split(' ').count() == longest);
        if let (Some(whole), None) = (best.next(), best.next()) {
            finding.subject = Some((*whole).clone());
        }
    }
}
