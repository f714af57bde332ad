//! Names in the terms of diseases, signs, scales and devices: "enfermedad de Hodgkin", "Beck inventory".

use super::super::document::DocumentContext;
use super::super::token::{LetterCase, TextTokenKind};
use super::eponym_lists::{AFTER, BEFORE};
use super::word_classes::{WordClasses, word_classes};
use super::words::begins_sentence;
use super::{lexicon, place_lists};
use crate::word_tables::{self, WordList};

/// "Ottawa ankle rules", "Miami J collar": one ordinary word or letter, and the thing after it.
fn is_part_of_a_thing(context: &DocumentContext<'_>, next: usize) -> bool {
    let (Some(between), Some(thing)) = (context.tokens.get(next), context.tokens.get(next + 1)) else { return false };
    let word = context.lower(between);
    let part =
        between.is_word() && (between.span.len() == 1 || between.case == LetterCase::Lower && lexicon::is_noun(word));
    part && context.touches(next - 1, next) && context.touches(next, next + 1) && is_after(context.lower(thing))
}

/// True where a run of tokens holds the thing itself: "Corea de Huntington", "Penrose drain".
pub(crate) fn names_a_thing(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let of = |at: usize| matches!(word(at), "de" | "del" | "of");
    (first..end).any(|at| is_before(word(at)) && of(at + 1))
        || end - first > 1 && BEFORE.contains(word(first))
        || (first + 1..end).any(|at| is_after(word(at)) || is_subgrade(word(at)))
        || end - first > 1 && context.tokens[end - 1].span.len() == 1 && lexicon::is_eponym(word(first))
}

/// A listed noun, or one whose ending is that of a disease or an operation: "adenoma", "miositis", "colectomia".
fn is_before(word: &str) -> bool {
    const ENDINGS: &[&str] =
        &["oma", "itis", "osis", "patia", "ectomia", "plastia", "scopia", "opathy", "ectomy", "plasty"];
    let told = word.len() > 5 && ENDINGS.iter().any(|ending| word.ends_with(ending));
    BEFORE.contains(word) || told && !lexicon::word(word).is_name() && !place_lists::is_place(word)
}

/// A listed noun, or one whose ending is that of a disease or an operation: "Lewis esophagectomy", "Heller myotomy".
fn is_after(word: &str) -> bool {
    const ENDINGS: &[&str] =
        &["ectomy", "otomy", "ostomy", "plasty", "pexy", "oscopy", "orrhaphy", "opathy", "itis", "osis"];
    AFTER.contains(word) || word.len() > 5 && ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// "Sithole's ferritin", "Ahmed's catheter": the possessive of a word that is no listed eponym is a person, who owns
/// the following noun.
pub(crate) fn is_owned(context: &DocumentContext<'_>, last: usize) -> bool {
    let owner = context.tokens.get(last).and_then(|token| context.lower(token).strip_suffix("'s"));
    owner.is_some_and(|owner| owner.len() > 1 && !lexicon::is_eponym(owner))
        && !context.tokens.get(last + 1).is_some_and(|next| is_thing_noun(context.lower(next)))
}

/// Nouns that make a thing of any name before them, and that no one has.
fn is_thing_noun(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "eponyms.is_thing_noun");
    WORDS.contains(word)
}

/// "Kellgren-Lawrence", "Dix-Hallpike": two capitalised words around a hyphen, one of them an eponym.
pub(crate) fn is_hyphenated(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
    let is_hyphen = |at: usize| {
        let sign = context.tokens.get(at).is_some_and(|sign| context.plain(sign) == "-");
        sign && at > 0 && context.touches(at - 1, at) && context.touches(at, at + 1)
    };
    let eponym = |at: usize| context.tokens.get(at).is_some_and(|token| lexicon::is_eponym(context.lower(token)));
    let mut joined = (first.saturating_sub(1)..end + 1).filter(|at| is_hyphen(*at));
    joined.any(|at| eponym(at - 1) || eponym(at + 1)) && !(first..end).any(|at| is_everyday_name(context, at))
}

fn is_everyday_name(context: &DocumentContext<'_>, at: usize) -> bool {
    word_classes(context.lower(&context.tokens[at])).has(WordClasses::EVERYDAY_NAME)
}

/// A brand or scale: a listed eponym that is no name, no place and no word.
pub(crate) fn is_brand(lower: &str) -> bool {
    lexicon::is_eponym(lower)
        && !lexicon::word(lower).is_name()
        && !lexicon::is_of_vocabulary(lower)
        && !place_lists::is_place(lower)
}

/// Units of doses and sizes.
static UNITS: WordList = WordList::spaced(
    "mg mcg ug g gr ml mmol meq mm cm fr ui iu u unit units unidades gotas drops puffs tab tabs tablet tablets caps \
     comprimidos capsulas sobres ampollas mg/ml",
);

/// A unit: an amount precedes it.
pub(crate) fn is_unit(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|unit| UNITS.contains(context.lower(unit)))
}

