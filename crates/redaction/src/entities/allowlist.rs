//! Fixed phrases that contain a name but name no person: "Dr Google", "Ann Arbor IIIB", "Lou Gehrig's disease". A
//! space, a hyphen or a possessive separates their words. A phrase never crosses a full stop, except that of "Dr." and
//! "St.".

use std::sync::LazyLock;

use super::super::document::DocumentContext;
use super::super::token::TextTokenKind;
use super::super::word_tables::WordSet;
use super::cues::{NameTrigger, trigger};
use super::{eponyms, lexicon, person_verbs};

const LONGEST: usize = 3;

/// Folded phrases that no person is called by.
static NOBODY: LazyLock<WordSet> = LazyLock::new(|| {
    phrases(
        "dr google,dr scholl,alice in wonderland,west nile,orphan annie,wender utah,boston naming,trail making,gore tex,\
         kenny self care,hopkins symptom,earl grey,lund browder,bair hugger,candy crush,western aphasia,western blot,\
         rey osterrieth,rey figure,frenchay activities,nottingham health,edinburgh postnatal,milan criteria,\
         atlanta classification,paris classification,chicago classification,los angeles classification,tokyo guidelines,\
         amsterdam criteria,rotterdam criteria,bethesda system,bristol stool,sydney system,vienna classification,\
         rocky mountain,brazil nuts,brazil nut,king charles spaniel,jack russell,scarlet fever,mini mental,mary jane,diane 35,\
         st john's wort,st john wort,john wort,montreal classification,prague criteria,baltimore criteria,stockholm syndrome,ley de starling,ley de laplace,\
         ley de frank,jehovah witness,jehovah witnesses,granny smith apples,granny smith apple,ronda de noche,torre de londres,torre de hanoi,lista de hopkins,rome iv,rome iii",
    )
});
/// A name with the noun that makes it a scale, a sign or a law: no person unless a title or cue announces one.
static NAMED: LazyLock<WordSet> = LazyLock::new(|| {
    phrases(
        "jones criteria,morse fall,norton scale,braden scale,ashworth scale,young mania,barnes akathisia,baker act,\
         murphy law,lyme disease,hunt and hess,hunt hess,rosario costal,reyes magos,angel de la guarda,fahn tolosa",
    )
});
/// Phrases that can also be a person's name. They are exempt only if no person was announced, and only with a hyphen or
/// before a grade, a figure or a noun.
static THINGS: LazyLock<WordSet> = LazyLock::new(|| {
    phrases(
        "ann arbor,lou gehrig,ramsay hunt,tolosa hunt,roland morris,harris benedict,jackson pratt,granny smith,swan ganz,\
         hawkins kennedy,bush francis,simpson angus,glasgow imrie,blalock taussig,paul bunnell,burke fahn",
    )
});
static FIRST: LazyLock<WordSet> = LazyLock::new(|| {
    NOBODY
        .iter()
        .chain(NAMED.iter())
        .chain(THINGS.iter())
        .filter_map(|phrase| phrase.split_once(' '))
        .map(|(first, _)| first)
        .collect()
});

fn phrases(list: &'static str) -> WordSet {
    list.split(',').map(str::trim).collect()
}

/// Whether all of the tokens lie inside a fixed phrase.
pub(crate) fn hold(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
    (first.saturating_sub(2 * LONGEST - 2)..=first)
        .filter(|start| FIRST.contains(bare(context, *start)))
        .any(|start| phrase_end(context, start).is_some_and(|last| end <= last))
}

/// The token index after the phrase that begins here.
fn phrase_end(context: &DocumentContext<'_>, start: usize) -> Option<usize> {
    let mut phrase = String::from(bare(context, start));
    let (mut at, mut words) = (start + 1, 1);
    while words < LONGEST {
        if joint(context, at) {
            at += 1;
        }
        let token =
            context.tokens.get(at).filter(|token| matches!(token.kind, TextTokenKind::Word | TextTokenKind::Number))?;
        if token.span.start > context.tokens[at - 1].span.end && !context.touches(at - 1, at) {
            return None;
        }
        phrase.push(' ');
        phrase.push_str(bare(context, at));
        words += 1;
        at += 1;
        let announced = || trigger(context, start) != NameTrigger::None;
        let stands = NOBODY.contains(phrase.as_str())
            || NAMED.contains(phrase.as_str()) && !announced()
            || THINGS.contains(phrase.as_str()) && !announced() && is_thing(context, start, at);
        if stands {
            return Some(at);
        }
    }
    None
}

/// A hyphen that touches both words, or the full stop of "Dr.".
fn joint(context: &DocumentContext<'_>, at: usize) -> bool {
    let Some(sign) = context.tokens.get(at) else { return false };
    let tight = |left: usize, right: usize| {
        context.tokens.get(right).is_some_and(|token| context.tokens[left].span.end == token.span.start)
    };
    match context.plain(sign) {
        "-" => tight(at - 1, at) && tight(at, at + 1),
        "." => matches!(bare(context, at - 1), "dr" | "st"),
        _ => false,
    }
}

/// A hyphen within the phrase, or a grade, a figure or a noun after it; never before a verb of people.
fn is_thing(context: &DocumentContext<'_>, start: usize, end: usize) -> bool {
    let next = context.tokens.get(end);
    let lower = next.map(|next| context.lower(next)).unwrap_or_default();
    let joined = (start..end).any(|at| context.plain(&context.tokens[at]) == "-");
    let after = next.is_some_and(|next| next.kind == TextTokenKind::Number)
        || eponyms::is_graded(context, end)
        || context.touches(end - 1, end) && lexicon::is_noun(lower);
    (joined || after) && !person_verbs::is_person_verb(lower)
}

fn bare<'a>(context: &'a DocumentContext<'_>, at: usize) -> &'a str {
    let lower = context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    lower.strip_suffix("'s").unwrap_or(lower)
}
