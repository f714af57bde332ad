//! False positives of rules and model for a person, a place or an organisation: abbreviations, relatives, medicines,
//! devices, headings, words of a speaker after a colon.

use super::super::super::document::DocumentContext;
use super::super::super::finding::PiiFinding;
use super::super::super::label;
use super::super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::super::cues::{NameTrigger, PARTICLES, RELATIONS, TITLES, trigger};
use super::super::word_classes::{WordClasses, word_classes};
use super::super::{allowlist, lexicon, person_verbs, places, words};
use super::everyday_speech::{is_everyday_speech, is_opener};
use super::word_forms::{is_short_form, words_of};
use crate::entities::post_filter::stop_words;
use crate::word_tables::{self, WordList};
use anamnesis_text::Language;

/// Most letters of an abbreviation that no list has.
const SHORT: usize = 5;
/// Prepositions before an employer or a destination.
const EMPLOYERS: &[&str] = &["at", "for", "with", "from", "en", "para", "con"];

pub(super) fn names_no_person(context: &DocumentContext<'_>, one: &PiiFinding, (first, end): (usize, usize)) -> bool {
    let announced = trigger(context, first);
    if words_of(context, first, end).next().is_none() {
        return false;
    }
    let all = |is: &dyn Fn(&TextToken) -> bool| words_of(context, first, end).all(is);
    if all(&|token| is_contraction(context.lower(token))) || is_hyphenated_letter(context, first, end) {
        return true;
    }
    let opener = |token: &TextToken| {
        let lower = context.lower(token);
        stop_words::opens(context.language, lower) && !words::is_everyday_name(lower)
    };
    if one.label == label::PERSON
        && end - first > 1
        && all(&opener)
        && words_of(context, first, end).any(TextToken::is_capitalized)
    {
        return true;
    }
    if one.recognizer == "field" {
        let medicine = all(&|token| stop_words::is_medicine(context.lower(token)));
        let told = context.tokens.get(end).is_some_and(|next| stop_words::is_medicine(context.lower(next)));
        if medicine || one.label != label::PERSON || !told && !is_spoken(context, first) {
            return medicine;
        }
        // "DOCTOR: Toma Sintrom": a medicine follows no name.
        if context.tokens.get(end).is_some_and(|next| stop_words::is_medicine(context.lower(next))) {
            return true;
        }
        let known = |token: &TextToken| lexicon::word(context.lower(token)).is_strong();
        if is_followed_by_small(context, end) && !words_of(context, first, end).any(known) {
            return true;
        }
    }
    if one.recognizer == "name_inverted"
        && words_of(context, first, end).any(|token| stop_words::opens(context.language, context.lower(token)))
    {
        return true;
    }
    if is_scale(context, first) {
        return true;
    }
    if announced == NameTrigger::Strong {
        // "Padre HTA": who is a title is a relative too.
        let kin = first.checked_sub(1).is_some_and(|at| RELATIONS.contains(context.lower(&context.tokens[at])));
        let short = |at: usize| !context.tokens[at].is_word() || is_abbreviated(context, one, at);
        // "Female therapist PLEASE": a word in capitals after a trade in lower case.
        let loud = first > 0
            && end - first == 1
            && context.tokens[first - 1].case == LetterCase::Lower
            && context.tokens[first].case == LetterCase::Upper
            && lexicon::is_ordinary(context.lower(&context.tokens[first]))
            && !lexicon::is_name(context.lower(&context.tokens[first]));
        return loud || kin && ((first..end).all(short) || is_relative(context, (first, end)));
    }
    if is_no_name_of_spanish(context, one, (first, end)) {
        return true;
    }
    let organization = one.label == label::ORGANIZATION && is_after_employer(context, first);
    (first..end).all(|at| !context.tokens[at].is_word() || is_abbreviated(context, one, at))
        && !is_of_an_address(context, first)
        || is_one_sided(context, one, (first, end))
        || is_grade(context, one, (first, end))
        || is_heading(context, (first, end))
        || allowlist::hold(context, first, end)
        || is_relative(context, (first, end))
        || is_product(context, (first, end), organization)
        || end - first == 1 && announced != NameTrigger::Relation && is_opener(context, first)
        || is_everyday_speech(context, one, (first, end))
}

