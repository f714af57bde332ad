//! Words that open speech, and everyday words that the model took for a person.

use super::super::super::document::DocumentContext;
use super::super::super::finding::PiiFinding;
use super::super::super::label;
use super::super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::super::cues::{FUNCTION, NameTrigger, PARTICLES, ROLES, trigger};
use super::super::organisation_lists::LAST;
use super::super::{lexicon, person_verbs, places, words};
use super::word_forms::words_of;
use crate::entities::post_filter::stop_words;
use crate::word_tables::{self, WordList};
use anamnesis_text::Language;

/// One word that opens speech or a sentence of a note. If it is also a first name, a sign must follow, as in "Dale,"
/// and "Mira.".
pub(super) fn is_opener(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if stop_words::is_no_person_word(lower) && !person_verbs::acts(context, at) {
        return true;
    }
    let begins = person_verbs::begins_sentence(context, at)
        || at.checked_sub(1).is_some_and(|before| {
            let sign = context.plain(&context.tokens[before]);
            matches!(sign, "¿" | "¡" | "," | ";" | "-" | "\"" | "(" | "«" | "'" | "–" | "/")
                || sign == ":" && !is_field_of_people(context, before)
        });
    let signed = context.tokens.get(at + 1).is_none_or(|next| {
        next.kind == TextTokenKind::Break || matches!(context.plain(next), "," | "." | "!" | "?" | ":" | "…" | ";")
    });
    let known = lexicon::word(lower);
    let spanish = context.language == Language::Spanish;
    if begins && stop_words::is_role(lower) && !known.is_strong() {
        return true;
    }
    if stop_words::opens(context.language, lower) {
        let pronoun = matches!(lower, "ella" | "usa" | "nada" | "mira" | "mire" | "vera");
        return match (known.given, words::is_everyday_name(lower)) {
            (true, true) => begins && signed && spanish && !is_called(context, at),
            (true, false) => begins && (signed || spanish && pronoun || is_asked(context, at)),
            (false, _) => begins || !token.is_capitalized(),
        };
    }
    let called = words::is_everyday_name(lower) && at > 0 && context.plain(&context.tokens[at - 1]) == ",";
    begins && spanish && !known.given && !called && !places::is_place(lower) && stop_words::is_verb(lower)
}

/// "Ever had a seizure?": an ordinary word that opens a question.
fn is_asked(context: &DocumentContext<'_>, at: usize) -> bool {
    let next = context.tokens.get(at + 1).map(|token| context.lower(token)).unwrap_or_default();
    matches!(next, "had" | "have" | "been" | "tried" | "felt" | "taken" | "thought" | "has" | "i" | "you" | "the")
        && lexicon::word(context.lower(&context.tokens[at])).common
}

/// "Assistant: Oh.": the colon of a person's field.
fn is_field_of_people(context: &DocumentContext<'_>, colon: usize) -> bool {
    let word = colon.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    ROLES.contains(word)
        || matches!(word, "assistant" | "name" | "nombre" | "present" | "surgeon" | "witness" | "student")
}

/// "Hola, Dale", "Gracias, Mira": a greeting before it, and nothing after it but the end.
fn is_called(context: &DocumentContext<'_>, at: usize) -> bool {
    let end = context
        .tokens
        .get(at + 1)
        .is_none_or(|next| matches!(context.plain(next), "." | "!") || next.kind == TextTokenKind::Break);
    end && at > 0 && context.plain(&context.tokens[at - 1]) == ","
}

/// "hang myself", "la navajita del sacapuntas": everyday words in lower case that are in no list of names or places,
/// without a word before them that leads to a name. For an organisation or a place, one word must be a pronoun or a
/// verb.
pub(super) fn is_everyday_speech(
    context: &DocumentContext<'_>,
    one: &PiiFinding,
    (first, end): (usize, usize),
) -> bool {
    if !one.is_learned() || trigger(context, first) != NameTrigger::None {
        return false;
    }
    let spanish = context.language != Language::English;
    let verb = |lower: &str| spanish && stop_words::is_verb(lower);
    let ordinary = |token: &TextToken| {
        let lower = context.lower(token);
        let known = lexicon::word(lower);
        let named = known.given || known.surname && !verb(lower) || places::is_place(lower);
        let small = !known.given
            && (FUNCTION.contains(lower) || PARTICLES.contains(lower) || stop_words::opens(context.language, lower));
        token.case == LetterCase::Lower
            && (small
                || !named
                    && (lexicon::is_ordinary_in(context.language, lower)
                        || lexicon::is_rare(lower)
                        || spanish && is_word_of_spanish(lower)))
    };
    let told = |token: &TextToken| {
        let lower = context.lower(token);
        is_of_oneself(lower) || verb(lower) || spanish && is_small_form(lower)
    };
    let organization = leads_to_organization(context, first)
        || words_of(context, first, end).any(|token| LAST.contains(context.lower(token)));
    words_of(context, first, end).all(ordinary)
        && (one.label == label::PERSON
            || one.label == label::ORGANIZATION && !organization
            || words_of(context, first, end).any(told))
}

/// Words before an organisation.
fn leads_to_organization(context: &DocumentContext<'_>, first: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "everyday_speech.leads_to_organization");
    let before = first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    WORDS.contains(before)
}

/// A form of a verb, a small form of a noun ("navajita") or a plural.
fn is_word_of_spanish(lower: &str) -> bool {
    let ordinary = |word: &str| lexicon::is_ordinary_in(Language::Spanish, word);
    stop_words::is_verb(lower)
        || is_small_form(lower)
        || lower.strip_suffix("es").or_else(|| lower.strip_suffix('s')).is_some_and(ordinary)
}

fn is_small_form(lower: &str) -> bool {
    let small = ["ita", "ito", "itas", "itos"].iter().filter_map(|ending| lower.strip_suffix(ending));
    let mut of = small.flat_map(|stem| ["a", "o", "e"].map(|ending| format!("{stem}{ending}")));
    of.any(|word| lexicon::is_ordinary_in(Language::Spanish, &word))
}

fn is_of_oneself(lower: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "everyday_speech.is_of_oneself");
    WORDS.contains(lower)
        || ["arme", "erme", "irme", "arse", "erse", "irse", "arte"].iter().any(|ending| lower.ends_with(ending))
}
