//! Small towns of the countries of contract.md. They are too many, and too similar to other words, to count everywhere.
//! They count after a word that leads to a place: "up in dubbo", "traído desde Torrecaballeros", "mi casa de Turégano".

use std::collections::HashSet;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::LetterCase;
use super::super::word_tables::WordList;
use super::post_filter::stop_words;
use super::{informal, lexicon, places};
use crate::deadline;
use anamnesis_text::Span;

/// Folded names, sorted, one a line. A binary search reads the text in place, so no table is built at the start.
const TOWNS: &str = include_str!("../data/towns.txt");
const LONGEST: usize = 3;

static LEADS: WordList = WordList::spaced("en in from desde hasta near nr outside hacia");
/// Prepositions of movement or origin: "el bus a Cangallo". The name must be capitalised and no other word.
static MOVES: WordList = WordList::spaced("a de al del hacia para por to towards via");
/// Nouns before "de" and a town, and ways before "a" and a town.
static OF: WordList = WordList::spaced(
    "casa pueblo municipio comuna barrio aldea vereda corregimiento hospital ambulatorio consultorio posta mercado estacion metro \
     feria policia guardia ayuntamiento juzgado residencia colegio liceo escuela camino rumbo traslado viaje via natural vecino vecina \
     procedente originario originaria residente finca parroquia canton partido departamento distrito localidad",
);

/// Finds towns after such words, and then wherever else the document names them.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let first = found.len();
    led(context, found);
    let names: HashSet<&str> =
        found[first..].iter().map(|one| one.span.slice(&context.view.lower)).filter(|name| name.len() > 4).collect();
    if names.is_empty() {
        return;
    }
    let again = context.tokens.iter().filter(|token| token.is_capitalized() && names.contains(context.lower(token)));
    let again: Vec<PiiFinding> =
        again.map(|token| PiiFinding::new(token.span, label::LOCATION, "place", 0.7, DetectionLayer::Entity)).collect();
    found.extend(again);
}

fn led(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    for at in 1..context.tokens.len() {
        deadline::check_at(at);
        let token = &context.tokens[at];
        let article = token.case == LetterCase::Title && matches!(context.lower(token), "lo" | "la" | "el");
        if !token.is_word() || token.span.len() < 3 && !article {
            continue;
        }
        let before = context.lower(&context.tokens[at - 1]);
        let earlier = at.checked_sub(2).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
        let led = LEADS.contains(before) || matches!(before, "de" | "a" | "del" | "al") && OF.contains(earlier);
        let moves = token.case == LetterCase::Title
            && MOVES.contains(before)
            && context.touches(at - 1, at)
            && !context.no_case()
            && (is_nothing_else(context, at, before) || WAYS.contains(earlier));
        if moves && let Some(span) = town_at(context, at).filter(|span| span.len() > SHORT) {
            found.push(PiiFinding::new(span, label::LOCATION, "place", 0.7, DetectionLayer::Entity));
            continue;
        }
        let listed = token.is_capitalized() && matches!(before, "," | "(" | "-" | "–" | "/");
        if !(led || listed) || !context.touches(at - 1, at) && led {
            continue;
        }
        if let Some(span) = town_at(context, at).filter(|span| may_stand(context, *span, led)) {
            found.push(PiiFinding::new(span, label::LOCATION, "place", 0.75, DetectionLayer::Entity));
        } else if token.case == LetterCase::Title
            && is_sure_lead(before, earlier)
            && informal::is_unknown(context.lower(token))
        {
            found.push(PiiFinding::new(token.span, label::LOCATION, "place", 0.7, DetectionLayer::Entity));
        }
    }
}

/// Travel words, because "a" also precedes people: "el bus a Cangallo".
static WAYS: WordList = WordList::spaced(
    "bus buses micro colectivo tren viaje viajo viaja camino carretera ruta autopista fui fue fuimos voy va vamos ir irse irme llego \
     llegue llegamos volvi volvio regreso regrese mudo mude mudamos vine vino vengo viene cerca lejos rumbo traslado vuelta",
);
/// Towns after an ambiguous preposition must be longer.
const SHORT: usize = 4;

fn is_nothing_else(context: &DocumentContext<'_>, at: usize, before: &str) -> bool {
    let lower = context.lower(&context.tokens[at]);
    // "Hierba de San Juan", "clasificación de Los Ángeles".
    let article = matches!(lower, "lo" | "la" | "los" | "las" | "el" | "san" | "santa" | "villa");
    if article && matches!(before, "de" | "del") {
        return false;
    }
    article
        || !lexicon::word(lower).is_name()
            && !lexicon::is_eponym(lower)
            && !lexicon::is_ordinary_in(context.language, lower)
            && !stop_words::is_clinical(lower)
            && !super::eponyms::denotes_thing(context, at, at)
}

/// "mercado de Vinocanchón", "traído desde Torrecaballeros": an unlisted capitalised word after a word that only leads
/// to places.
fn is_sure_lead(before: &str, earlier: &str) -> bool {
    matches!(before, "desde" | "hasta")
        || matches!(before, "de" | "a" | "del")
            && OF.contains(earlier)
            && !matches!(earlier, "hospital" | "departamento" | "via" | "traslado")
}

fn town_at(context: &DocumentContext<'_>, at: usize) -> Option<Span> {
    (1..=LONGEST).rev().filter(|words| at + words <= context.tokens.len()).find_map(|words| {
        let tokens = &context.tokens[at..at + words];
        let joined = (at..at + words - 1).all(|left| context.touches(left, left + 1));
        let span = Span::new(tokens[0].span.start, tokens[words - 1].span.end);
        let name = span.slice(&context.view.lower);
        let listed = || {
            places::is_place(name)
                && (!lexicon::word(name).is_name() || tokens[0].case == LetterCase::Lower && !lexicon::word(name).given)
                && !lexicon::is_ordinary_in(context.language, name)
        };
        let kind = context.tokens.get(at + words).filter(|next| {
            let kind = matches!(context.lower(next), "county" | "parish" | "township" | "island");
            kind && context.touches(at + words - 1, at + words)
        });
        (joined && (is_town(name) || listed()))
            .then(|| Span::new(span.start, kind.map_or(span.end, |kind| kind.span.end)))
    })
}

/// Capitalised, or in a text without capitals.
fn may_stand(context: &DocumentContext<'_>, span: Span, led: bool) -> bool {
    let token = &context.tokens[context.token_at(span.start)];
    let lower = span.slice(&context.view.lower);
    let clinic = stop_words::is_medicine(lower) || stop_words::is_abbreviation(lower) || stop_words::is_verb(lower);
    !clinic
        && !places::is_country(lower)
        && (token.case == LetterCase::Title
            || led && (context.is_lowercase_at(context.token_at(span.start)) || token.case == LetterCase::Upper))
}

/// Whether a folded name is in the list.
pub(crate) fn is_town(name: &str) -> bool {
    let (mut low, mut high) = (0, TOWNS.len());
    while low < high {
        let middle = (low + high) / 2;
        let start = TOWNS[..middle].rfind('\n').map_or(0, |feed| feed + 1);
        let end = TOWNS[middle..].find('\n').map_or(TOWNS.len(), |feed| middle + feed);
        match TOWNS[start..end].cmp(name) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{TOWNS, is_town};

    #[test]
    fn every_town_of_the_list_is_found_and_no_other() {
        let lines: Vec<&str> = TOWNS.lines().collect();
        assert!(lines.is_sorted());
        assert!(lines.iter().step_by(7).all(|town| is_town(town)));
        assert!(!is_town("") && !is_town("zzz") && !is_town("a") && is_town("dubbo"));
    }
}