/// "Edimburgo 19", "your Edinburgh was 16": a town that a scale is called by, and its points; nothing leads to a place.
fn is_scale(context: &DocumentContext<'_>, first: usize) -> bool {
    const REACH: usize = 3;
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let placed =
        first > 0 && matches!(word(first - 1), "en" | "in" | "de" | "from" | "to" | "desde" | "near" | "hasta");
    let points = (first + 1..=first + REACH).any(|at| {
        context.tokens.get(at).is_some_and(|token| token.kind == TextTokenKind::Number && token.span.len() <= 2)
            || matches!(word(at), "score" | "scale" | "escala" | "puntaje" | "pts" | "epds")
    });
    matches!(word(first), "edimburgo" | "edinburgh" | "eva" | "zung" | "barthel" | "norton" | "glasgow")
        && !placed
        && points
}

/// Words of Spanish that are names in other languages: "Una", "Te", "ella".
fn is_no_name_of_spanish(context: &DocumentContext<'_>, one: &PiiFinding, (first, end): (usize, usize)) -> bool {
    const WORDS: &[&str] = &[
        "una", "te", "se", "lo", "le", "y", "ella", "el", "hara", "alla", "aca", "ahi", "esa", "ese", "eso", "meta",
        "linea", "ojala",
    ];
    let word = |at: usize| context.lower(&context.tokens[at]);
    // "mi gata", "la meta de correr": a thing of a person's in lower case.
    let owned = one.label == label::LOCATION
        && end - first == 1
        && first > 0
        && context.tokens[first].case == LetterCase::Lower
        && matches!(word(first - 1), "mi" | "tu" | "su" | "un" | "una" | "my" | "his" | "her" | "our");
    let goal = word(first) == "meta" && context.tokens[first].case == LetterCase::Lower;
    owned
        || goal
        || context.language == Language::Spanish
            && end - first == 1
            && (WORDS.contains(&word(first))
                || matches!(word(first), "viva" | "vivo" | "sana" | "sano" | "muerta" | "muerto"))
            && !(WORDS.contains(&word(first)) && first > 0 && context.plain(&context.tokens[first - 1]) == "(")
}

/// "Patient: Look.", "Médico: Bueno.": the colon of a speaker, and more text after the word.
fn is_spoken(context: &DocumentContext<'_>, first: usize) -> bool {
    static SPEAKERS: WordList = WordList::listed(word_tables::ENTITIES, "names.speakers");
    let before = |by: usize| first.checked_sub(by).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let goes_on =
        context.tokens.get(first + 1).is_some_and(|sign| matches!(context.plain(sign), "." | "," | "!" | "?" | ";"))
            && context.tokens.get(first + 2).is_some_and(|next| next.kind != TextTokenKind::Break);
    let small = (first + 1..first + 4).any(|at| is_followed_by_small(context, at));
    before(1) == ":" && SPEAKERS.contains(before(2)) && (goes_on || small)
}

/// A lower-case word that is inside no name follows on the line.
fn is_followed_by_small(context: &DocumentContext<'_>, end: usize) -> bool {
    context.tokens.get(end).is_some_and(|next| {
        next.is_word()
            && next.case == LetterCase::Lower
            && !PARTICLES.contains(context.lower(next))
            && context.touches(end - 1, end)
    })
}

/// "META: …": an ordinary word in capitals and its colon.
fn is_heading(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let token = &context.tokens[first];
    let colon = context.tokens.get(end).is_some_and(|sign| context.plain(sign) == ":");
    end - first == 1
        && token.case == LetterCase::Upper
        && colon
        && person_verbs::begins_sentence(context, first)
        && (lexicon::is_ordinary_in(context.language, context.lower(token)) || HEADINGS.contains(&context.lower(token)))
}

const HEADINGS: &[&str] = &["meta", "metas", "plan", "goal", "goals"];

/// "hepatitis C", "Dukes B": one letter after a word that is no name and no title.
fn is_grade(context: &DocumentContext<'_>, one: &PiiFinding, (first, end): (usize, usize)) -> bool {
    let letter = end - first == 1 && context.tokens[first].span.len() == 1;
    let Some(before) = first.checked_sub(1).map(|at| &context.tokens[at]) else { return false };
    let lower = context.lower(before);
    letter
        && one.label == label::PERSON
        && before.case == LetterCase::Lower
        && !TITLES.contains(lower)
        && !RELATIONS.contains(lower)
        && lexicon::is_ordinary_in(context.language, lower)
        && lower.len() > 3
        && !matches!(lower, "patient" | "paciente" | "client" | "called" | "named")
}

/// "works for Uber", "at the Amazon warehouse".
pub(super) fn is_after_employer(context: &DocumentContext<'_>, first: usize) -> bool {
    let before = |by: usize| first.checked_sub(by).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    EMPLOYERS.contains(&before(1))
        || matches!(before(1), "the" | "el" | "la" | "un" | "una" | "a" | "an") && EMPLOYERS.contains(&before(2))
}

