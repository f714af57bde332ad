//! What rules and the model took for a name, a place, a house, a street or a number and is a word of the clinic or of
//! speech goes back into the text: what is taken wrongly takes its meaning with it. What the message names, check digits
//! and an organisation's own recognisers are not questioned.

use super::super::super::context::Context;
use super::super::super::finding::{Finding, Layer};
use super::super::super::label;
use super::super::super::token::{Case, Kind, Token};
use super::super::cues::{FUNCTION, PARTICLES, RELATIONS, ROLES, TITLES, Trigger, trigger};
use super::super::organisation_lists::LAST;
use super::super::traits::{Traits, traits};
use super::super::{deeds, lexicon, places, set_phrases, words};
use crate::dlp::deadline;
use crate::text::{Language, Span};

/// Most letters of an abbreviation that no list has.
const SHORT: usize = 5;
/// Years that stand alone in texts.
const YEARS: std::ops::RangeInclusive<u32> = 1940..=2039;
/// Spaces between the fields of a form.
const GAP: usize = 3;
/// What leads to the house that somebody works for or goes to.
const EMPLOYERS: &[&str] = &["at", "for", "with", "from", "en", "para", "con"];

/// Takes back what is a word of the clinic or of speech, and cuts such words off the ends of what is not.
pub fn tidy(context: &Context<'_>, found: &mut Vec<Finding>) {
    for one in found.iter_mut().filter(|one| is_questioned(one)) {
        deadline::check();
        one.span = trimmed(context, one);
        if is_month(context, one) || is_said_year(context, one) {
            one.label = label::DATE;
        }
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

/// "TAVR 2021" is a year, "Nan – OCD" a relative and "GERD Ruiz" a name: what stands at the edges of a finding and is a word
/// of the clinic is no part of it.
fn trimmed(context: &Context<'_>, one: &Finding) -> Span {
    let tokens = range(context, one.span);
    let (mut first, mut end) = (tokens.start, tokens.end);
    let gap = |at: &usize| context.tokens[*at].span.start >= context.tokens[at - 1].span.end + GAP;
    if let (label::PERSON, Some(field)) = (one.label, (first + 1..end).find(gap)) {
        return Span::new(one.span.start, context.tokens[field - 1].span.end);
    }
    let edge = |at: usize| is_edge(context, one, at);
    let all_large = (first..end).all(|at| context.tokens[at].case == Case::Upper);
    if end - first < 2 || !(first..end).any(edge) || all_large {
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
        return if one.label == label::DATE { one.span } else { Span::new(one.span.start, one.span.start) };
    }
    Span::new(context.tokens[first].span.start.max(one.span.start), context.tokens[end - 1].span.end.min(one.span.end))
}

fn is_edge(context: &Context<'_>, one: &Finding, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    let learned = one.recognizer == "learned";
    let clings = at > 0 && context.tokens[at - 1].span.end == token.span.start && context.tokens[at - 1].is_word();
    match (one.label, token.kind) {
        // "DM2 2024".
        (label::DATE, Kind::Number) => learned && clings,
        (label::DATE, Kind::Word) => learned && is_short_form(context, at) && !is_time(lower) && lower.len() > 1,
        (label::PERSON, Kind::Word) => {
            let named = lexicon::word(lower).is_name();
            super::is_abbreviation(lower) && is_short_form(context, at)
                || learned && super::is_medicine(lower)
                || learned && !named && token.span.len() > 1 && token.is_large() && super::opens(context.language, lower)
        }
        _ => false,
    }
}

/// "two thousand eight", "dos mil doce" as the number of a record: the model knows numbers, and not what they count.
fn is_said_year(context: &Context<'_>, one: &Finding) -> bool {
    let text = one.span.of(&context.view.lower);
    let said = ["two thousand ", "nineteen ", "twenty twenty", "dos mil ", "mil novecientos "];
    one.label == label::MEDICAL_RECORD
        && one.recognizer == "learned"
        && said.iter().any(|year| text.starts_with(year))
        && text.split(' ').count() <= 5
}

/// "since June", "before April": a month that is a first name too.
fn is_month(context: &Context<'_>, one: &Finding) -> bool {
    const BEFORE: &[&str] = &[
        "in", "since", "until", "till", "before", "after", "by", "last", "next", "this", "from", "early", "late", "mid", "through", "during", "every",
        "en", "desde", "hasta", "antes", "durante", "para",
    ];
    let tokens = range(context, one.span);
    let before = tokens.start.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    one.label == label::PERSON
        && tokens.len() == 1
        && BEFORE.contains(&before)
        && traits(context.lower(&context.tokens[tokens.start])).has(Traits::MONTH)
}

fn is_time(lower: &str) -> bool {
    const DAYS: &[&str] = &["mon", "tue", "tues", "wed", "weds", "thu", "thur", "thurs", "fri", "sat", "sun", "lun", "mie", "jue", "vie", "sab", "dom"];
    let known = traits(lower);
    known.has(Traits::MONTH) || known.has(Traits::NUMBER) || DAYS.contains(&lower)
}

/// Large letters alone, where the words around are written with small ones.
fn is_short_form(context: &Context<'_>, at: usize) -> bool {
    const AROUND: usize = 40;
    let token = &context.tokens[at];
    if !token.is_word() || !matches!(token.case, Case::Upper | Case::Other) {
        return false;
    }
    let around = at.saturating_sub(AROUND)..(at + AROUND).min(context.tokens.len());
    let words = context.tokens[around].iter().filter(|token| token.is_word() && token.span.len() > 2);
    let (all, small) = words.fold((0, 0), |(all, small), token| (all + 1, small + usize::from(token.case != Case::Upper)));
    let lower = context.lower(token);
    small >= 2 && small * 5 >= all || super::is_abbreviation(lower) && small > 0 || super::is_sure_abbreviation(lower)
}

/// Whether a finding is a word of the clinic or of speech.
fn is_no_data(context: &Context<'_>, one: &Finding) -> bool {
    let tokens = range(context, one.span);
    if tokens.is_empty() {
        return false;
    }
    let (first, end) = (tokens.start, tokens.end);
    if one.recognizer == "learned" && is_of_the_clinic(context, one, (first, end)) {
        return true;
    }
    match one.label {
        label::PERSON | label::LOCATION | label::ORGANIZATION => names_nobody(context, one, (first, end)),
        label::EMAIL => is_no_mail(context, (first, end)),
        label::ADDRESS if one.recognizer == "learned" && is_no_street(context, (first, end)) => true,
        label::ADDRESS => is_measure(context, (first, end)) || one.recognizer == "learned" && is_hyphenated_letter(context, first, end),
        label::VEHICLE_ID => is_plate_of_the_trade(context, (first, end)),
        label::MEDICAL_RECORD | label::NUMBER => {
            is_no_number(context, (first, end)) || is_measure(context, (first, end)) || is_without_figures(context, (first, end))
        }
        _ => false,
    }
}

/// "papá – TLP", "CABG 2011", "Zofran 4, K-Dur 20": words of the clinic, relatives and ordinary words about them, and
/// nobody's name, no long number and no street among them.
fn is_of_the_clinic(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    let lower = |at: usize| context.lower(&context.tokens[at]);
    let clinic = |at: usize| {
        let lower = lower(at);
        super::is_medicine(lower)
            || super::is_abbreviation(lower)
                && is_short_form(context, at)
                && !(one.label == label::ADDRESS && STREETS.contains(&lower))
                && !(one.label == label::MEDICAL_RECORD && CODES.contains(&lower))
    };
    let plain = |at: usize| {
        let token = &context.tokens[at];
        match token.kind {
            Kind::Word => {
                let word = lower(at);
                let known = lexicon::word(word);
                let ordinary = lexicon::is_ordinary_in(context.language, word) && !known.is_strong();
                token.span.len() == 1 || clinic(at) || super::is_kin(word) || matches!(word, "mat" | "pat") || ordinary
            }
            Kind::Number => (token.span.len() < 4 || is_year(lower(at))) && !clings_to_a_word(context, at),
            _ => !matches!(context.plain(token), "@" | "_"),
        }
    };
    let listed = |at: usize| is_apart(context, at) && (first..end).any(|at| super::is_kin(lower(at)) || lower(at).len() == 1);
    let house = one.label == label::ORGANIZATION && is_behind_employer(context, first);
    !house && (first..end).any(|at| clinic(at) || listed(at)) && (first..end).all(plain)
}

/// Written in capitals, these are kinds of streets too.
const STREETS: &[&str] = &["ct", "dr", "st", "pl", "av", "ave", "rd", "cra", "pr", "rm", "sq", "apt", "fl", "ca", "pa", "md", "va", "la", "ms", "al", "ar"];

/// A dash that stands apart.
fn is_apart(context: &Context<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    matches!(context.plain(token), "-" | "–" | "—")
        && at > 0
        && context.tokens[at - 1].span.end < token.span.start
        && context.tokens.get(at + 1).is_some_and(|next| next.span.start > token.span.end)
}

fn words_of<'a>(context: &'a Context<'_>, first: usize, end: usize) -> impl Iterator<Item = &'a Token> + Clone {
    context.tokens[first..end].iter().filter(|token| token.kind == Kind::Word)
}

fn names_nobody(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    let announced = trigger(context, first);
    if words_of(context, first, end).next().is_none() {
        return false;
    }
    let all = |is: &dyn Fn(&Token) -> bool| words_of(context, first, end).all(is);
    if all(&|token| is_contraction(context.lower(token))) || is_hyphenated_letter(context, first, end) {
        return true;
    }
    let opener = |token: &Token| {
        let lower = context.lower(token);
        super::opens(context.language, lower) && !words::is_everyday_name(lower)
    };
    if one.label == label::PERSON && end - first > 1 && all(&opener) && words_of(context, first, end).any(Token::is_large) {
        return true;
    }
    if one.recognizer == "field" {
        let medicine = all(&|token| super::is_medicine(context.lower(token)));
        if medicine || one.label != label::PERSON || !is_spoken(context, first) {
            return medicine;
        }
        let known = |token: &Token| lexicon::word(context.lower(token)).is_strong();
        if is_followed_by_small(context, end) && !words_of(context, first, end).any(known) {
            return true;
        }
    }
    if one.recognizer == "name_inverted" && words_of(context, first, end).any(|token| super::opens(context.language, context.lower(token))) {
        return true;
    }
    if announced == Trigger::Strong {
        return false;
    }
    let house = one.label == label::ORGANIZATION && is_behind_employer(context, first);
    (first..end).all(|at| !context.tokens[at].is_word() || is_abbreviated(context, one, at)) && !is_of_an_address(context, first)
        || is_one_sided(context, one, (first, end))
        || is_grade(context, one, (first, end))
        || is_heading(context, (first, end))
        || set_phrases::hold(context, first, end)
        || is_relative(context, (first, end))
        || is_product(context, (first, end), house)
        || end - first == 1 && announced != Trigger::Relation && is_opener(context, first)
        || is_everyday_speech(context, one, (first, end))
}

/// "Patient: Look.", "Médico: Bueno.": the colon of somebody who speaks, and more than a name behind it.
fn is_spoken(context: &Context<'_>, first: usize) -> bool {
    const SPEAKERS: &[&str] = &[
        "patient", "paciente", "client", "doctor", "doctora", "medico", "medica", "therapist", "terapeuta", "clinician", "nurse", "mother",
        "madre", "father", "padre", "psicologo", "psicologa", "enfermera", "interviewer", "pt", "pte", "dr", "dra",
    ];
    let before = |by: usize| first.checked_sub(by).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let goes_on = context.tokens.get(first + 1).is_some_and(|sign| matches!(context.plain(sign), "." | "," | "!" | "?" | ";"))
        && context.tokens.get(first + 2).is_some_and(|next| next.kind != Kind::Break);
    let small = (first + 1..first + 4).any(|at| is_followed_by_small(context, at));
    before(1) == ":" && SPEAKERS.contains(&before(2)) && (goes_on || small)
}

/// A word in small letters that no name has inside stands next on the line.
fn is_followed_by_small(context: &Context<'_>, end: usize) -> bool {
    context.tokens.get(end).is_some_and(|next| {
        next.is_word() && next.case == Case::Lower && !PARTICLES.contains(context.lower(next)) && context.touches(end - 1, end)
    })
}

/// "META: …": an ordinary word in capitals and its colon.
fn is_heading(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let token = &context.tokens[first];
    let colon = context.tokens.get(end).is_some_and(|sign| context.plain(sign) == ":");
    end - first == 1
        && token.case == Case::Upper
        && colon
        && deeds::begins_sentence(context, first)
        && (lexicon::is_ordinary_in(context.language, context.lower(token)) || HEADINGS.contains(&context.lower(token)))
}

const HEADINGS: &[&str] = &["meta", "metas", "plan", "goal", "goals"];

/// "hepatitis C", "Dukes B": one letter behind a word that is no name and no title.
fn is_grade(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    let letter = end - first == 1 && context.tokens[first].span.len() == 1;
    let Some(before) = first.checked_sub(1).map(|at| &context.tokens[at]) else { return false };
    let lower = context.lower(before);
    letter
        && one.label == label::PERSON
        && before.case == Case::Lower
        && !TITLES.contains(lower)
        && !RELATIONS.contains(lower)
        && lexicon::is_ordinary_in(context.language, lower)
        && lower.len() > 3
        && !matches!(lower, "patient" | "paciente" | "client" | "called" | "named")
}

/// "works for Uber", "at the Amazon warehouse".
fn is_behind_employer(context: &Context<'_>, first: usize) -> bool {
    let before = |by: usize| first.checked_sub(by).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    EMPLOYERS.contains(&before(1)) || matches!(before(1), "the" | "el" | "la" | "un" | "una" | "a" | "an") && EMPLOYERS.contains(&before(2))
}

/// "Eureka, CA 95501": two letters behind a comma and before a code.
fn is_of_an_address(context: &Context<'_>, first: usize) -> bool {
    let code = context.tokens.get(first + 1).is_some_and(|token| token.kind == Kind::Number && token.span.len() == 5);
    code && context.tokens[first].span.len() == 2
}

/// "Nan – anaemia", "tío pat.", "Mum": relatives in short. A word that is a first name too needs a dash or a colon behind it.
fn is_relative(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let sign = context.tokens.get(end).map(|token| context.plain(token)).unwrap_or_default();
    let listed = matches!(sign, "-" | "–" | "—" | ":") && context.tokens.get(end).is_some_and(|token| token.span.start > context.tokens[end - 1].span.end || sign == ":");
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let sided = end - first == 1
        && matches!(word(first), "mat" | "pat")
        && (RELATIONS.contains(word(end)) || first > 0 && RELATIONS.contains(word(first - 1)));
    sided || words_of(context, first, end).all(|token| {
        let lower = context.lower(token);
        let bare = lower.strip_suffix("'s").or_else(|| lower.split_once('\'').map(|(word, _)| word)).unwrap_or(lower);
        let known = super::is_kin(bare) || RELATIONS.contains(bare);
        known && (listed || !lexicon::word(bare).given && !(token.is_large() && lexicon::word(bare).surname))
    })
}

/// "GERD", "HFrEF", "SatO2": a listed abbreviation, or up to five large letters that no list of names has. Houses are called
/// by letters too.
fn is_abbreviated(context: &Context<'_>, one: &Finding, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if super::is_abbreviation(lower) {
        return is_short_form(context, at) || lower.len() > 2 && token.case == Case::Upper && !context.tokens[at].is_large();
    }
    let known = lexicon::word(lower).is_name() || places::is_place(lower);
    one.label != label::ORGANIZATION
        && token.case == Case::Upper
        && is_short_form(context, at)
        && (2..=SHORT).contains(&token.span.len())
        && !known
}

/// "R TKA", "L CT": a letter for a side and an abbreviation; the letter alone, before one.
fn is_one_sided(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    let side = |at: usize| matches!(context.lower(&context.tokens[at]), "l" | "r" | "b" | "d" | "i");
    let short = |at: usize| context.tokens.get(at).is_some_and(|token| token.is_word() && is_abbreviated(context, one, at));
    if !side(first) || context.tokens[first].span.len() != 1 {
        return false;
    }
    match end - first {
        1 => short(first + 1),
        _ => (first + 1..end).all(|at| !context.tokens[at].is_word() || short(at)),
    }
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
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let formed = context.touches(end - 1, end) && super::is_form(word(end)) && !word(end - 1).ends_with("'s");
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
    let has = ["he", "she", "it", "that", "there", "who", "what", "everyone", "everybody", "nobody", "somebody", "someone", "i", "they", "we", "you", "mum", "dad"];
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
            let sign = context.plain(&context.tokens[before]);
            matches!(sign, "¿" | "¡" | "," | ";" | "-" | "\"" | "(" | "«" | "'" | "–" | "/") || sign == ":" && !is_field_of_people(context, before)
        });
    let signed = context.tokens.get(at + 1).is_none_or(|next| {
        next.kind == Kind::Break || matches!(context.plain(next), "," | "." | "!" | "?" | ":" | "…" | ";")
    });
    let known = lexicon::word(lower);
    let spanish = context.language == Language::Spanish;
    if begins && super::is_role(lower) && !known.is_strong() {
        return true;
    }
    if super::opens(context.language, lower) {
        let pronoun = matches!(lower, "ella" | "usa" | "nada" | "mira" | "mire" | "vera");
        return match (known.given, words::is_everyday_name(lower)) {
            (true, true) => begins && signed && spanish && !is_called(context, at),
            (true, false) => begins && (signed || spanish && pronoun || is_asked(context, at)),
            (false, _) => begins || !token.is_large(),
        };
    }
    begins && spanish && !known.given && !places::is_place(lower) && super::is_verb(lower)
}

