//! Organisations: a head word and the capitalised words around it ("Hospital Virgen del Rocío", "Mercy Clinic").

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::LetterCase;
use super::cues::TITLES;
use super::lexicon;
use super::organisation_lists::{CHAINS, FIRST, GENERIC, INITIALS, LAST, SPECIALTIES, TRADES};
use crate::deadline;
use crate::pattern::compiled;
use crate::word_tables::{self, WordList, WordSet};
use anamnesis_text::Span;

/// Head words of two words.
const FIRST_TWO: &[(&str, &str)] = &[
    ("centro", "medico"),
    ("centro", "hospitalario"),
    ("centro", "de"),
    ("casa", "de"),
    ("unidad", "educativa"),
    ("centre", "hospitalier"),
    ("centro", "asistencial"),
    ("centro", "penitenciario"),
    ("centro", "integral"),
];

/// "Servicio Castellano-Leonés de Salud", "Sistema Español de Farmacovigilancia".
static SERVICE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:Servicio|Sistema|Consejeria|Ministerio|Secretaria|Agencia)(?: [A-Z][A-Za-z-]{3,20}){0,2} de (?:la )?(?:Salud|Sanidad|Farmacovigilancia)(?-u:\b)",
    )
});

/// Every word of the lists below, because most words of a text are in none and one look-up decides.
static TELLING: LazyLock<WordSet> = LazyLock::new(|| {
    let lists = [&FIRST, &LAST, &TRADES, &SPECIALTIES, &INITIALS, &CHAINS];
    let two = FIRST_TWO.iter().map(|(first, _)| *first);
    lists.into_iter().flat_map(|list| list.iter().copied()).chain(two).chain(CAMPS).collect()
});
const CAMPS: [&str; 3] = ["camp", "fort", "mount"];

/// Finds organisations.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    for hit in SERVICE.find_iter(&context.view.plain) {
        found.push(PiiFinding::new(
            Span::new(hit.start(), hit.end()),
            label::ORGANIZATION,
            "organisation",
            0.75,
            DetectionLayer::Entity,
        ));
    }
    for at in 0..context.tokens.len() {
        deadline::check_at(at);
        let token = &context.tokens[at];
        if !token.is_word() {
            continue;
        }
        let lower = context.lower(token);
        if !TELLING.contains(lower) || is_adjective(context, at) {
            continue;
        }
        if (FIRST.contains(lower) || starts_with_two(context, at))
            && let Some(last) = forward(context, at)
        {
            push(context, at, last, found);
        }
        if CHAINS.contains(lower)
            && (context.no_case() || token.case != LetterCase::Lower)
            && !is_after_title(context, at)
        {
            push(context, at, at, found);
        }
        if token.case == LetterCase::Upper && INITIALS.contains(lower) && !context.no_case() {
            push(context, at, at, found);
        }
        if is_camp(context, at) {
            push(context, at, at + 1, found);
        }
        if tells_last(lower)
            && !(FIRST.contains(lower) && forward(context, at).is_some())
            && let Some(first) = backward(context, at)
        {
            push(context, first, at, found);
        }
    }
}

/// "Diagnóstico clínico de Parkinson", "sospecha clínica de Crohn": after a noun, in lower case, it says of what kind.
fn is_adjective(context: &DocumentContext<'_>, at: usize) -> bool {
    let adjective = matches!(context.lower(&context.tokens[at]), "clinico" | "clinica");
    let Some(before) = at.checked_sub(1).map(|before| &context.tokens[before]) else { return false };
    let article =
        ["la", "una", "el", "un", "esta", "su", "mi", "en", "de", "a", "hospital"].contains(&context.lower(before));
    adjective
        && context.tokens[at].case == LetterCase::Lower
        && before.is_word()
        && !article
        && context.touches(at - 1, at)
}

