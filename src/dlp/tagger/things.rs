//! Words that read like a name and stand for a scale, a sign, a device or a brand: what lists and grades say of them.

use super::super::context::Context;
use super::super::entities::cues::{RELATIONS, ROLES, TITLES};
use super::super::entities::organisation_lists::FIRST;
use super::super::entities::traits::{Traits, traits};
use super::super::entities::{deeds, eponyms, lexicon};
use super::super::label;
use super::super::token::{Case, Kind, Token};
use super::Learned;
use super::evidence::{FEW, STREETS, words};

/// What a model takes for a person, a place or a house and a reader for a thing.
pub fn is_thing(context: &Context<'_>, one: &Learned) -> bool {
    eponyms::stands_for_a_thing(context, one.first, one.end - 1)
        || eponyms::names_a_thing(context, one.first, one.end)
        || is_graded(context, one)
        || one.end - one.first == 1 && joins_eponym(context, one)
        || eponyms::is_hyphenated(context, one.first, one.end)
        || is_brand(context, one)
        || is_no_person(context, one)
        || is_named_after(context, one)
}

/// "Soplo de Flint", "Arnes de Pavlik" as all that a short text says: an ordinary noun of no person and no house, and the
/// name that it has, no first name and no place.
fn is_named_after(context: &Context<'_>, one: &Learned) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let of = |at: usize| matches!(word(at), "de" | "del");
    let noun = if one.first >= 2 && of(one.first - 1) { one.first - 2 } else { one.first };
    let lower = word(noun);
    let somebody =
        RELATIONS.contains(lower) || TITLES.contains(lower) || ROLES.contains(lower) || FIRST.contains(lower);
    let named = |token: &Token| {
        let known = traits(context.lower(token));
        known.has(Traits::GIVEN) || known.has(Traits::PLACE) || known.has(Traits::COUNTRY)
    };
    of(noun + 1)
        && deeds::begins_sentence(context, noun)
        && lexicon::is_ordinary_in(context.language, lower)
        && !somebody
        && !words(context, one).any(named)
        && context.tokens.iter().filter(|token| token.kind == Kind::Word).count() <= FEW
}

/// "Eve of surgery", "Patience and reassurance": a word that is no everyday name at the beginning of a sentence, and what
/// it is of, or what is said beside it in small letters. People are joined by their large letters and by relations.
pub fn is_quality(context: &Context<'_>, one: &Learned) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let known = traits(word(one.first));
    let next = word(one.end);
    let beside = context.tokens.get(one.end + 1);
    let small = beside.is_some_and(|token| token.case == Case::Lower && token.span.len() > 3);
    let person = RELATIONS.contains(word(one.end + 1)) || ROLES.contains(word(one.end + 1));
    let noun = || lexicon::is_noun(word(one.end + 1)) && !person;
    one.finding.label == label::PERSON
        && one.end - one.first == 1
        && !context.no_case
        && deeds::begins_sentence(context, one.first)
        && !known.has(Traits::EVERYDAY_NAME)
        && small
        && (next == "of" || next == "and" && noun())
}

/// "AOx3, MAE, PERRLA": up to four large letters between commas, beside another abbreviation.
pub fn is_abbreviated(context: &Context<'_>, one: &Learned) -> bool {
    let upper = |at: Option<usize>| {
        at.and_then(|at| context.tokens.get(at)).is_some_and(|token| token.case == Case::Upper && token.is_word())
    };
    let comma =
        |at: Option<usize>| at.and_then(|at| context.tokens.get(at)).is_some_and(|token| context.plain(token) == ",");
    let (before, behind) = (one.first.checked_sub(1), Some(one.end));
    let known = |token: &Token| traits(context.lower(token)).has(Traits::SURNAME);
    one.end - one.first == 1
        && !context.no_case
        && context.tokens[one.first].case == Case::Upper
        && context.tokens[one.first].span.len() <= 4
        && !words(context, one).any(known)
        && (comma(before) && upper(one.first.checked_sub(2)) || comma(behind) && upper(Some(one.end + 1)))
}

