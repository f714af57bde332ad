//! Evidence for organisations, places, street corners and people in ordinary words: the words before them, their letter
//! case, and the certainty of the model.

use super::super::document::DocumentContext;
use super::super::entities::word_classes::{WordClasses, word_classes};
use super::super::entities::{lexicon, person_verbs};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::tagged_span::{FEW, TaggedSpan, words};
use crate::word_tables::{self, WordList};

/// Score from which two capitalised words inside a sentence are an organisation.
const LIKELY: f64 = 0.62;
/// Score from which one capitalised ordinary word after "at" is an organisation or a place.
const HOUSE: f64 = 0.85;
/// Certainty from which small words after "at" are an organisation.
const LOWER_HOUSE: f64 = 0.75;
/// Score from which two capitalised words after a comma are an organisation.
const SET_OFF: f64 = 0.75;

/// Languages, which follow "in" when people speak and write.
static LANGUAGES: WordList = WordList::spaced(
    "english spanish french german italian portuguese polish russian ukrainian romanian greek turkish arabic farsi dari \
     pashto urdu hindi punjabi bengali gujarati tamil telugu nepali mandarin cantonese chinese japanese korean vietnamese \
     thai tagalog malay somali amharic tigrinya swahili yoruba igbo hausa zulu xhosa welsh irish gaelic scots dutch danish \
     swedish norwegian finnish czech slovak hungarian serbian croatian bosnian albanian armenian hebrew yiddish latin \
     navajo nahuatl quechua creole samoan tongan maori hawaiian hmong kikuyu braille",
);
pub(crate) static STREETS: WordList = WordList::listed(word_tables::TAGGER, "organization_evidence.streets");

/// At least two capitalised words inside a sentence with a high score: "Weather Decision Technologies".
pub(crate) fn is_title(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let title = |token: &&TextToken| token.case == LetterCase::Title;
    let inside = one
        .first
        .checked_sub(1)
        .is_some_and(|at| matches!(context.tokens[at].case, LetterCase::Lower | LetterCase::Upper));
    let set_off =
        one.first.checked_sub(1).is_some_and(|at| matches!(context.plain(&context.tokens[at]), "," | ":" | "("));
    let enough = inside && one.finding.score >= LIKELY
        || set_off && one.finding.score >= SET_OFF && one.finding.label == label::ORGANIZATION;
    enough && !context.no_case() && words(context, one).filter(title).count() >= 2
}

/// "labs at Quest beforehand", "works for Delta": one capitalised ordinary word inside a sentence, after a word that
/// leads to an organisation.
pub(crate) fn is_organization(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let token = &context.tokens[one.first];
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let word = |by: usize| one.first.checked_sub(by).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let placed = matches!(before, "in" | "near" | "around" | "outside")
        || before == "to" && matches!(word(2), "moved" | "moving" | "move" | "back" | "flew" | "drove" | "return");
    let place = placed && one.finding.label == label::LOCATION && !LANGUAGES.contains(context.lower(token));
    let earlier = one.first.checked_sub(2).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let sent = before == "to" && (earlier == "sent" || earlier.ends_with("ed"));
    let leads = matches!(before, "at" | "from" | "via" | "through") || place || sent;
    let free = context.tokens.get(one.end).is_none_or(|next| !lexicon::is_noun(context.lower(next)));
    one.end - one.first == 1
        && token.case == LetterCase::Title
        && leads
        && free
        && !context.no_case()
        && one.finding.score >= HOUSE
}

/// "known to north county outreach": two small words or more of which the model is sure, after what leads to an organisation.
pub(crate) fn is_lowercase_organization(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    one.finding.label == label::ORGANIZATION
        && one.finding.score >= LOWER_HOUSE
        && words(context, one).count() >= 2
        && words(context, one).all(|token| token.case == LetterCase::Lower)
        && matches!(before, "at" | "from" | "to" | "with" | "in" | "of" | "by" | "for" | "near")
}

/// "Main and 3rd", "Canal and Lafayette": two capitalised words or street numbers, after a word that leads to a place.
pub(crate) fn is_corner(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let Some(joint) = (one.first + 1..one.end.saturating_sub(1))
        .find(|at| matches!(context.lower(&context.tokens[*at]), "and" | "&"))
    else {
        return false;
    };
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let street = |at: usize| {
        let token = &context.tokens[at];
        token.case == LetterCase::Title && token.is_word() || token.kind == TextTokenKind::Number
    };
    !context.no_case()
        && street(joint - 1)
        && street(joint + 1)
        && matches!(before, "at" | "from" | "to" | "on" | "as" | "of" | "near" | "corner" | "off" | "by")
}

/// "rounded with Castellano", "twins Arlo and Peaches", "the Delgados": an ordinary word, capitalised inside a
/// sentence, with a high score, and no eponym.
pub(crate) fn is_named_inside(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let Some(before) = one.first.checked_sub(1).map(|at| &context.tokens[at]) else { return false };
    let inside = before.kind == TextTokenKind::Word
        && (before.case == LetterCase::Lower || context.lower(before) == "the")
        || matches!(context.plain(before), "," | "(" | "/");
    let eponym = |token: &TextToken| {
        let lower = context.lower(token);
        let bare = lower.strip_suffix("'s").unwrap_or(lower);
        lexicon::is_eponym(bare) && !word_classes(bare).has(WordClasses::EVERYDAY_NAME)
    };
    let title = |token: &TextToken| token.case == LetterCase::Title && token.span.len() > 1;
    // "Disabilities of the Arm, Shoulder and Hand": a heading has capital letters everywhere.
    let small = context.tokens.iter().filter(|token| token.is_word() && token.case == LetterCase::Lower).count();
    let large = context.tokens.iter().filter(|token| token.is_word() && token.is_capitalized()).count();
    let free = context.tokens.get(one.end).is_none_or(|next| {
        next.case != LetterCase::Lower
            || !lexicon::is_noun(context.lower(next))
            || person_verbs::is_person_verb(context.lower(next))
    });
    one.finding.label == label::PERSON
        && one.finding.score >= HOUSE
        && !context.no_case()
        && inside
        && free
        && small > large.max(FEW / 2)
        && words(context, one).all(title)
        && !words(context, one).any(eponym)
}