/// "Eureka, CA 95501": two letters after a comma and before a code.
fn is_of_an_address(context: &DocumentContext<'_>, first: usize) -> bool {
    let code =
        context.tokens.get(first + 1).is_some_and(|token| token.kind == TextTokenKind::Number && token.span.len() == 5);
    code && context.tokens[first].span.len() == 2
}

/// "Nan – anaemia", "tío pat.", "Mum": relatives in short. A word that is a first name too needs a dash or a colon after it.
fn is_relative(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let sign = context.tokens.get(end).map(|token| context.plain(token)).unwrap_or_default();
    let listed = matches!(sign, "-" | "–" | "—" | ":")
        && context
            .tokens
            .get(end)
            .is_some_and(|token| token.span.start > context.tokens[end - 1].span.end || sign == ":");
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let sided = words_of(context, first, end).count() == 1
        && matches!(word(first), "mat" | "pat")
        && (RELATIONS.contains(word(end)) || first > 0 && RELATIONS.contains(word(first - 1)));
    sided
        || words_of(context, first, end).all(|token| {
            let lower = context.lower(token);
            let bare =
                lower.strip_suffix("'s").or_else(|| lower.split_once('\'').map(|(word, _)| word)).unwrap_or(lower);
            let known = stop_words::is_kin(bare) || RELATIONS.contains(bare);
            known && (listed || !lexicon::word(bare).given && !(token.is_capitalized() && lexicon::word(bare).surname))
        })
}

/// "GERD", "HFrEF", "SatO2": a listed abbreviation, or up to five capital letters that no list of names has. Organisations are called
/// by letters too.
fn is_abbreviated(context: &DocumentContext<'_>, one: &PiiFinding, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if stop_words::is_abbreviation(lower) {
        return is_short_form(context, at)
            || lower.len() > 2 && token.case == LetterCase::Upper && !context.tokens[at].is_capitalized();
    }
    let known = lexicon::word(lower).is_name() || places::is_place(lower);
    one.label != label::ORGANIZATION
        && token.case == LetterCase::Upper
        && is_short_form(context, at)
        && (2..=SHORT).contains(&token.span.len())
        && !known
}

/// "R TKA", "L CT": a letter for a side and an abbreviation; the letter alone, before one.
fn is_one_sided(context: &DocumentContext<'_>, one: &PiiFinding, (first, end): (usize, usize)) -> bool {
    let side = |at: usize| matches!(context.lower(&context.tokens[at]), "l" | "r" | "b" | "d" | "i");
    let short =
        |at: usize| context.tokens.get(at).is_some_and(|token| token.is_word() && is_abbreviated(context, one, at));
    if !side(first) || context.tokens[first].span.len() != 1 {
        return false;
    }
    match end - first {
        1 => short(first + 1),
        _ => (first + 1..end).all(|at| !context.tokens[at].is_word() || short(at)),
    }
}

/// "Z-Pak", "K-Dur", "C-SSRS", "Sando-K": one letter that a hyphen joins to a word is no name.
pub(super) fn is_hyphenated_letter(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
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
fn is_product(context: &DocumentContext<'_>, (first, end): (usize, usize), organization: bool) -> bool {
    let medicine = |token: &TextToken| stop_words::is_medicine(context.lower(token));
    let thing = |token: &TextToken| !organization && stop_words::is_thing(context.lower(token));
    let named = |token: &TextToken| {
        let word = lexicon::word(context.lower(token));
        word.is_strong() && token.span.len() > 2
    };
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let formed = context.touches(end - 1, end) && stop_words::is_form(word(end)) && !word(end - 1).ends_with("'s");
    if formed && end - first == 1 && !lexicon::word(word(first)).given {
        return true;
    }
    if words_of(context, first, end).count() > 2 {
        return false;
    }
    words_of(context, first, end).any(|token| medicine(token) || thing(token))
        && !words_of(context, first, end).filter(|token| !medicine(token) && !thing(token)).any(named)
}

/// "I'll", "They've", "Everyone's": no name is written so.
fn is_contraction(lower: &str) -> bool {
    let endings = ["'ll", "'ve", "'re", "'m", "n't"];
    let has = [
        "he",
        "she",
        "it",
        "that",
        "there",
        "who",
        "what",
        "everyone",
        "everybody",
        "nobody",
        "somebody",
        "someone",
        "i",
        "they",
        "we",
        "you",
        "mum",
        "dad",
    ];
    endings.iter().any(|ending| lower.ends_with(ending))
        || lower.strip_suffix("'s").or_else(|| lower.strip_suffix("'d")).is_some_and(|word| {
            has.contains(&word) || word.ends_with("day") && word_classes(word).has(WordClasses::MONTH)
        })
}
