//! What rules and the model took for a name, a place, a house, a street or a number and is a word of the clinic or of
//! speech goes back into the text: what is taken wrongly takes its meaning with it. What the message names, check digits
//! and an organisation's own recognisers are not questioned.

use super::super::super::context::Context;
use super::super::super::finding::{Finding, Layer};
use super::super::super::label;
use super::super::super::token::{Case, Kind, Token};
use super::super::cues::{RELATIONS, Trigger, trigger};
use super::super::traits::{Traits, traits};
use super::super::{deeds, lexicon, places, words};
use crate::dlp::deadline;
use crate::text::{Language, Span};

/// Most letters of an abbreviation that no list has.
const SHORT: usize = 5;
/// Years that stand alone in texts.
const YEARS: std::ops::RangeInclusive<u32> = 1940..=2039;
/// What leads to the house that somebody works for or goes to.
const EMPLOYERS: &[&str] = &["at", "for", "with", "from", "en", "para", "con"];

/// Takes back what is a word of the clinic or of speech, and cuts such words off the ends of what is not.
pub fn tidy(context: &Context<'_>, found: &mut Vec<Finding>) {
    for one in found.iter_mut().filter(|one| is_questioned(one)) {
        deadline::check();
        one.span = trimmed(context, one);
    }
    found.retain(|one| {
        deadline::check();
        !one.span.is_empty() && !(is_questioned(one) && is_no_data(context, one))
    });
}

/// Lists and the model are questioned; a name of the message, a check digit or a keyword are not.
fn is_questioned(one: &Finding) -> bool {
    let learned = one.recognizer == "learned";
    match one.label {
        label::PERSON | label::LOCATION | label::ORGANIZATION | label::ADDRESS => one.layer == Layer::Entity,
        label::VEHICLE_ID => one.recognizer == "plate",
        label::DATE | label::MEDICAL_RECORD | label::NUMBER | label::EMAIL => learned,
        _ => false,
    }
}

/// The tokens under a span.
fn range(context: &Context<'_>, span: Span) -> std::ops::Range<usize> {
    let first = context.tokens.partition_point(|token| token.span.end <= span.start);
    let end = context.tokens.partition_point(|token| token.span.start < span.end);
    first..end
}

/// "TAVR 2021" is a year, "Nan – OCD" a relative and "Z-Pak. HLD" two words: what stands at the edges of a finding and is
/// a word of the clinic is no part of it.
fn trimmed(context: &Context<'_>, one: &Finding) -> Span {
    let tokens = range(context, one.span);
    let (mut first, mut end) = (tokens.start, tokens.end);
    let edge = |at: usize| {
        let token = &context.tokens[at];
        let lower = context.lower(token);
        match one.label {
            label::DATE => is_short_form(context, token) && !is_time(lower),
            label::PERSON | label::LOCATION | label::ORGANIZATION => {
                is_short_form(context, token) && super::is_abbreviation(lower) || super::is_medicine(lower)
            }
            _ => false,
        }
    };
    if end - first < 2 || !(first..end).any(edge) {
        return one.span;
    }
    let sign = |at: usize| context.tokens[at].kind == Kind::Sign;
    while first < end && (edge(first) || sign(first)) {
        first += 1;
    }
    while end > first && (edge(end - 1) || sign(end - 1)) {
        end -= 1;
    }
    if first == end {
        return one.span;
    }
    Span::new(context.tokens[first].span.start.max(one.span.start), context.tokens[end - 1].span.end.min(one.span.end))
}

fn is_time(lower: &str) -> bool {
    let known = traits(lower);
    known.has(Traits::MONTH) || known.has(Traits::NUMBER)
}

/// Large letters alone in a text that has small ones.
fn is_short_form(context: &Context<'_>, token: &Token) -> bool {
    token.is_word() && (token.case == Case::Upper || token.case == Case::Other) && !context.no_case()
}

