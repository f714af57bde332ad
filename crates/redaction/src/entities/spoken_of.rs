//! What people write around a name that no list need know: a greeting that ends behind it, an article of speech, an age behind it in
//! brackets, the post of whoever signs a shift.

use super::super::context::Context;
use super::super::fast::WordList;
use super::super::token::{Case, Kind};
use super::{cue_lists, deeds, informal, lexicon};

/// Posts in capitals: "DUE M. Carrascal", "AM RN (Bek)". In small letters they are words, or mean something else.
const POSTS: &[&str] = &["due", "rn", "rpn", "lpn", "rmn", "cpn", "hca", "tcae", "tens", "eir", "mir"];
/// What begins a greeting: the last word of it.
const GREETINGS: &[&str] =
    &["hola", "hi", "hello", "hey", "dias", "tardes", "noches", "morning", "afternoon", "evening"];
/// Who is greeted without a name.
static GREETED: WordList = WordList::spaced(
    "doctor doctora doc dra dr everyone everybody all team folks guys chicos chicas todos todas buenas buenos senora senor senorita \
     mama papa mum mom dad mate love dear sir madam nurse there again amigo amiga profe corazon guapa guapo hijo hija cielo carino \
     sarge coach bienvenida bienvenido welcome gracias thanks yes si no come pase adelante how que como what good",
);
/// Pronouns before a verb: "El Benja me dice".
const TO_SOMEBODY: &[&str] = &["me", "te", "le", "se", "nos", "les", "ya", "no"];

/// "Hola, Julieta.", "Buenos días, Pilar.": a greeting, and one word with a large letter that ends with it.
pub(super) fn is_greeted(context: &Context<'_>, at: usize) -> bool {
    let before =
        at.checked_sub(1).map(|before| if plain(context, before) == "," { before.wrapping_sub(1) } else { before });
    let Some(before) = before.filter(|before| *before < at) else { return false };
    is_title(context, at)
        && GREETINGS.contains(&lower(context, before))
        && matches!(plain(context, at + 1), "," | "." | "!" | "?")
        && !GREETED.contains(lower(context, at))
}

/// "(Rubén, 19; Alba, 14)": each is a person with an age.
pub(super) fn is_aged(context: &Context<'_>, at: usize) -> bool {
    let opens = at.checked_sub(1).is_some_and(|before| matches!(plain(context, before), "(" | ";"));
    let age = context.tokens.get(at + 2).is_some_and(|token| token.kind == Kind::Number && token.span.len() <= 2);
    opens
        && is_title(context, at)
        && plain(context, at + 1) == ","
        && age
        && matches!(plain(context, at + 3), ";" | ")")
}

/// "DUE M. Carrascal", "AM RN (Bek)".
pub(super) fn is_posted(context: &Context<'_>, at: usize, before: usize, sign: &str) -> bool {
    matches!(sign, "" | "(")
        && context.tokens[before].case == Case::Upper
        && POSTS.contains(&lower(context, before))
        && (is_title(context, at) || is_initial(context, at) && is_title(context, at + 2))
        && !deeds::does(lower(context, at))
        && !cue_lists::OPENERS.contains(lower(context, at))
}

/// "El Benja me dice", "La Mercedes, mi mujer", "el Jostin tiene diecisiete": Spanish speech puts an article before a name. What no
/// list has must do what people do.
pub(super) fn is_spoken_of(context: &Context<'_>, at: usize) -> bool {
    let article = at.checked_sub(1).map(|before| lower(context, before)).unwrap_or_default();
    if !matches!(article, "el" | "la" | "al") || !is_title(context, at) {
        return false;
    }
    let word = lower(context, at);
    if !lexicon::word(word).given && !informal::is_unknown_large(word) {
        return false;
    }
    let (next, then) = (lower(context, at + 1), lower(context, at + 2));
    let years = next == "tiene"
        && (lexicon::is_ordinary(then) || context.tokens.get(at + 2).is_some_and(|token| token.kind == Kind::Number));
    let relative =
        next == "," && matches!(then, "mi" | "su" | "tu") && cue_lists::RELATIONS.contains(lower(context, at + 3));
    TO_SOMEBODY.contains(&next) && !matches!(then, "" | ".") || deeds::does(next) || years || relative
}

/// "M.", of "M. Carrascal".
fn is_initial(context: &Context<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|token| token.is_large() && token.span.len() == 1)
        && plain(context, at + 1) == "."
}

fn is_title(context: &Context<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|token| token.case == Case::Title && token.span.len() > 2)
}

fn lower<'a>(context: &'a Context<'_>, at: usize) -> &'a str {
    context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default()
}

fn plain<'a>(context: &'a Context<'_>, at: usize) -> &'a str {
    context.tokens.get(at).map(|token| context.plain(token)).unwrap_or_default()
}
