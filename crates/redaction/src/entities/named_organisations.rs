//! Organisations by their typical context: "la internaron en el Moyano", "six wks at grady", "clinica las americas",
//! "you've reached Banksia Youth Chat", "Occupation: night stocker, Giant Eagle". Also streets that speech and messages
//! name without a number.

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::post_filter::stop_words;
use super::{informal, lexicon, places};
use crate::deadline;
use crate::pattern::compiled;
use crate::word_tables::{self, WordList};
use anamnesis_text::{Language, Span};

/// Verbs of admission and treatment, and the organisation.
static ADMITTED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:[Ii]nternaron|[Ii]nternad[oa]s?|[Ii]ngresaron|[Ii]ngres[oóe]|[Ii]ngresad[oa]s?|[Oo]peraron|[Oo]perad[oa]s?|[Hh]ospitalizad[oa]s?|[Aa]tendieron|[Aa]tendid[oa]s?|[Ll]levaron|[Dd]erivaron|[Dd]erivad[oa]s?|[Nn]aci[oó]?|[Tt]rasladad[oa]s?|[Aa]dmitted|[Ii]npatient|[Hh]ospitali[sz]ed|[Dd]etoxed|[Ss]ectioned)(?-u:\b)[^.\n;:]{0,40}? (?:en|a|al|at|to|in) (?:el |la |los |las |the )?((?:(?:La|El|Los|Las|San|Santa|St\.?) )?[A-Z][a-z]{1,20}(?: [A-Z][a-z]{2,20}){0,2})(?-u:\b)",
    )
});
/// A word of organisations and what it is called, in lower case.
static SMALL: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)((?:clinica|hospital|sanatorio|colegio|instituto|liceo|escuela|residencia|policlinico|maternidad) (?:las|los|san|santa|santo|nuestra senora|virgen|del|de la|de los|la) ([a-z]{4,20}))(?-u:\b)",
    )
});
static REACHED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:[Yy]ou(?:'ve| have) (?:reached|called)|[Ww]elcome to|[Tt]hank you for calling|[Ss]e ha comunicado con|[Hh]a llamado a|[Bb]ienvenid[oa] a) (?:the )?((?:[A-Z][A-Za-z'&-]{1,20} ?){1,5})",
    )
});
/// The field of a person's work, and an organisation after a comma or a dash.
static WORK: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:[Oo]ccupation|OCCUPATION|[Jj]ob|[Ee]mployer|EMPLOYER|[Ww]ork|[Oo]cupaci[oó]n|[Tt]rabajo|[Ee]mpresa): ?[^\n,;@]{0,40}(?:,| @| -| at| en)? ((?:[A-Z][A-Za-z'&-]{2,20} ){1,3}[A-Z][A-Za-z'&-]{2,20}|[A-Z][A-Za-z'&]{3,20}(?: \())",
    )
});
/// "six wks at grady", "worked at asda": a word of no list of words after "at".
static AT: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?-u:\b)at ([a-z]{4,16})(?-u:\b)"));
/// "Le dicen: «Rosmi»", "Goes by: B.T.".
static NICKNAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?-u:\b)(?:[Ll]e dicen|[Ll]e llaman|[Aa]lias|[Aa]podo|[Gg]oes by|[Pp]referred name|[Nn]ickname|AKA|[Aa]\.?k\.?a\.?):? ?["'(]?([A-Z][A-Za-z.]{1,15})(?-u:\b)"#,
    )
});
/// "on west gilbert avenue", "in rosewood close".
static STREET: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:on|at|near|off|down|from|over on) ((?:(?:north|south|east|west) )?([a-z]{3,16}) (?:[a-z]{3,16} )?(?:street|avenue|road|lane|drive|boulevard|crescent|terrace))(?-u:\b)",
    )
});
/// "cra 31 con 14", "calle 45 no 12-30", "diagonal 8 # 4 - 20".
static CROSSING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:cra|cr|kra|kr|cl|cll|clle|calle|carrera|diag|diagonal|transv|transversal|tv|av|avenida)\.? ?[0-9]{1,3} ?[a-z]?(?: ?bis)?(?: sur| norte)? (?:con|no\.?|nro\.?|n[°º]|#|numero|y) ?(?:cra|calle|carrera)? ?[0-9]{1,3} ?[a-z]?(?: ?- ?[0-9]{1,3})?(?-u:\b)",
    )
});
/// "The willows surgery", "the old mill practice": a practice by what its organisation is called.
static PRACTICE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)the ((?:[a-z]{3,15} ){1,3})(?:surgery|practice|medical centre|health centre|medical practice|medical center|health center)(?-u:\b)",
    )
});
static GROUNDS: WordList = WordList::listed(word_tables::ENTITIES, "named_organisations.grounds");
/// Words after a lower-case head word that are no name.
const KINDS: &[&str] = &[
    "salud",
    "zona",
    "barrio",
    "pueblo",
    "ciudad",
    "urgencias",
    "turno",
    "noche",
    "tarde",
    "semana",
    "mes",
    "otro",
    "seguro",
    "social",
    "dolor",
    "ninos",
    "nina",
    "nino",
    "hija",
    "hijo",
    "misma",
    "mismo",
    "privada",
    "publica",
    "universidad",
    "localidad",
    "capital",
    "isla",
    "costa",
    "estado",
    "memoria",
    "mujer",
    "familia",
    "tercera",
];