/// Whether a finding is a word of the clinic or of speech.
fn is_no_data(context: &Context<'_>, one: &Finding) -> bool {
    let tokens = range(context, one.span);
    if tokens.is_empty() {
        return false;
    }
    let (first, end) = (tokens.start, tokens.end);
    match one.label {
        label::PERSON | label::LOCATION | label::ORGANIZATION => names_nobody(context, one, (first, end)),
        label::ADDRESS => is_measure(context, (first, end)),
        label::VEHICLE_ID => is_plate_of_the_trade(context, (first, end)),
        label::EMAIL => !is_mail(context, (first, end)),
        label::MEDICAL_RECORD | label::NUMBER => {
            is_no_number(context, (first, end)) || is_measure(context, (first, end))
        }
        _ => false,
    }
}

fn words_of<'a>(context: &'a Context<'_>, first: usize, end: usize) -> impl Iterator<Item = &'a Token> + Clone {
    context.tokens[first..end].iter().filter(|token| token.kind == Kind::Word)
}

fn names_nobody(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    let before = first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let announced = trigger(context, first) == Trigger::Strong;
    let all = |is: &dyn Fn(&Token) -> bool| {
        words_of(context, first, end).next().is_some() && words_of(context, first, end).all(is)
    };
    if all(&|token| is_contraction(context.lower(token))) || is_hyphenated_letter(context, first, end) {
        return true;
    }
    if announced {
        return false;
    }
    let house = one.label == label::ORGANIZATION && EMPLOYERS.contains(&before);
    let kin = |token: &Token| {
        let lower = context.lower(token);
        let bare = lower.strip_suffix("'s").or_else(|| lower.split_once('\'').map(|(word, _)| word)).unwrap_or(lower);
        super::is_kin(bare) || RELATIONS.contains(bare)
    };
    all(&|token| is_abbreviated(context, token))
        || is_one_sided(context, first, end)
        || all(&kin)
        || is_product(context, (first, end), house)
        || end - first == 1 && is_opener(context, first)
        || is_everyday_speech(context, one, (first, end))
}

/// "GERD", "HFrEF", "SatO2": a listed abbreviation, or up to five large letters that no list of names has.
fn is_abbreviated(context: &Context<'_>, token: &Token) -> bool {
    let lower = context.lower(token);
    if super::is_abbreviation(lower) && (is_short_form(context, token) || token.case == Case::Upper && lower.len() > 2) {
        return true;
    }
    let known = lexicon::word(lower).is_name() || places::is_place(lower);
    is_short_form(context, token) && token.span.len() <= SHORT && token.span.len() > 1 && !known
}

/// "R TKA", "L CT": a letter for a side and an abbreviation.
fn is_one_sided(context: &Context<'_>, first: usize, end: usize) -> bool {
    let side = |token: &Token| token.span.len() == 1 && matches!(context.lower(token), "l" | "r" | "b" | "d" | "i");
    let mut all = words_of(context, first, end);
    all.next().is_some_and(side) && all.clone().next().is_some() && all.all(|token| is_abbreviated(context, token))
}

/// "Z-Pak", "K-Dur", "C-SSRS", "Sando-K": one letter that a hyphen joins to a word is no name.
fn is_hyphenated_letter(context: &Context<'_>, first: usize, end: usize) -> bool {
    let joined = |at: usize| {
        context.plain(&context.tokens[at]) == "-"
            && at > 0
            && context.tokens[at - 1].span.end == context.tokens[at].span.start
            && context.tokens.get(at + 1).is_some_and(|next| next.span.start == context.tokens[at].span.end)
    };
    let around = first.saturating_sub(1)..(end + 1).min(context.tokens.len());
    let letter = |at: usize| context.tokens.get(at).is_some_and(|token| token.is_word() && token.span.len() == 1);
    let word = |at: usize| context.tokens.get(at).is_some_and(|token| token.is_word() && token.span.len() > 1);
    let mut hyphens = around.filter(|at| joined(*at));
    hyphens.any(|at| letter(at - 1) && word(at + 1) || word(at - 1) && letter(at + 1))
        && !words_of(context, first, end).any(|token| lexicon::word(context.lower(token)).given)
}