/// "Ever had a seizure?": an ordinary word, and what is asked.
fn is_asked(context: &Context<'_>, at: usize) -> bool {
    let next = context.tokens.get(at + 1).map(|token| context.lower(token)).unwrap_or_default();
    matches!(next, "had" | "have" | "been" | "tried" | "felt" | "taken" | "thought" | "has" | "i" | "you" | "the")
        && lexicon::word(context.lower(&context.tokens[at])).common
}

/// "Assistant: Oh.": the colon of somebody's field.
fn is_field_of_people(context: &Context<'_>, colon: usize) -> bool {
    let word = colon.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    ROLES.contains(word) || matches!(word, "assistant" | "name" | "nombre" | "present" | "surgeon" | "witness" | "student")
}

/// "Hola, Dale", "Gracias, Mira": a greeting before it, and nothing behind it but the end.
fn is_called(context: &Context<'_>, at: usize) -> bool {
    let end = context.tokens.get(at + 1).is_none_or(|next| matches!(context.plain(next), "." | "!") || next.kind == Kind::Break);
    end && at > 0 && context.plain(&context.tokens[at - 1]) == ","
}

/// "hang myself", "la navajita del sacapuntas": words of every day in small letters, none of which a list of names or
/// places has, with nothing before them that leads to a name. A house or a place must have a word that none has: one of
/// oneself, or a verb.
fn is_everyday_speech(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    if one.recognizer != "learned" || trigger(context, first) != Trigger::None {
        return false;
    }
    let spanish = context.language != Language::English;
    let verb = |lower: &str| spanish && super::is_verb(lower);
    let ordinary = |token: &Token| {
        let lower = context.lower(token);
        let known = lexicon::word(lower);
        let named = known.given || known.surname && !verb(lower) || places::is_place(lower);
        let small = !known.given && (FUNCTION.contains(lower) || PARTICLES.contains(lower) || super::opens(context.language, lower));
        token.case == Case::Lower
            && (small
                || !named
                    && (lexicon::is_ordinary_in(context.language, lower)
                        || lexicon::is_rare(lower)
                        || spanish && is_word_of_spanish(lower)))
    };
    let told = |token: &Token| {
        let lower = context.lower(token);
        is_of_oneself(lower) || verb(lower) || spanish && is_small_form(lower)
    };
    let house = leads_to_a_house(context, first) || words_of(context, first, end).any(|token| LAST.contains(context.lower(token)));
    words_of(context, first, end).all(ordinary)
        && (one.label == label::PERSON
            || one.label == label::ORGANIZATION && !house
            || words_of(context, first, end).any(told))
}