/// Finds organisations and streets by their context.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let (plain, lower) = (&context.view.plain, &context.view.lower);
    deadline::check();
    for (pattern, own) in [(&ADMITTED, true), (&REACHED, false), (&WORK, false)] {
        for organization in pattern.captures_iter(plain).filter_map(|hit| hit.get(1)) {
            let text = organization.as_str().trim_end_matches(['(', ' ']);
            let span = Span::new(organization.start(), organization.start() + text.len());
            if !own || has_own_word(span.slice(lower)) {
                push(context, span, found);
            }
        }
    }
    for name in NICKNAME.captures_iter(plain).filter_map(|hit| hit.get(1)) {
        push_as(found, Span::new(name.start(), name.end()), label::PERSON, "name");
    }
    for hit in SMALL.captures_iter(lower) {
        let (Some(organization), Some(name)) = (hit.get(1), hit.get(2)) else { continue };
        let word = lexicon::word(name.as_str());
        let own = word.is_name() || places::is_place(name.as_str()) || informal::is_unknown(name.as_str());
        if own && !KINDS.contains(&name.as_str()) {
            push_as(found, Span::new(organization.start(), organization.end()), label::ORGANIZATION, "organisation");
        }
    }
    small(context, lower, found);
    practices(lower, found);
    for hit in CROSSING.find_iter(lower) {
        push_as(found, Span::new(hit.start(), hit.end()), label::ADDRESS, "street");
    }
}

/// Practices named after trees, land or buildings, a name, a place or an unlisted word; "the hip surgery" is none.
fn practices(lower: &str, found: &mut Vec<PiiFinding>) {
    for hit in PRACTICE.captures_iter(lower) {
        let (Some(whole), Some(name)) = (hit.get(0), hit.get(1)) else { continue };
        let words = || name.as_str().split_whitespace();
        let last = words().next_back().unwrap_or_default();
        let strong = lexicon::word(last).is_strong() || places::is_place(last) || informal::is_unknown(last);
        let own = GROUNDS.contains(last) || strong && !lexicon::is_ordinary(last);
        if own && !words().any(stop_words::is_clinical) && whole.as_str().split(' ').count() > 2 {
            push_as(found, Span::new(name.start(), whole.end()), label::ORGANIZATION, "organisation");
        }
    }
}

/// Words in lower case: organisations after "at", streets.
fn small(context: &DocumentContext<'_>, lower: &str, found: &mut Vec<PiiFinding>) {
    let is_small =
        |start: usize| context.is_lowercase_at(context.token_at(start).min(context.tokens.len().saturating_sub(1)));
    for organization in AT.captures_iter(lower).filter_map(|hit| hit.get(1)) {
        let known = lexicon::word(organization.as_str());
        let named = known.surname && known.given && known.is_strong() && !lexicon::is_ordinary(organization.as_str())
            || informal::is_unknown(organization.as_str()) && !known.is_name();
        if named && is_small(organization.start()) {
            push_as(found, Span::new(organization.start(), organization.end()), label::ORGANIZATION, "organisation");
        }
    }
    for hit in STREET.captures_iter(lower) {
        let (Some(street), Some(name)) = (hit.get(1), hit.get(2)) else { continue };
        let article = matches!(
            name.as_str(),
            "the" | "this" | "that" | "our" | "his" | "her" | "their" | "main" | "same" | "busy"
        );
        if !article && is_small(street.start()) {
            push_as(found, Span::new(street.start(), street.end()), label::ADDRESS, "street");
        }
    }
}

/// "La Fe", "Moyano": an article, or a word that is no ordinary one and no speciality.
fn has_own_word(name: &str) -> bool {
    let own = |word: &str| {
        let known = lexicon::word(word);
        !lexicon::is_ordinary_in(Language::Spanish, word)
            && (known.is_name() || places::is_place(word) || informal::is_unknown(word))
    };
    name.starts_with("la ") || name.starts_with("el ") || name.split(' ').any(own)
}

/// An organisation in capital letters that is no word of the clinic.
fn push(context: &DocumentContext<'_>, span: Span, found: &mut Vec<PiiFinding>) {
    let at = context.token_at(span.start);
    let Some(first) = context.tokens.get(at).map(|token| context.lower(token)) else { return };
    let single = !span.slice(&context.view.plain).contains(' ');
    let clinic = |word: &str| {
        stop_words::is_medicine(word) || stop_words::is_abbreviation(word) || stop_words::opens(context.language, word)
    };
    let plain = single
        && (lexicon::is_ordinary_in(context.language, first)
            || stop_words::is_role(first)
            || lexicon::is_eponym(first));
    let article = matches!(first, "la" | "el" | "las" | "los");
    if (article || !clinic(first)) && !plain && !span.is_empty() {
        push_as(found, span, label::ORGANIZATION, "organisation");
    }
}

fn push_as(found: &mut Vec<PiiFinding>, span: Span, label: &'static str, recognizer: &'static str) {
    found.push(PiiFinding::new(span, label, recognizer, 0.8, DetectionLayer::Entity));
}