/// A medicine, a device, a service or a game.
fn is_product(context: &Context<'_>, (first, end): (usize, usize), house: bool) -> bool {
    let medicine = |token: &Token| super::is_medicine(context.lower(token));
    let thing = |token: &Token| !house && super::is_thing(context.lower(token));
    let named = |token: &Token| {
        let word = lexicon::word(context.lower(token));
        word.is_strong() && token.span.len() > 2
    };
    words_of(context, first, end).any(|token| medicine(token) || thing(token))
        && !words_of(context, first, end).filter(|token| !medicine(token) && !thing(token)).any(named)
}

/// "I'll", "They've", "Everyone's": no name is written so.
fn is_contraction(lower: &str) -> bool {
    let endings = ["'ll", "'ve", "'re", "'m", "n't"];
    let has = ["he", "she", "it", "that", "there", "who", "what", "everyone", "everybody", "nobody", "somebody", "someone"];
    endings.iter().any(|ending| lower.ends_with(ending))
        || lower.strip_suffix("'s").or_else(|| lower.strip_suffix("'d")).is_some_and(|word| {
            has.contains(&word) || word.ends_with("day") && traits(word).has(Traits::MONTH)
        })
}

/// One word with which people begin to speak or a note begins a sentence. A word that is a first name too must be
/// followed by a sign, as "Dale," and "Mira." are.
fn is_opener(context: &Context<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if super::is_nobody(lower) && !deeds::acts(context, at) {
        return true;
    }
    let begins = deeds::begins_sentence(context, at)
        || at.checked_sub(1).is_some_and(|before| {
            matches!(context.plain(&context.tokens[before]), "¿" | "¡" | "," | ":" | ";" | "-" | "\"" | "(" | "«" | "'" | "–" | "/")
        });
    let signed = context.tokens.get(at + 1).is_none_or(|next| {
        next.kind == Kind::Break || matches!(context.plain(next), "," | "." | "!" | "?" | ":" | "…" | ";")
    });
    let known = lexicon::word(lower);
    if super::opens(context.language, lower) {
        let everyday = words::is_everyday_name(lower);
        return match (known.given, everyday) {
            (true, true) => begins && signed && context.language == Language::Spanish && !is_called(context, at),
            (true, false) => begins && (signed || context.language == Language::Spanish) || !token.is_large(),
            (false, _) => true,
        };
    }
    begins && context.language == Language::Spanish && !known.given && super::is_verb(lower)
}

/// "Hola, Dale", "Gracias, Mira": a greeting before it, and nothing behind it but the end.
fn is_called(context: &Context<'_>, at: usize) -> bool {
    let end = context.tokens.get(at + 1).is_none_or(|next| matches!(context.plain(next), "." | "!") || next.kind == Kind::Break);
    end && at > 0 && context.plain(&context.tokens[at - 1]) == ","
}

/// "hang myself", "la navajita del sacapuntas": words of every day in small letters, none of which a list of names or
/// places has, with nothing before them that leads to a name.
fn is_everyday_speech(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    if one.recognizer != "learned" || trigger(context, first) != Trigger::None {
        return false;
    }
    let small = words_of(context, first, end).all(|token| token.case == Case::Lower);
    let ordinary = |token: &Token| {
        let lower = context.lower(token);
        let known = lexicon::word(lower);
        !known.is_strong()
            && (lexicon::is_ordinary_in(context.language, lower)
                || lexicon::is_rare(lower)
                || lower.len() <= 3
                || super::opens(context.language, lower)
                || context.language != Language::English && is_word_of_spanish(lower))
    };
    let leads = first.checked_sub(1).is_some_and(|before| {
        matches!(context.lower(&context.tokens[before]), "at" | "from" | "with" | "by" | "for" | "near" | "in" | "en" | "de")
    });
    let own = one.label == label::ORGANIZATION && leads && !words_of(context, first, end).any(|token| is_of_oneself(context.lower(token)));
    small && !own && words_of(context, first, end).next().is_some() && words_of(context, first, end).all(ordinary)
}

