//! Small towns of the countries of contract.md: too many and too like other words to be read anywhere, so that they count
//! behind what leads to a place ("up in dubbo", "traído desde Torrecaballeros", "mi casa de Turégano").

use std::collections::HashSet;

use super::super::context::Context;
use super::super::fast::WordList;
use super::super::finding::{Finding, Layer};
use super::super::label;
use super::super::token::Case;
use super::{informal, lexicon, places, trade};
use crate::dlp::deadline;
use crate::text::Span;

/// Names, folded, sorted, one a line: looked up where they stand, so that they cost nothing before.
const TOWNS: &str = include_str!("../data/towns.txt");
/// Most words of a name.
const LONGEST: usize = 3;

static LEADS: WordList = WordList::spaced("en in from desde hasta near nr outside");
/// What somebody or something is "de" a town, and ways "a" one.
static OF: WordList = WordList::spaced(
    "casa pueblo municipio comuna barrio aldea vereda corregimiento hospital ambulatorio consultorio posta mercado estacion metro \
     feria policia guardia ayuntamiento juzgado residencia colegio liceo escuela camino rumbo traslado viaje via natural vecino vecina \
     procedente originario originaria residente finca parroquia canton partido departamento distrito localidad",
);

/// Finds towns behind what leads to one, and wherever else the document names them.
pub fn find(context: &Context<'_>, found: &mut Vec<Finding>) {
    let first = found.len();
    led(context, found);
    let names: HashSet<&str> =
        found[first..].iter().map(|one| one.span.of(&context.view.lower)).filter(|name| name.len() > 4).collect();
    if names.is_empty() {
        return;
    }
    let again = context.tokens.iter().filter(|token| token.is_large() && names.contains(context.lower(token)));
    let again: Vec<Finding> =
        again.map(|token| Finding::new(token.span, label::LOCATION, "place", 0.7, Layer::Entity)).collect();
    found.extend(again);
}

fn led(context: &Context<'_>, found: &mut Vec<Finding>) {
    for at in 1..context.tokens.len() {
        deadline::check_at(at);
        let token = &context.tokens[at];
        if !token.is_word() || token.span.len() < 3 {
            continue;
        }
        let before = context.lower(&context.tokens[at - 1]);
        let earlier = at.checked_sub(2).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
        let led = LEADS.contains(before) || matches!(before, "de" | "a" | "del" | "al") && OF.contains(earlier);
        let listed = token.is_large() && matches!(before, "," | "(" | "-" | "–" | "/");
        if !(led || listed) || !context.touches(at - 1, at) && led {
            continue;
        }
        if let Some(span) = town_at(context, at).filter(|span| may_stand(context, *span, led)) {
            found.push(Finding::new(span, label::LOCATION, "place", 0.75, Layer::Entity));
        } else if token.case == Case::Title
            && is_sure_lead(before, earlier)
            && informal::is_unknown(context.lower(token))
        {
            found.push(Finding::new(token.span, label::LOCATION, "place", 0.7, Layer::Entity));
        }
    }
}

/// "mercado de Vinocanchón", "traído desde Torrecaballeros": a large word of no list, behind what leads to places alone.
fn is_sure_lead(before: &str, earlier: &str) -> bool {
    matches!(before, "desde" | "hasta")
        || matches!(before, "de" | "a" | "del")
            && OF.contains(earlier)
            && !matches!(earlier, "hospital" | "departamento" | "via" | "traslado")
}

/// The longest name that begins here.
fn town_at(context: &Context<'_>, at: usize) -> Option<Span> {
    (1..=LONGEST).rev().filter(|words| at + words <= context.tokens.len()).find_map(|words| {
        let tokens = &context.tokens[at..at + words];
        let joined = (at..at + words - 1).all(|left| context.touches(left, left + 1));
        let span = Span::new(tokens[0].span.start, tokens[words - 1].span.end);
        let name = span.of(&context.view.lower);
        let listed = || {
            places::is_place(name) && !lexicon::word(name).is_name() && !lexicon::is_ordinary_in(context.language, name)
        };
        (joined && (is_town(name) || listed())).then_some(span)
    })
}

/// Written large, or in a text without capitals.
fn may_stand(context: &Context<'_>, span: Span, led: bool) -> bool {
    let token = &context.tokens[context.token_at(span.start)];
    let lower = span.of(&context.view.lower);
    let clinic = trade::is_medicine(lower) || trade::is_abbreviation(lower) || trade::is_verb(lower);
    !clinic
        && !places::is_country(lower)
        && (token.case == Case::Title
            || led && (context.is_small_at(context.token_at(span.start)) || token.case == Case::Upper))
}

/// Whether a folded name is on the list.
pub fn is_town(name: &str) -> bool {
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