/// Words before a house.
fn leads_to_a_house(context: &Context<'_>, first: usize) -> bool {
    let before = first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    matches!(before, "at" | "from" | "to" | "with" | "in" | "of" | "by" | "for" | "near" | "en" | "de" | "del" | "a" | "al" | "con" | "the" | "el" | "la")
}

/// A form of a verb, a small form of a noun ("navajita") or a plural.
fn is_word_of_spanish(lower: &str) -> bool {
    let ordinary = |word: &str| lexicon::is_ordinary_in(Language::Spanish, word);
    super::is_verb(lower)
        || is_small_form(lower)
        || lower.strip_suffix("es").or_else(|| lower.strip_suffix('s')).is_some_and(ordinary)
}

fn is_small_form(lower: &str) -> bool {
    let small = ["ita", "ito", "itas", "itos"].iter().filter_map(|ending| lower.strip_suffix(ending));
    let mut of = small.flat_map(|stem| ["a", "o", "e"].map(|ending| format!("{stem}{ending}")));
    of.any(|word| lexicon::is_ordinary_in(Language::Spanish, &word))
}

fn is_of_oneself(lower: &str) -> bool {
    matches!(lower, "myself" | "yourself" | "himself" | "herself" | "ourselves" | "themselves" | "me" | "mi" | "su" | "tu" | "my" | "his" | "her")
        || ["arme", "erme", "irme", "arse", "erse", "irse", "arte"].iter().any(|ending| lower.ends_with(ending))
}