/// "Bair Hugger", "Lotrimin AF": one of the words is a brand. Behind "at" or "from" it may be the house that makes it.
fn is_brand(context: &Context<'_>, one: &Learned) -> bool {
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let house = one.finding.label == label::ORGANIZATION && matches!(before, "at" | "from" | "for" | "en" | "de");
    !house && words(context, one).any(|token| lexicon::is_brand(context.lower(token)))
}

/// "Hoyer lift", "Adie tonic pupil": no first name, and the noun behind it that it belongs to.
fn is_no_person(context: &Context<'_>, one: &Learned) -> bool {
    let known = |token: &Token| traits(context.lower(token));
    let many = |token: &Token| known(token).has(Traits::EVERYDAY_NAME) && !known(token).has(Traits::COMMON);
    let given = |token: &Token| known(token).has(Traits::GIVEN) && !known(token).has(Traits::SURNAME) || many(token);
    deeds::is_word_and_noun(context, one.first, one.end) && !words(context, one).any(many)
        || one.finding.label != label::LOCATION
            && !words(context, one).any(given)
            && deeds::leads_a_noun(context, one.first, one.end - 1)
}

/// A grade behind the words, or as their last one: no person or house is called so. A bare number is one behind an eponym
/// or in a text of a few words.
fn is_graded(context: &Context<'_>, one: &Learned) -> bool {
    let given = |token: &Token| traits(context.lower(token)).has(Traits::EVERYDAY_NAME);
    let at = match one.end - one.first > 1 && eponyms::is_graded(context, one.end - 1) {
        true => one.end - 1,
        false => one.end,
    };
    if !eponyms::is_graded(context, at) {
        return false;
    }
    let number = context.tokens.get(at).is_some_and(|token| token.kind == Kind::Number);
    let few = context.tokens.iter().filter(|token| token.kind == Kind::Word).count() <= FEW;
    !number || (few || is_eponymous(context, one)) && !words(context, one).any(given)
}

/// One of the words is an eponym, or stands beside one: "Hunt" of "Hunt and Hess".
fn is_eponymous(context: &Context<'_>, one: &Learned) -> bool {
    let eponym = |token: &Token| lexicon::is_eponym(context.lower(token));
    let joined = context.tokens.get(one.end).is_some_and(|sign| matches!(context.lower(sign), "and" | "y" | "-"));
    words(context, one).any(eponym) || joined && context.tokens.get(one.end + 1).is_some_and(eponym)
}

/// "Hunt and Hess 3", "Ortolani y Barlow": one of two names of a scale or sign.
fn joins_eponym(context: &Context<'_>, one: &Learned) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let joins = |at: usize| matches!(word(at), "and" | "y" | "e" | "or" | "versus" | "vs" | "/");
    let pure = |at: usize| lexicon::is_eponym(word(at)) && !lexicon::word(word(at)).given;
    let graded = lexicon::is_eponym(word(one.end + 1)) && eponyms::is_graded(context, one.end + 2);
    let before = one.first >= 2 && joins(one.first - 1) && pure(one.first - 2);
    joins(one.end) && (graded || pure(one.end + 1)) || before
}

/// What is an address or a date to the model and a scale with its figure to a reader: "Rome IV", "Montgomery-Asberg 22".
pub fn is_scale(context: &Context<'_>, one: &Learned) -> bool {
    let eponym = |token: &Token| lexicon::is_eponym(context.lower(token));
    let mut all = words(context, one).peekable();
    let graded = one.end - one.first == 2 && eponyms::is_graded(context, one.end - 1) && is_roman(context, one.end - 1);
    all.peek().is_some() && all.all(eponym) || graded
}

/// "Rai 2, Binet B": an eponym, and no word of streets.
pub fn is_scale_or_more(context: &Context<'_>, one: &Learned) -> bool {
    words(context, one).any(|token| lexicon::is_eponym(context.lower(token)))
        && !words(context, one).any(|token| STREETS.contains(context.lower(token)))
}

fn is_roman(context: &Context<'_>, at: usize) -> bool {
    context.tokens[at].kind == Kind::Word
}
