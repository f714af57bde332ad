//! Names that stand for diseases, signs, scales and devices: "enfermedad de Hodgkin", "Beck inventory".

use super::super::context::Context;
use super::super::token::Case;
use super::cues::FUNCTION;
use super::eponym_lists::{AFTER, BEFORE};
use super::lexicon;

/// "Ottawa ankle rules", "Miami J collar": one ordinary word or letter, and the thing behind it.
fn is_part_of_a_thing(context: &Context<'_>, next: usize) -> bool {
    let (Some(between), Some(thing)) = (context.tokens.get(next), context.tokens.get(next + 1)) else { return false };
    let word = context.lower(between);
    let part = between.is_word() && (between.span.len() == 1 || between.case == Case::Lower && is_noun(word));
    part && context.touches(next - 1, next) && context.touches(next, next + 1) && AFTER.contains(context.lower(thing))
}

/// An ordinary word that is no verb of what somebody says or does: those end as verbs do, or are listed.
fn is_noun(word: &str) -> bool {
    const OTHERS: [&str; 12] =
        ["with", "without", "after", "before", "from", "felt", "had", "said", "went", "made", "in", "on"];
    let verb = word.ends_with("ed") || word.ends_with("ing") || word.ends_with('s') && !word.ends_with("ss");
    !verb && word.len() > 2 && !FUNCTION.contains(word) && !OTHERS.contains(&word) && lexicon::is_ordinary(word)
}

/// True where a run of tokens holds the thing itself: "Corea de Huntington", "Penrose drain".
pub fn names_a_thing(context: &Context<'_>, first: usize, end: usize) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let of = |at: usize| matches!(word(at), "de" | "del" | "of");
    (first..end).any(|at| BEFORE.contains(word(at)) && of(at + 1))
        || (first + 1..end).any(|at| AFTER.contains(word(at)))
}

/// True where a grade, score or stage follows: "Hunt and Hess 3", "Rome IV".
pub fn is_graded(context: &Context<'_>, end: usize) -> bool {
    const GRADES: &[&str] = &[
        "i", "ii", "iii", "iv", "v", "vi", "ia", "ib", "iia", "iib", "iif", "iiia", "iiib", "grado", "grade", "stage",
        "estadio", "level", "score",
    ];
    let Some(token) = context.tokens.get(end) else { return false };
    match token.kind {
        super::super::token::Kind::Number => token.span.len() <= 2,
        super::super::token::Kind::Word => {
            let lower = context.lower(token);
            GRADES.contains(&lower) && (lower.len() > 3 || token.is_large() && lower != "i")
        }
        _ => false,
    }
}

/// True where a run of tokens stands as the name of a clinical thing.
pub fn stands_for_a_thing(context: &Context<'_>, first: usize, last: usize) -> bool {
    let word = |at: Option<usize>| {
        at.and_then(|at| context.tokens.get(at)).map(|token| context.lower(token)).unwrap_or_default()
    };
    let mut next = last + 1;
    if word(Some(next)) == "'" {
        next += 1;
    }
    if word(Some(next)) == "s" {
        next += 1;
    }
    if AFTER.contains(word(Some(next))) || word(Some(last)).ends_with("'s") && AFTER.contains(word(Some(last + 1))) {
        return true;
    }
    if is_part_of_a_thing(context, next) {
        return true;
    }
    let mut before = first.checked_sub(1);
    // "enfermedad de von X", "criterios de A y B": back over particles and one other name.
    for _ in 0..5 {
        let at = word(before);
        if BEFORE.contains(at) {
            return true;
        }
        let skips = matches!(
            at,
            "de" | "del" | "of" | "the" | "la" | "el" | "y" | "and" | "-" | "von" | "(" | "modificada" | "modificado"
        ) || before.and_then(|at| context.tokens.get(at)).is_some_and(super::super::token::Token::is_large);
        if !skips {
            return false;
        }
        before = before.and_then(|at| at.checked_sub(1));
    }
    false
}