/// A number and a unit: "0.35 mg".
pub(crate) fn is_dosed(context: &DocumentContext<'_>, at: usize) -> bool {
    let number = |at: &usize| {
        let token = context.tokens.get(*at);
        token
            .is_some_and(|token| token.kind == TextTokenKind::Number || matches!(context.plain(token), "." | "," | "/"))
    };
    let parts = (at..at + 5).take_while(number).count();
    parts > 0 && is_unit(context, at + parts)
}

/// "type 4", "categoria 2", "grade C": what classes things and not people.
fn is_classed(context: &DocumentContext<'_>, at: usize) -> bool {
    static CLASSES: WordList = WordList::listed(word_tables::ENTITIES, "eponyms.classes");
    let class = context.tokens.get(at).is_some_and(|token| CLASSES.contains(context.lower(token)));
    let value = |token: &super::super::token::TextToken| {
        token.kind == TextTokenKind::Number || token.span.len() == 1 || is_roman(context.lower(token))
    };
    class && context.tokens.get(at + 1).is_some_and(value)
}

/// "II", "IIb", "iva": a grade of two letters or more.
fn is_roman(lower: &str) -> bool {
    if matches!(lower, "via" | "vid" | "vie" | "if" | "id") {
        return false;
    }
    let bare = lower.strip_suffix(['a', 'b', 'c', 'd', 'e', 'f']).unwrap_or(lower);
    matches!(bare, "ii" | "iii" | "iv" | "vi" | "vii") || lower.len() == 2 && bare == "i"
}

/// "IIb": no person is called so.
pub(crate) fn is_subgrade(lower: &str) -> bool {
    is_roman(lower) && lower.ends_with(['a', 'b', 'c', 'd', 'e', 'f'])
}

/// One word and its class, its Roman grade ("Rome IV") or, where it begins a sentence, its dose. People are called "Henry
/// IV" too: not those whose name many have.
fn is_classed_or_dosed(context: &DocumentContext<'_>, first: usize, next: usize) -> bool {
    let roman = context.tokens.get(next).is_some_and(|token| token.is_capitalized() && is_roman(context.lower(token)));
    let dosed = || begins_sentence(context, first) && is_dosed(context, next);
    is_classed(context, next) || (roman || dosed()) && !is_everyday_name(context, first)
}

/// "Austin Moore prosthesis" after "Austin": the second of two names, and the thing after it.
fn is_first_of_two(context: &DocumentContext<'_>, next: usize) -> bool {
    let large = context.tokens.get(next).is_some_and(|token| token.case == LetterCase::Title);
    let thing = context.tokens.get(next + 1).is_some_and(|token| is_after(context.lower(token)));
    large && thing && context.touches(next - 1, next) && context.touches(next, next + 1)
}

/// True where a grade, score or stage follows: "Hunt and Hess 3", "Rome IV".
pub(crate) fn is_graded(context: &DocumentContext<'_>, end: usize) -> bool {
    const GRADES: &[&str] = &[
        "i", "ii", "iii", "iv", "v", "vi", "ia", "ib", "iia", "iib", "iif", "iiia", "iiib", "grado", "grade", "stage",
        "estadio", "level", "score",
    ];
    let Some(token) = context.tokens.get(end) else { return false };
    match token.kind {
        TextTokenKind::Number => token.span.len() <= 2,
        TextTokenKind::Word => {
            let lower = context.lower(token);
            GRADES.contains(&lower) && (lower.len() > 3 || token.is_capitalized() && lower != "i")
        }
        _ => false,
    }
}

/// Whether a run of tokens is the name of a clinical thing.
pub(crate) fn denotes_thing(context: &DocumentContext<'_>, first: usize, last: usize) -> bool {
    let word = |at: Option<usize>| {
        at.and_then(|at| context.tokens.get(at)).map(|token| context.lower(token)).unwrap_or_default()
    };
    let mut next = last + 1;
    if word(Some(next)) == "'" {
        next += 1;
    }
    if word(Some(next)) == "s" {
        next += 1;
    }
    if is_owned(context, last) {
        return is_thing_noun(word(Some(last + 1)));
    }
    if is_after(word(Some(next))) || word(Some(last)).ends_with("'s") && is_after(word(Some(last + 1))) {
        return true;
    }
    if is_part_of_a_thing(context, next)
        || is_first_of_two(context, next)
        || is_subgrade(word(Some(next)))
        || first == last && is_classed_or_dosed(context, first, next)
    {
        return true;
    }
    let mut before = first.checked_sub(1);
    // "enfermedad de von X", "criterios de A y B": back over particles and one other name.
    for _ in 0..5 {
        let at = word(before);
        if is_before(at) {
            return true;
        }
        let skips = matches!(
            at,
            "de" | "del" | "of" | "the" | "la" | "el" | "y" | "and" | "-" | "von" | "(" | "modificada" | "modificado"
        ) || before
            .and_then(|at| context.tokens.get(at))
            .is_some_and(super::super::token::TextToken::is_capitalized);
        if !skips {
            return false;
        }
        before = before.and_then(|at| at.checked_sub(1));
    }
    false
}
