//! Context evidence that an ambiguous word tagged PERSON ("Angel", "Max", "Brown") really is a person: person verbs,
//! relations, a second name next to it, titles, form fields, a role in brackets, a signature.

use super::super::document::DocumentContext;
use super::super::entities::cues::{RELATIONS, ROLES, TITLES};
use super::super::entities::lexicon;
use super::super::entities::person_verbs;
use super::super::entities::word_classes::{WordClasses, word_classes};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::super::word_tables::WordList;
use super::tagged_span::TaggedSpan;

/// Score from which a following verb of people is sufficient.
const LIKELY: f64 = 0.75;
/// Score from which context that things share is sufficient.
const SURE: f64 = 0.88;

/// Words that follow a subject of any kind, so they are weaker evidence.
static AUXILIARIES: WordList = WordList::spaced(
    "is was has had can can't cannot won't will would isn't wasn't hasn't hadn't does doesn't did didn't could couldn't \
     should",
);
/// Verbs in the plural, after two people or more.
static PLURALS: WordList = WordList::spaced(
    "are were have both share shared keep kept live lived came agree agreed take took want wanted need needed went say said \
     told asked visit visited help helped attend attended work fought met sat",
);
static FIELDS: WordList = WordList::spaced(
    "name contact surgeon assistant physician provider nurse author signed witness caregiver guardian proxy surrogate \
     spouse attending resident clinician therapist patient client interpreter chaperone anaesthetist anesthetist \
     supervisor sponsor emergency kin nombre contacto cirujano cirujana ayudante paciente medico testigo cuidador \
     cuidadora tutor tutora firmado interprete",
);
static HOUSES: WordList = WordList::spaced(
    "pharmacy school employer hospital facility clinic payer payor insurer insurance lab laboratory church parish agency \
     shelter snf farmacia colegio empresa centro aseguradora",
);
static PARTINGS: WordList =
    WordList::spaced("thx thanks ty best regards cheers sincerely gracias saludos atentamente tia");
static BRACKETED: WordList = WordList::spaced(
    "md do rn pt ot np pa lpn cna lcsw sw rt slp pharmd phd mom mum dad mother father wife husband son daughter sister \
     brother aunt uncle friend partner hermana hermano hija hijo madre padre",
);

/// Whether the context shows a person; weaker context needs a higher score of the model.
pub(crate) fn has_person_context(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let score = one.finding.score;
    if one.finding.label != label::PERSON || score < LIKELY {
        return false;
    }
    let single = one.end - one.first == 1;
    is_field(context, one)
        || is_bracketed(context, one)
        || is_parting(context, one)
        || is_initials(context, one)
        || is_aged(context, one)
        || single && begins(context, one.first) && (is_subject(context, one) || is_listed(context, one))
        || single && score >= SURE && ends_as_agent(context, one)
}

fn word<'a>(context: &'a DocumentContext<'_>, at: usize) -> &'a str {
    context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default()
}

fn is_name(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|token| {
        let known = word_classes(context.lower(token));
        token.is_word() && (known.has(WordClasses::GIVEN) || known.has(WordClasses::SURNAME))
    })
}

fn begins(context: &DocumentContext<'_>, at: usize) -> bool {
    person_verbs::begins_sentence(context, at)
        || at.checked_sub(1).is_some_and(|before| matches!(word(context, before), ";" | ":" | "," | "|"))
}

/// "Max uses", "Angel fell", "Guy, 40,": a verb, an age or a relation after a name. Without it two spans more are
/// missed.
fn is_subject(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let adverb =
        usize::from(matches!(word(context, one.end), "also" | "still" | "then" | "never" | "finally" | "only"));
    let next = word(context, one.end + adverb);
    let touches = context.touches(one.first, one.end);
    let lower = word(context, one.first);
    let thing = lexicon::is_eponym(lower) && !word_classes(lower).has(WordClasses::EVERYDAY_NAME);
    let named = word_classes(lower).has(WordClasses::GIVEN) || !lexicon::is_ordinary_in(context.language, lower);
    let sure = one.finding.score >= SURE;
    if person_verbs::is_person_verb(next) && touches {
        return named && !thing || sure && is_name(context, one.first);
    }
    // "Will will", "May may".
    if next == lower && touches && context.tokens[one.first].is_capitalized() {
        return true;
    }
    if AUXILIARIES.contains(next) && touches {
        return sure && named && !thing && context.tokens[one.first].is_capitalized();
    }
    let number = |at: usize| context.tokens.get(at).is_some_and(|token| token.kind == TextTokenKind::Number);
    let aged = next == "," && number(one.end + 1) && word(context, one.end + 2) == ",";
    let theirs = matches!(next, "and" | "y")
        && matches!(word(context, one.end + 1), "his" | "her" | "their" | "su")
        && RELATIONS.contains(word(context, one.end + 2));
    (aged || theirs) && named && !thing
}