/// "Camp Evergreen", "Fort Drum" inside of a sentence.
fn is_camp(context: &DocumentContext<'_>, at: usize) -> bool {
    let title = |at: usize| context.tokens.get(at).is_some_and(|token| token.case == LetterCase::Title);
    let inside = at.checked_sub(1).is_some_and(|before| context.tokens[before].case == LetterCase::Lower);
    CAMPS.contains(&context.lower(&context.tokens[at]))
        && inside
        && title(at)
        && title(at + 1)
        && context.touches(at, at + 1)
}

/// "Dr. Google".
fn is_after_title(context: &DocumentContext<'_>, at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| {
        let before = context.lower(&context.tokens[before]);
        TITLES.contains(before) || before == "."
    })
}

fn starts_with_two(context: &DocumentContext<'_>, at: usize) -> bool {
    let lower = context.lower(&context.tokens[at]);
    let next = context.tokens.get(at + 1).map(|token| context.lower(token)).unwrap_or_default();
    FIRST_TWO.contains(&(lower, next)) && (context.tokens[at].is_capitalized() || context.no_case())
}

/// The last capitalised word after a head word, over capitalised words, particles and numbers.
fn forward(context: &DocumentContext<'_>, at: usize) -> Option<usize> {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "organisations.forward");
    let large = context.tokens[at].is_capitalized();
    if !large && context.no_case() {
        return spoken(context, at);
    }
    let (mut last, mut names) = (None, 0);
    for look in at + 1..(at + 14).min(context.tokens.len()) {
        let token = &context.tokens[look];
        let lower = context.lower(token);
        let gap = &context.view.plain[context.tokens[look - 1].span.end..token.span.start];
        if gap.len() > 2 || gap.contains('\n') {
            break;
        }
        if look > at + 1 && super::cues::is_field(lower) {
            break;
        }
        if token.is_capitalized() {
            let generic = GENERIC.contains(lower);
            names += usize::from(!generic);
            // "hospital General": a lower-case head word needs a name, not an adjective.
            last = Some(look);
        } else if lower == "."
            && matches!(
                context.lower(&context.tokens[look - 1]),
                "univ" | "sta" | "sto" | "sra" | "ntra" | "gral" | "dr" | "d" | "s" | "h" | "c" | "hosp" | "san"
            )
        {
        } else if matches!(lower, "\"" | "'" | "-")
            || token.kind == super::super::token::TextTokenKind::Number && lower.len() <= 2
        {
            if matches!(lower, "\"" | "'") && last == Some(look - 1) && names > 0 && !gap.contains(' ') {
                last = Some(look);
            }
        } else if !WORDS.contains(lower) {
            break;
        }
    }
    let last = last?;
    (names > 0 && (large || names > 1 || lexicon_name(context, at + 1, last))).then_some(last)
}

fn lexicon_name(context: &DocumentContext<'_>, first: usize, last: usize) -> bool {
    (first..=last).any(|at| {
        let lower = context.lower(&context.tokens[at]);
        lexicon::word(lower).is_name()
            || super::places::is_place(lower)
            || context.tokens[at].is_capitalized() && !lexicon::word(lower).common
    })
}

/// "el hospital gregorio maranon": names after a head word in a text without capitals.
fn spoken(context: &DocumentContext<'_>, at: usize) -> Option<usize> {
    if !matches!(context.lower(&context.tokens[at]), "hospital" | "clinica" | "colegio" | "universidad" | "instituto") {
        return None;
    }
    let mut last = None;
    for look in at + 1..(at + 6).min(context.tokens.len()) {
        let lower = context.lower(&context.tokens[look]);
        let known = lexicon::word(lower).is_strong()
            || super::places::is_place(lower)
            || matches!(lower, "virgen" | "san" | "santa" | "paz" | "rocio" | "mar" | "reina" | "cruz" | "angeles");
        if known {
            last = Some(look);
        } else if !matches!(lower, "de" | "del" | "la" | "las" | "los" | "el" | "general" | "universitario" | "clinico")
        {
            break;
        }
    }
    last
}

