//! Names found once are found everywhere in the document, and parts of a name speak of the same person.

use std::collections::{HashMap, HashSet};

use super::super::context::Context;
use super::super::finding::{Finding, Layer};
use super::super::label;
use super::super::token::{Case, Kind, Token};
use super::cues::{Trigger, trigger};
use super::trade::words as trade;
use super::{deeds, informal, lexicon};
use crate::deadline;
use crate::subject::{is_no_part_of_a_name, normal};
use anamnesis_text::Span;

/// Words from which a run of names is no name: linking compares each word with each.
const LONGEST: usize = 12;
/// Certainty from which a finding spreads.
const SURE: f64 = 0.75;
/// Certainty from which a word of no list spreads.
const LIKELY: f64 = 0.6;

/// Adds every further mention of the people found so far, and links parts to whole names.
pub(crate) fn find(context: &Context<'_>, found: &mut Vec<Finding>) {
    let wholes = wholes(context, found);
    let parts: HashSet<&str> = wholes.iter().flat_map(|whole| whole.split(' ')).filter(may_spread).collect();
    if !parts.is_empty() {
        spread(context, &parts, found);
    }
    link(context, &wholes, found);
}

/// Whether a name found here would be looked for in the whole document.
pub(crate) fn reaches_out(context: &Context<'_>, found: &[Finding]) -> bool {
    wholes(context, found).iter().any(|whole| whole.split(' ').any(|part| spreads(&part)))
}

/// Normalised names of the people found.
fn wholes(context: &Context<'_>, found: &[Finding]) -> HashSet<String> {
    found
        .iter()
        .filter(|finding| finding.label == label::PERSON && finding.layer != Layer::Identity)
        .filter(|finding| finding.score >= SURE || finding.score >= LIKELY && is_of_no_list(context, finding.span))
        .filter(|finding| finding.recognizer != "learned" || !context.no_case() || is_listed(context, finding.span))
        .map(|finding| normal(label::PERSON, finding.span.of(&context.view.lower)))
        .filter(|whole| whole.split(' ').count() <= LONGEST)
        .collect()
}

/// A single word that no list of words has is not likely to be another thing elsewhere.
fn is_of_no_list(context: &Context<'_>, span: Span) -> bool {
    let word = span.of(&context.view.lower);
    word.len() > 4 && !word.contains(' ') && informal::is_unknown(word)
}

/// Where case says nothing, a name that the model alone found spreads only when the lists know a word
/// of it as a name, or know it as no word at all.
fn is_listed(context: &Context<'_>, span: Span) -> bool {
    let large = span.of(&context.view.plain).starts_with(char::is_uppercase);
    let known = |word: &str| {
        lexicon::word(word).is_strong() || informal::is_unknown(word) || large && informal::is_unknown_large(word)
    };
    span.of(&context.view.lower).split(' ').any(known)
}

/// A part that means a person wherever it stands.
fn spreads(part: &&str) -> bool {
    part.len() >= 3 && !is_no_part_of_a_name(part) && !lexicon::word(part).common
}

fn spread(context: &Context<'_>, parts: &HashSet<&str>, found: &mut Vec<Finding>) {
    let tokens = &context.tokens;
    let is_part = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            let lower = context.lower(token);
            let bare = lower.strip_suffix("'s").unwrap_or(lower);
            parts.contains(bare)
                && if spreads(&bare) {
                    token.is_large() || context.no_case() || is_sure_in_small(context, at, bare)
                } else {
                    is_told_again(context, at)
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
        if !super::eponyms::stands_for_a_thing(context, at, last) {
            found.push(Finding::new(span, label::PERSON, "name_again", 0.7, Layer::Entity));
        }
        at = last + 1;
    }
}

/// As [`spreads`], or a name that is a word too: it is read where its surroundings tell a person.
fn may_spread(part: &&str) -> bool {
    spreads(part) || part.len() >= LEAST && lexicon::word(part).is_name() && !is_no_part_of_a_name(part)
}

/// "necesito hablar con remedios", "shell took the kids", "la graduación de Alba".
fn is_told_again(context: &Context<'_>, at: usize) -> bool {
    trigger(context, at) != Trigger::None
        || deeds::begins_sentence(context, at) && deeds::acts(context, at)
        || is_first_name_again(context, at)
}

/// A first name with its large letter inside of a sentence, or called at its beginning ("Ruby, you're fourteen"). Between other large
/// words, words of the clinic and numbers it may be a part of what they name: "Strawberry Mark", "WBC Rose".
fn is_first_name_again(context: &Context<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if token.case != Case::Title || context.no_case() || !lexicon::word(lower.strip_suffix("'s").unwrap_or(lower)).given
    {
        return false;
    }
    let is_other = |near: &Token| {
        near.is_word() && (near.is_large() || trade::is_clinical(context.lower(near))) || near.kind == Kind::Number
    };
    let before =
        at.checked_sub(1).filter(|before| context.touches(*before, at)).and_then(|before| context.tokens.get(before));
    let after = context.tokens.get(at + 1).filter(|_| context.touches(at, at + 1));
    let is_called = after.is_some_and(|next| context.plain(next) == ",");
    let begins = deeds::begins_sentence(context, at);
    (!begins || is_called) && ![before, after].into_iter().flatten().any(is_other)
}

/// Least letters of a name that is looked for in small letters where others are written large.
const LEAST: usize = 4;

/// "turno con pacheco": somebody of the document in small letters, by a word that is nothing else, or by what stands around it.
fn is_sure_in_small(context: &Context<'_>, at: usize, bare: &str) -> bool {
    let own = bare.len() >= LEAST
        && !lexicon::is_ordinary_in(context.language, bare)
        && !lexicon::is_rare(bare)
        && !trade::is_clinical(bare)
        && !trade::is_verb(bare);
    context.tokens[at].is_word() && (own || bare.len() >= LEAST && is_told_again(context, at))
}

/// "García" is the tag of "Ana García" where the document knows one García.
fn link(context: &Context<'_>, wholes: &HashSet<String>, found: &mut [Finding]) {
    let mut by_part: HashMap<&str, Vec<&String>> = HashMap::new();
    for whole in wholes {
        whole.split(' ').for_each(|part| by_part.entry(part).or_default().push(whole));
    }
    for finding in found.iter_mut().filter(|finding| finding.label == label::PERSON && finding.subject.is_none()) {
        let own = normal(label::PERSON, finding.span.of(&context.view.lower));
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
