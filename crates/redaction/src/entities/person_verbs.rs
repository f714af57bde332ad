//! Verbs that only people have: after a word that may be a name, they are evidence that it is one.

use super::super::document::DocumentContext;
use super::super::token::{LetterCase, TextTokenKind};
use super::cue_lists::RELATIONS;
use super::eponym_lists::AFTER;
use super::{eponyms, lexicon};
use crate::word_tables::{self, WordList};

pub(crate) use super::words::begins_sentence;

/// Verbs whose subject is a person, and states that notes give to a person. Not "comes", "lives", "helps": so does hope.
static DEEDS: WordList = WordList::spaced(
    "says said states stated reports reported denies denied complains complained agrees agreed disagrees wants wanted \
     asks asked called calls tells told thinks attends attended declines declined refuses refused admits endorses \
     endorsed describes described requests requested understands verbalizes verbalized cried smiled walked slept ate \
     phoned texted emailed wrote arrived returned drove insists insisted explained explains apologized laughed \
     translated interpreted accompanied brought visited stayed signed consented \
     aware notified informed updated paged \
     tradujo acompano firmo dice dijo refiere niega acude acudio comenta comento cuenta conto explica explico quiere llamo pide pidio solicita \
     cree piensa relata relato manifiesta verbaliza duerme llora lloro sonrie insiste avisada avisado",
);
/// Verbs whose subject is mostly a person: sufficient next to a word that the model takes for a person.
static DOINGS: WordList = WordList::listed(word_tables::ENTITIES, "person_verbs.doings");
const THEIRS: &[&str] = &["her", "his", "my", "their", "the", "su", "mi", "la", "el"];
/// States of people after "is" and "was".
static FATES: WordList = WordList::spaced(
    "tearful seen admitted discharged born married accompanied referred crying asleep awake brought hospitalized \
     transferred intubated extubated evaluated examined agreeable pleasant cooperative anxious",
);
/// Words after the years of an age.
const YEARS: &[&str] = &["f", "m", "yo", "y", "yrs", "year", "years", "anos"];
/// States of people that follow a name without a verb, so the name means no thing.
static STATES: WordList = WordList::spaced(
    "alert awake well stable tearful present absent calm cooperative asleep afebrile ambulatory male female not does did \
     still also now then never always would could should might must today yesterday tolerated resting \
     seen burnt taken given kept held put set led built spent met slid swung lines queries again home due ready unable",
);

/// A verb that only people have.
pub(crate) fn is_person_verb(word: &str) -> bool {
    DEEDS.contains(word) || DOINGS.contains(word)
}

/// "Mark says", "Grace, her sister": the words after it show a person.
pub(crate) fn acts(context: &DocumentContext<'_>, last: usize) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let next = word(last + 1);
    DEEDS.contains(next) && context.touches(last, last + 1)
        || matches!(next, "is" | "was") && FATES.contains(word(last + 2))
        || next == ","
            && (THEIRS.contains(&word(last + 2)) && RELATIONS.contains(word(last + 3))
                || matches!(word(last + 2), "age" | "aged")
                || is_number(context, last + 2) && YEARS.contains(&word(last + 3)))
}

fn is_number(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|token| token.kind == TextTokenKind::Number)
}

/// "Berg balance", "Hoyer lift", "Morse 55", "Harris-Benedict 1650": one word at the beginning of a sentence, and the
/// ordinary noun or the figure that it belongs to.
pub(crate) fn leads_a_noun(context: &DocumentContext<'_>, first: usize, last: usize) -> bool {
    let Some(next) = context.tokens.get(last + 1) else { return false };
    if eponyms::is_owned(context, last) {
        return false;
    }
    let apart = next.span.start > context.tokens[last].span.end;
    if next.kind == TextTokenKind::Number && apart && context.touches(last, last + 1) {
        if lexicon::ends_as_surname(context.lower(&context.tokens[last])) {
            return false;
        }
        return is_one_word(context, first, last) && begins_sentence(context, first);
    }
    let lower = context.lower(next);
    let noun = lexicon::is_noun(lower) && lexicon::is_ordinary(lower) || AFTER.contains(lower);
    let small = matches!(next.case, LetterCase::Lower | LetterCase::Title) && next.kind == TextTokenKind::Word;
    is_one_word(context, first, last)
        && begins_sentence(context, first)
        && small
        && noun
        && context.touches(last, last + 1)
        && !STATES.contains(lower)
        && !DEEDS.contains(lower)
}

/// One word, or words joined by hyphens.
fn is_one_word(context: &DocumentContext<'_>, first: usize, last: usize) -> bool {
    (first..last).all(|at| {
        let joined = context.tokens[at].span.end == context.tokens[at + 1].span.start;
        joined && (context.tokens[at].is_word() != context.tokens[at + 1].is_word())
    })
}

/// "Spitz nevus", "Scarlet fever": the first word of a sentence and an ordinary one in lower case, no name together.
pub(crate) fn is_word_and_noun(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
    let noun = |at: usize| {
        let token = &context.tokens[at];
        let lower = context.lower(token);
        token.case == LetterCase::Lower && token.span.len() > 2 && lexicon::is_ordinary_in(context.language, lower)
    };
    begins_sentence(context, first) && context.tokens[first].is_capitalized() && (first + 1..end).any(noun)
}