/// The first capitalised word before a head word.
fn backward(context: &DocumentContext<'_>, at: usize) -> Option<usize> {
    if !context.tokens[at].is_capitalized() {
        return None;
    }
    let (mut first, mut names) = (at, 0);
    for look in (at.saturating_sub(7)..at).rev() {
        let token = &context.tokens[look];
        let gap = &context.view.plain[token.span.end..context.tokens[look + 1].span.start];
        let lower = context.lower(token);
        if gap.len() > 2 || gap.contains('\n') {
            break;
        }
        if token.is_capitalized()
            && !matches!(
                lower,
                "the"
                    | "at"
                    | "in"
                    | "from"
                    | "to"
                    | "our"
                    | "my"
                    | "el"
                    | "la"
                    | "i"
                    | "this"
                    | "he"
                    | "she"
                    | "patient"
                    | "dr"
                    | "and"
            )
        {
            first = look;
            names += usize::from(!GENERIC.contains(lower) && !tells_last(lower));
        } else if !matches!(lower, "of" | "and" | "&" | "'" | "s" | "," | "." | "-" | "for")
            || lower == "." && context.lower(&context.tokens[look.saturating_sub(1)]).len() > 2
        {
            break;
        }
    }
    let weak = matches!(
        context.lower(&context.tokens[at]),
        "center"
            | "centre"
            | "group"
            | "medical"
            | "health"
            | "sa"
            | "sl"
            | "partners"
            | "systems"
            | "company"
            | "school"
            | "insurance"
            | "clinic"
            | "church"
            | "solutions"
            | "orthopedics"
            | "orthopaedics"
            | "manor"
            | "nursing"
            | "district"
            | "dental"
    );
    if TRADES.contains(context.lower(&context.tokens[at])) {
        return (context.tokens[at].case == LetterCase::Title && is_trade_name(context, first, at)).then_some(first);
    }
    if SPECIALTIES.contains(context.lower(&context.tokens[at])) {
        return (context.tokens[at].case == LetterCase::Title && has_own_word(context, first, at)).then_some(first);
    }
    // Headings are in capitals: "REVIEW OF SYSTEMS".
    if weak && (first..=at).all(|look| context.tokens[look].case != LetterCase::Title) {
        return None;
    }
    (names > usize::from(weak && !tells(context, first, at))).then_some(first)
}

/// A word that is no ordinary one, or two words of a name with a capital letter inside of a sentence.
fn is_trade_name(context: &DocumentContext<'_>, first: usize, at: usize) -> bool {
    let inside = first.checked_sub(1).is_some_and(|before| context.tokens[before].case == LetterCase::Lower);
    has_own_word(context, first, at) || inside && at - first >= 2
}

/// A name, a place or a word that is no ordinary one.
fn has_own_word(context: &DocumentContext<'_>, first: usize, at: usize) -> bool {
    let own = |look: usize| {
        let lower = context.lower(&context.tokens[look]);
        let known = lexicon::word(lower).is_name() || super::places::is_place(lower);
        context.tokens[look].case == LetterCase::Title && (known || !lexicon::is_ordinary(lower)) && lower.len() > 2
    };
    (first..at).any(own) && !lexicon::is_eponym(context.lower(&context.tokens[first]))
}

fn tells_last(lower: &str) -> bool {
    LAST.contains(lower) || TRADES.contains(lower) || SPECIALTIES.contains(lower)
}

/// A weak head word counts if the words before it contain a name, a place or a suffix.
fn tells(context: &DocumentContext<'_>, first: usize, at: usize) -> bool {
    (first..at).any(|look| {
        let lower = context.lower(&context.tokens[look]);
        let word = lexicon::word(lower);
        word.is_name()
            || super::places::is_place(lower)
            || matches!(lower, "saint" | "st" | "mercy" | "memorial" | "regional" | "medical" | "county" | "community")
            || !word.common && lower.len() > 3
    })
}

fn push(context: &DocumentContext<'_>, first: usize, last: usize, found: &mut Vec<PiiFinding>) {
    let span = Span::new(context.tokens[first].span.start, context.tokens[last].span.end);
    found.push(PiiFinding::new(span, label::ORGANIZATION, "organisation", 0.75, DetectionLayer::Entity));
}