/// "69 BP 187", "62 RR 12 sats 91", "OA 2008": figures of up to three digits, or a year, and what they measure; apart, and
/// no street among them.
fn is_measure(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let mut any = false;
    let only = (first..end).all(|at| {
        let token = &context.tokens[at];
        let lower = context.lower(token);
        match token.kind {
            Kind::Number => token.span.len() < 4 && !clings_to_a_word(context, at) || is_year(lower),
            Kind::Word => {
                let measured = super::is_abbreviation(lower) && is_short_form(context, at) && !CODES.contains(&lower)
                    || super::is_medicine(lower)
                    || MEASURES.contains(&lower);
                any |= measured && token.span.len() > 1;
                measured || token.span.len() == 1
            }
            _ => matches!(context.plain(token), "/" | "." | "," | ":" | "%" | "-" | "(" | ")"),
        }
    });
    let letters = words_of(context, first, end).all(|token| token.span.len() == 1)
        && !context.tokens[first..end].iter().any(|token| token.kind == Kind::Number);
    any && only && end - first > 1 || letters || is_lone_year(context, (first, end))
}

/// Letters that stand before the numbers of records.
const CODES: &[&str] = &["rx", "mr", "pt", "dx", "bm", "hc", "ss", "id", "pv", "ci", "cc"];