/// A form of a verb, a small form of a noun ("navajita") or a plural.
fn is_word_of_spanish(lower: &str) -> bool {
    let ordinary = |word: &str| lexicon::is_ordinary_in(Language::Spanish, word);
    let small = ["ita", "ito", "itas", "itos"].iter().filter_map(|ending| lower.strip_suffix(ending));
    let mut of = small.flat_map(|stem| ["a", "o", "e"].map(|ending| format!("{stem}{ending}")));
    super::is_verb(lower)
        || of.any(|word| ordinary(&word))
        || lower.strip_suffix("es").or_else(|| lower.strip_suffix('s')).is_some_and(ordinary)
}

fn is_of_oneself(lower: &str) -> bool {
    matches!(lower, "myself" | "yourself" | "himself" | "herself" | "ourselves" | "themselves" | "me" | "mi" | "su" | "tu" | "my" | "his" | "her")
        || ["arme", "erme", "irme", "arse", "erse", "irse", "arte"].iter().any(|ending| lower.ends_with(ending))
}

/// "69 BP 187", "62 RR 12 sats 91": figures and what they measure, or a medicine and its amount; no street among them.
fn is_measure(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let mut any = false;
    let only = words_of(context, first, end).all(|token| {
        let lower = context.lower(token);
        let measured = super::is_abbreviation(lower) && (token.case != Case::Title || token.span.len() < 3)
            || super::is_medicine(lower)
            || MEASURES.contains(&lower);
        any |= measured;
        measured || token.span.len() == 1
    });
    any && only || is_lone_year(context, (first, end))
}

const MEASURES: &[&str] = &[
    "bp", "hr", "rr", "pr", "temp", "sats", "sat", "spo", "sao", "sato", "pulse", "weight", "height", "wt", "ht", "gcs", "glasgow", "ta", "fc",
    "fr", "pa", "pas", "pad", "peso", "talla", "imc", "bmi", "afebril", "afebrile", "mmhg", "lpm", "bpm", "kg", "cm", "ra", "aa", "temperatura",
    "tension", "frecuencia", "pulso", "obs", "sv", "vs", "eva", "nrs", "ews", "news", "mews", "basal", "on", "air", "o", "t",
];

/// One number of four digits that is a year of today, or a word of time with it.
fn is_lone_year(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let [token] = &context.tokens[first..end] else { return false };
    token.kind == Kind::Number && context.lower(token).parse().is_ok_and(|year: u32| YEARS.contains(&year))
}

/// "2023 PTR": a year and an operation look like a number plate.
fn is_plate_of_the_trade(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let trade = words_of(context, first, end).any(|token| super::is_abbreviation(context.lower(token)));
    let number = context.tokens[first..end].iter().find(|token| token.kind == Kind::Number);
    let year = number.is_some_and(|token| context.lower(token).parse().is_ok_and(|year: u32| YEARS.contains(&year)));
    trade && year
}

/// A mail address has its sign or says it.
fn is_mail(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let said = |token: &Token| matches!(context.lower(token), "@" | "arroba" | "at" | "dot" | "punto" | "." | "gmail" | "hotmail" | "_");
    let medicine = |token: &Token| super::is_medicine(context.lower(token));
    context.tokens[first..end].iter().any(said) && !context.tokens[first..end].iter().any(medicine)
}

/// Fewer than three digits and no number in words, or a score out of another ("41/56").
fn is_no_number(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let tokens = &context.tokens[first..end];
    let digits: usize = tokens.iter().filter(|token| token.kind == Kind::Number).map(|token| token.span.len()).sum();
    let said = tokens.iter().filter(|token| traits(context.lower(token)).has(Traits::NUMBER)).count();
    let fraction = matches!(tokens, [a, sign, b] if a.kind == Kind::Number && context.plain(sign) == "/" && b.kind == Kind::Number && a.span.len() < 4 && b.span.len() < 4);
    digits < 3 && said < 2 || fraction
}