/// "Temperance Ogilvie, 34F": two capitalised words and an age with a sex or a word for years.
fn is_aged(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let title = |token: &TextToken| token.case == LetterCase::Title;
    let age = context
        .tokens
        .get(one.end + 1)
        .is_some_and(|token| token.kind == TextTokenKind::Number && token.span.len() <= 2);
    let sexed = matches!(word(context, one.end + 2), "f" | "m" | "yo" | "y" | "yrs" | "years" | "yr");
    one.end - one.first == 2
        && context.tokens[one.first..one.end].iter().all(title)
        && word(context, one.end) == ","
        && age
        && sexed
}

/// "Rose, Dale and Ifeoma were": names joined by "and", before a verb in the plural. Without it two spans more are
/// missed.
fn is_listed(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let mut at = one.end;
    let mut names = usize::from(is_name(context, one.first));
    for _ in 0..3 {
        if !matches!(word(context, at), "," | "and" | "y") {
            break;
        }
        at += 1 + usize::from(word(context, at + 1) == "and");
        let large = context.tokens.get(at).is_some_and(|token| token.case == LetterCase::Title);
        if !large {
            return false;
        }
        names += usize::from(is_name(context, at));
        at += 1;
    }
    at > one.end && names >= 2 && PLURALS.contains(word(context, at))
}

fn is_field(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let Some(at) = one.first.checked_sub(2) else { return false };
    let field = word(context, at);
    let named = FIELDS.contains(field) || ROLES.contains(field) || RELATIONS.contains(field);
    matches!(word(context, at + 1), ":" | "-") && named && context.tokens[one.first].is_capitalized()
}

/// "Pharmacy: Corner Drug", "Payer: Blue Cross".
pub(crate) fn is_organization_field(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let Some(at) = one.first.checked_sub(2) else { return false };
    matches!(one.finding.label, label::ORGANIZATION | label::LOCATION)
        && one.finding.score >= LIKELY
        && word(context, at + 1) == ":"
        && HOUSES.contains(word(context, at))
        && context.tokens[one.first].case == LetterCase::Title
}

fn is_bracketed(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    word(context, one.end) == "("
        && word(context, one.end + 2) == ")"
        && BRACKETED.contains(word(context, one.end + 1))
        && context.tokens[one.first].is_capitalized()
}

fn is_parting(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let last = context.tokens.get(one.end).is_none_or(|token| token.kind == TextTokenKind::Break);
    let mut before = one.first;
    while before > 0 && (word(context, before - 1) == "," || context.tokens[before - 1].kind == TextTokenKind::Break) {
        before -= 1;
    }
    last && before < one.first && before > 0 && PARTINGS.contains(word(context, before - 1))
}

/// "K. reports", "A.J. and C.C. shared", "pt is R.K.": initials before a verb of people or after a title.
fn is_initials(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let letter = |token: &TextToken| token.is_word() && token.span.len() == 1 && token.case != LetterCase::Lower;
    let tokens = &context.tokens[one.first..one.end];
    let point = |at: usize| word(context, at) == ".";
    let pointed = point(one.end) || tokens.last().is_some_and(|token| context.lower(token) == ".");
    let all = tokens.iter().all(|token| letter(token) || context.lower(token) == ".") && pointed;
    let next = one.end + usize::from(point(one.end));
    let before = one.first.checked_sub(1).map(|at| word(context, at)).unwrap_or_default();
    let earlier = one.first.checked_sub(2).map(|at| word(context, at)).unwrap_or_default();
    let patient = |word: &str| matches!(word, "pt" | "patient" | "paciente" | "client");
    all && (person_verbs::is_person_verb(word(context, next))
        || patient(before)
        || before == "is" && patient(earlier)
        || TITLES.contains(before))
}

/// "Seen by Hand in clinic", "not ok w/ Park": a capitalised name after "by", "per" or "w/".
fn ends_as_agent(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let Some(before) = one.first.checked_sub(1) else { return false };
    let agent = matches!(word(context, before), "by" | "per")
        || word(context, before) == "/" && before > 0 && word(context, before - 1) == "w";
    agent
        && !context.no_case()
        && context.tokens[one.first].case == LetterCase::Title
        && (is_name(context, one.first) || !lexicon::is_ordinary(word(context, one.first)))
}