/// A hyphen joins it to letters, as it does in codes.
fn clings_to_a_word(context: &Context<'_>, at: usize) -> bool {
    let joined = |left: usize, right: usize| {
        let (Some(a), Some(b)) = (context.tokens.get(left), context.tokens.get(right)) else { return false };
        a.span.end == b.span.start
    };
    let hyphen = |at: usize| context.tokens.get(at).is_some_and(|token| context.plain(token) == "-");
    at > 0 && hyphen(at - 1) && joined(at - 1, at) || hyphen(at + 1) && joined(at, at + 1)
}

fn is_year(lower: &str) -> bool {
    lower.len() == 4 && lower.parse().is_ok_and(|year: u32| YEARS.contains(&year))
}

const MEASURES: &[&str] = &[
    "bp", "hr", "rr", "pr", "temp", "sats", "sat", "spo", "sao", "sato", "pulse", "weight", "height", "wt", "ht", "gcs", "glasgow", "ta", "fc",
    "fr", "pa", "pas", "pad", "peso", "talla", "imc", "bmi", "afebril", "afebrile", "mmhg", "lpm", "bpm", "kg", "cm", "ra", "aa", "temperatura",
    "tension", "frecuencia", "pulso", "obs", "sv", "vs", "eva", "nrs", "ews", "news", "mews", "basal", "on", "air", "o", "t",
];

