//! Set phrases that hold a name and name nobody: "Ann Arbor IIIB", "Lou Gehrig's disease", "Roland-Morris 14". Hyphens,
//! points and the mark of a possessive do not count.

use std::sync::LazyLock;

use super::super::context::Context;
use super::super::fast::{WordList, WordSet};
use super::super::token::Kind;

/// Most words of a phrase.
const LONGEST: usize = 3;

/// The phrases, words folded. None of them is how people are called.
static PHRASES: LazyLock<WordSet> = LazyLock::new(|| {
    "ann arbor,lou gehrig,ramsay hunt,tolosa hunt,roland morris,harris benedict,jackson pratt,dr google,dr scholl,\
     alice in wonderland,west nile,granny smith,orphan annie,wender utah,boston naming,trail making,swan ganz,gore tex,\
     hawkins kennedy,bush francis,simpson angus,kenny self care,hopkins symptom,earl grey,lund browder,glasgow imrie,\
     blalock taussig,bair hugger,baker act,candy crush,murphy law,paul bunnell,rome iv,rome iii,hunt hess,hunt and hess,\
     western aphasia,western blot,rey osterrieth,rey figure,burke fahn,fahn tolosa,barnes akathisia,young mania,\
     morse fall,norton scale,braden scale,ashworth scale,frenchay activities,nottingham health,edinburgh postnatal,\
     milan criteria,atlanta classification,paris classification,chicago classification,los angeles classification,\
     tokyo guidelines,amsterdam criteria,rotterdam criteria,bethesda system,bristol stool,sydney system,vienna classification,\
     montreal classification,prague criteria,baltimore criteria,jones criteria,stockholm syndrome,lyme disease,\
     ley de starling,ley de laplace,ley de frank,ronda de noche,rosario costal,reyes magos,torre de londres,torre de hanoi,\
     angel de la guarda,lista de hopkins"
        .split(',')
        .map(str::trim)
        .collect()
});
static FIRST: LazyLock<WordSet> =
    LazyLock::new(|| PHRASES.iter().filter_map(|phrase| phrase.split_once(' ')).map(|(first, _)| first).collect());
/// What stands between the words of a phrase.
static JOINTS: WordList = WordList::spaced("- . '");

/// Whether tokens are a part of a set phrase.
pub fn hold(context: &Context<'_>, first: usize, end: usize) -> bool {
    (first.saturating_sub(2 * LONGEST - 2)..end).any(|start| {
        FIRST.contains(bare(context, start)) && phrase_end(context, start).is_some_and(|last| last > first)
    })
}

/// One behind the last token of the phrase that begins here.
fn phrase_end(context: &Context<'_>, start: usize) -> Option<usize> {
    let mut phrase = String::from(bare(context, start));
    let (mut at, mut words) = (start + 1, 1);
    while words < LONGEST {
        let token = context.tokens.get(at)?;
        if token.kind != Kind::Word {
            if !JOINTS.contains(context.lower(token)) {
                return None;
            }
            at += 1;
            continue;
        }
        phrase.push(' ');
        phrase.push_str(bare(context, at));
        words += 1;
        at += 1;
        if PHRASES.contains(phrase.as_str()) {
            return Some(at);
        }
    }
    None
}

/// A word without the mark of a possessive.
fn bare<'a>(context: &'a Context<'_>, at: usize) -> &'a str {
    let lower = context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    lower.strip_suffix("'s").unwrap_or(lower)
}
