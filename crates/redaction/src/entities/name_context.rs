//! Recognises names that no list needs to contain, by their context: a greeting before it, a spoken article, an age in
//! brackets, the post of the person who signs a shift.

use super::super::document::DocumentContext;
use super::super::token::{LetterCase, TextTokenKind};
use super::cue_lists::RELATIONS;
use super::{informal, lexicon, person_verbs};
use anamnesis_text::Language;

/// Posts in capitals, by the language in which they are posts: "AM RN (Bek)" is a nurse, "RN Vigoroso" a newborn.
const ENGLISH_POSTS: &[&str] = &["rn", "rpn", "lpn", "rmn", "cpn", "hca"];
const SPANISH_POSTS: &[&str] = &["due", "tcae", "mir", "eir"];
const GREETINGS: &[&str] =
    &["hola", "hi", "hello", "hey", "dias", "tardes", "noches", "morning", "afternoon", "evening"];
/// Object pronouns before a verb, as in "El Benja me dice". "se", "no" and "ya" also follow things.
const TO_SOMEBODY: &[&str] = &["me", "te", "le", "nos", "les"];
const OF_ANYTHING: &[&str] = &["se", "no", "ya"];
/// Tokens of a bracketed list that are searched, and the distance before it in which a relative counts.
const LIST: usize = 16;
const LED: usize = 4;

/// "Hola, Julieta.", "Buenos días, Pilar.": one capitalised word between a greeting and the end of the sentence.
pub(super) fn is_greeted(context: &DocumentContext<'_>, at: usize) -> bool {
    let comma = at.checked_sub(1).is_some_and(|before| plain(context, before) == ",");
    let Some(before) = at.checked_sub(if comma { 2 } else { 1 }) else { return false };
    is_title(context, at)
        && GREETINGS.contains(&lower(context, before))
        && matches!(plain(context, at + 1), "," | "." | "!" | "?")
        && may_be_a_name(context, at)
}

/// "sus hijos (Rubén, 19; Alba, 14)": each is a person with an age.
pub(super) fn is_aged(context: &DocumentContext<'_>, at: usize) -> bool {
    let opens = at.checked_sub(1).is_some_and(|before| matches!(plain(context, before), "(" | ";"));
    let age =
        context.tokens.get(at + 2).is_some_and(|token| token.kind == TextTokenKind::Number && token.span.len() <= 2);
    if !opens
        || !is_title(context, at)
        || plain(context, at + 1) != ","
        || !age
        || !matches!(plain(context, at + 3), ";" | ")")
    {
        return false;
    }
    let bracket = (at.saturating_sub(LIST)..at).rev().find(|before| plain(context, *before) == "(");
    bracket.is_some_and(|bracket| {
        (bracket.saturating_sub(LED)..bracket).any(|before| RELATIONS.contains(lower(context, before)))
    })
}

/// "DUE M. Carrascal", "AM RN (Bek)", "Téc. Farfán".
pub(super) fn is_posted(context: &DocumentContext<'_>, at: usize, before: usize, sign: &str) -> bool {
    let (word, case) = (lower(context, before), context.tokens[before].case);
    let posts = if context.language == Language::English { ENGLISH_POSTS } else { SPANISH_POSTS };
    let is_post = matches!(sign, "" | "(") && case == LetterCase::Upper && posts.contains(&word);
    // In capitals, "TEC" is a head injury or a treatment.
    let is_technician = sign == "." && case == LetterCase::Title && word == "tec";
    let is_initial =
        context.tokens[at].is_capitalized() && context.tokens[at].span.len() == 1 && plain(context, at + 1) == ".";
    let named = if is_initial { at + 2 } else { at };
    // "RN Titrated the drip", "DUE (Triaje)": an unlisted word needs an initial, "Téc." or English brackets.
    let is_set_off = is_initial || is_technician || sign == "(" && context.language == Language::English;
    let is_listed = is_set_off || lexicon::word(lower(context, named)).is_name();
    (is_post || is_technician) && is_listed && is_title(context, named) && is_likely_a_name(context, named)
}

/// "El Benja me dice", "La Mercedes, mi mujer", "el Jostin tiene diecisiete": spoken Spanish puts an article before a
/// name. An unlisted word also needs a verb that only people have.
pub(super) fn is_spoken_of(context: &DocumentContext<'_>, at: usize) -> bool {
    let article = at.checked_sub(1).map(|before| lower(context, before)).unwrap_or_default();
    if !matches!(article, "el" | "la" | "al") || !is_title(context, at) {
        return false;
    }
    let word = lower(context, at);
    let is_given = lexicon::word(word).given;
    if !is_given && !informal::is_unknown_capitalized(word) {
        return false;
    }
    let (next, then) = (lower(context, at + 1), lower(context, at + 2));
    let is_number = context.tokens.get(at + 2).is_some_and(|token| token.kind == TextTokenKind::Number);
    let years = next == "tiene" && (is_number || is_given || lexicon::is_ordinary(then));
    let relative = next == "," && matches!(then, "mi" | "su" | "tu") && RELATIONS.contains(lower(context, at + 3));
    let acts = TO_SOMEBODY.contains(&next) || is_given && OF_ANYTHING.contains(&next);
    acts && !matches!(then, "" | ".") || person_verbs::is_person_verb(next) || years || relative
}

fn may_be_a_name(context: &DocumentContext<'_>, at: usize) -> bool {
    let word = lower(context, at);
    let is_ordinary = lexicon::is_ordinary(word) || lexicon::is_ordinary_in(context.language, word);
    lexicon::word(word).given || !is_ordinary
}

/// A word that is only a name, or that is in no list.
fn is_likely_a_name(context: &DocumentContext<'_>, at: usize) -> bool {
    let word = lower(context, at);
    let is_ordinary = lexicon::is_ordinary(word) || lexicon::is_ordinary_in(context.language, word);
    !is_ordinary && (lexicon::word(word).is_name() || informal::is_unknown_capitalized(word))
}

fn is_title(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|token| token.case == LetterCase::Title && token.span.len() > 2)
}

fn lower<'a>(context: &'a DocumentContext<'_>, at: usize) -> &'a str {
    context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default()
}

fn plain<'a>(context: &'a DocumentContext<'_>, at: usize) -> &'a str {
    context.tokens.get(at).map(|token| context.plain(token)).unwrap_or_default()
}