/// One number of four digits that is a year of today, or a word of time with it.
fn is_lone_year(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let [token] = &context.tokens[first..end] else { return false };
    token.kind == Kind::Number && is_year(context.lower(token))
}

/// "2023 PTR": a year and an operation look like a number plate.
fn is_plate_of_the_trade(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let trade = words_of(context, first, end).any(|token| super::is_abbreviation(context.lower(token)));
    let number = context.tokens[first..end].iter().find(|token| token.kind == Kind::Number);
    trade && number.is_some_and(|token| is_year(context.lower(token)))
}

/// Two words or more, and neither a sign of mail nor a word that says it: the boxes of a form.
fn is_no_mail(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let said = |token: &Token| matches!(context.lower(token), "@" | "arroba" | "at" | "dot" | "punto" | "gmail" | "hotmail" | "yahoo" | "outlook");
    let gap = (first + 1..end).any(|at| context.tokens[at].span.start > context.tokens[at - 1].span.end);
    gap && !context.tokens[first..end].iter().any(said)
}

/// "mothers basement": ordinary words without a number and without a word of streets.
fn is_no_street(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let plain = |token: &Token| {
        let lower = context.lower(token);
        let ordinary = |word: &str| lexicon::is_ordinary_in(context.language, word) || RELATIONS.contains(word);
        token.case == Case::Lower && (ordinary(lower) || lower.strip_suffix('s').is_some_and(ordinary))
    };
    let street = |token: &Token| STREET_WORDS.contains(&context.lower(token)) || traits(context.lower(token)).has(Traits::NUMBER);
    context.tokens[first..end].iter().all(|token| token.is_word() && plain(token) && !street(token))
}

const STREET_WORDS: &[&str] = &[
    "street", "avenue", "road", "lane", "drive", "court", "place", "way", "terrace", "square", "close", "crescent", "row", "hill", "box", "calle",
    "avenida", "plaza", "paseo", "camino", "carretera", "ronda", "piso", "puerta", "portal", "colonia", "barrio", "pasaje", "esquina", "corner", "block",
];

/// Words alone, and one of them a relative or an ordinary noun: the number of a record has figures, or says them.
fn is_without_figures(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let ordinary = |token: &Token| lexicon::is_ordinary_in(context.language, context.lower(token)) || RELATIONS.contains(context.lower(token));
    context.tokens[first..end].iter().all(|token| token.is_word() && ordinary(token) && !traits(context.lower(token)).has(Traits::NUMBER))
}

/// A score out of another ("41/56").
fn is_no_number(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let short = |token: &Token| token.kind == Kind::Number && token.span.len() < 4;
    matches!(&context.tokens[first..end], [a, sign, b] if short(a) && context.plain(sign) == "/" && short(b))
}
