//! Names as people type and say them: in lower case after a relative ("mi parcero brayan"), in a greeting or a farewell
//! ("hey. its lachie", "ta tegs"), in an address ("roger tell her"), or as the only capitalised word of a line. An
//! unlisted word counts where nothing but a name fits.

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::cues::{RELATIONS, TITLES};
use super::post_filter::stop_words;
use super::{eponyms, lexicon, person_verbs, places, words};
use crate::deadline;
use crate::word_tables::{self, WordList};
use anamnesis_text::Language;

/// Score of a name by such context: enough to search it in the whole document.
const TOLD: f64 = 0.8;
/// Least letters of a name that no list has.
const LEAST: usize = 4;

static BETWEEN: WordList = WordList::listed(word_tables::ENTITIES, "informal.between");
static OWNERS: WordList = WordList::listed(word_tables::ENTITIES, "informal.owners");
static SELVES: WordList = WordList::listed(word_tables::ENTITIES, "informal.selves");
static PARTINGS: WordList = WordList::listed(word_tables::ENTITIES, "informal.partings");
static ASKED: WordList = WordList::listed(word_tables::ENTITIES, "informal.asked");
static MESSAGES: WordList = WordList::listed(word_tables::ENTITIES, "informal.messages");

/// Finds names by what people write around them.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    for at in 0..context.tokens.len() {
        deadline::check_at(at);
        let token = &context.tokens[at];
        if !token.is_word() || token.span.len() < 3 || !may_be(context, token) {
            continue;
        }
        if has_name_context(context, at) {
            let placed = matches!(back(context, at, 1), "en" | "in" | "from" | "desde" | "at");
            let label = if placed { label::LOCATION } else { label::PERSON };
            found.push(PiiFinding::new(token.span, label, "name", TOLD, DetectionLayer::Entity));
        }
    }
}

fn word<'a>(context: &'a DocumentContext<'_>, at: usize) -> &'a str {
    context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default()
}

fn back<'a>(context: &'a DocumentContext<'_>, at: usize, by: usize) -> &'a str {
    at.checked_sub(by).map(|at| word(context, at)).unwrap_or_default()
}

/// A first name, or a word of no list.
fn may_be(context: &DocumentContext<'_>, token: &TextToken) -> bool {
    let lower = context.lower(token);
    let bare = lower.strip_suffix("'s").unwrap_or(lower);
    lexicon::word(bare).given || is_unknown(bare) || token.case == LetterCase::Title && !lexicon::is_ordinary(bare)
}

/// As [`is_unknown`], of a word with a capital letter inside of a sentence: a form of a verb is not written so.
pub(crate) fn is_unknown_capitalized(lower: &str) -> bool {
    lower.len() > 2
        && !stop_words::is_kin(lower)
        && !stop_words::is_medicine(lower)
        && !stop_words::is_thing(lower)
        && !stop_words::is_abbreviation(lower)
        && !lexicon::is_ordinary(lower)
        && !lexicon::is_eponym(lower)
        && !is_learned_word(lower)
        && !stop_words::opens(Language::Unknown, lower)
        && !lexicon::word(lower).is_name()
        && !places::is_place(lower)
}

/// A word that is in no list of words, medicines or abbreviations, nor one letter away from one.
pub(crate) fn is_unknown(lower: &str) -> bool {
    let letters = lower.len() >= LEAST && lower.bytes().all(|byte| byte.is_ascii_lowercase());
    let vowel = lower.bytes().any(|byte| b"aeiouy".contains(&byte));
    let known = |word: &str| {
        lexicon::is_ordinary(word) || lexicon::is_rare(word) || lexicon::is_ordinary_in(Language::Spanish, word)
    };
    letters
        && vowel
        && !is_learned_word(lower)
        && !known(lower)
        && !lower.strip_suffix('s').is_some_and(known)
        && !lower.strip_suffix("es").is_some_and(known)
        && !stop_words::is_verb(lower)
        && !stop_words::is_medicine(lower)
        && !stop_words::is_abbreviation(lower)
        && !stop_words::is_thing(lower)
        && !stop_words::is_kin(lower)
        && !stop_words::opens(Language::Unknown, lower)
        && !MESSAGES.contains(lower)
        && !lexicon::is_eponym(lower)
        && !is_mistyped(lower, known)
}

/// Endings of diseases, specialities and substances.
fn is_learned_word(lower: &str) -> bool {
    static ENDINGS: WordList = WordList::listed(word_tables::ENTITIES, "informal.endings");
    lower.len() > 5 && ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// A letter is missing, or two have changed places: "diabtica", "hermaan".
fn is_mistyped(lower: &str, known: impl Fn(&str) -> bool) -> bool {
    const LONG: usize = 6;
    if lower.len() < LONG {
        return false;
    }
    let with = |at: usize, letter: u8| format!("{}{}{}", &lower[..at], char::from(letter), &lower[at..]);
    let swapped = |at: usize| {
        let mut bytes = lower.as_bytes().to_vec();
        bytes.swap(at, at + 1);
        String::from_utf8(bytes).unwrap_or_default()
    };
    (1..lower.len()).any(|at| (b'a'..=b'z').any(|letter| known(&with(at, letter))))
        || (0..lower.len() - 1).any(|at| known(&swapped(at)))
}

fn has_name_context(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = word(context, at);
    let known = lexicon::word(lower);
    let sure = known.given && (known.is_strong() || words::is_everyday_name(lower)) && !lexicon::is_ordinary(lower);
    let large = token.case == LetterCase::Title && is_unknown_capitalized(lower);
    let unknown =
        large || !known.is_name() && !places::is_place(lower) && is_unknown(lower.strip_suffix("'s").unwrap_or(lower));
    let titled = token.case == LetterCase::Title
        && !stop_words::is_medicine(lower)
        && !stop_words::is_thing(lower)
        && !lexicon::is_eponym(lower);
    if person_verbs::begins_sentence(context, at) {
        return (sure || known.given && !known.common) && (is_called(context, at) || is_subject(context, at))
            || is_answer(context, at, sure || unknown);
    }
    is_after_relative(context, at, sure, unknown)
        || is_self(context, at) && (sure || unknown)
        || is_parting(context, at) && (sure || unknown)
        || is_articled(context, at, sure)
        || token.case == LetterCase::Title
            && (unknown || known.is_name() && !lexicon::is_ordinary(lower))
            && is_in_company(context, at)
        || titled && is_only_capitalized(context, at)
        || token.case == LetterCase::Title && unknown && is_vocative_at_end(context, at)
}

/// "mi hna cande", "hijo mayor Wilson", "her flatmate orla".
fn is_after_relative(context: &DocumentContext<'_>, at: usize, sure: bool, unknown: bool) -> bool {
    let between = usize::from(BETWEEN.contains(back(context, at, 1)));
    let relative = back(context, at, 1 + between);
    let near = at > between && (0..=between).all(|by| context.touches(at - 1 - by, at - by));
    let owned = OWNERS.contains(back(context, at, 2 + between)) || at < 2 + between;
    let large = context.tokens[at].case == LetterCase::Title;
    let is = RELATIONS.contains(relative) && near && !eponyms::denotes_thing(context, at, at);
    let given = large && lexicon::word(word(context, at)).given;
    is && (given
        || sure && (large || owned || between > 0)
        || unknown && owned && (large || context.is_lowercase_at(at)) && !is_followed_by_of(context, at))
}

/// "mi mama vive": what no list has and what a noun would be of.
fn is_followed_by_of(context: &DocumentContext<'_>, at: usize) -> bool {
    matches!(word(context, at + 1), "de" | "del" | "of")
}

fn ends(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens.get(at + 1).is_none_or(|next| {
        next.kind == TextTokenKind::Break || matches!(context.plain(next), "." | "," | "!" | "?" | ";")
    })
}

/// "hey. its lachie.", "soy yeferson,": nothing but a name answers who a person is.
fn is_self(context: &DocumentContext<'_>, at: usize) -> bool {
    let greeted = |by: usize| {
        let word = back(context, at, by);
        word.is_empty()
            || matches!(word, "." | "," | "!" | "hi" | "hey" | "hola" | "hello" | "yo" | "y")
            || at >= by && context.tokens[at - by].kind == TextTokenKind::Break
    };
    SELVES.contains(back(context, at, 1)) && ends(context, at) && greeted(2)
}

/// "ok. ta tegs": the last word of a line.
fn is_parting(context: &DocumentContext<'_>, at: usize) -> bool {
    let last = context.tokens.get(at + 1).is_none_or(|next| next.kind == TextTokenKind::Break)
        || context.tokens.get(at + 2).is_none_or(|next| next.kind == TextTokenKind::Break) && ends(context, at);
    let comma = usize::from(back(context, at, 1) == ",");
    last && PARTINGS.contains(back(context, at, 1 + comma))
}

/// "roger tell her", "Roger, listen".
fn is_called(context: &DocumentContext<'_>, at: usize) -> bool {
    let comma = usize::from(word(context, at + 1) == ",");
    ASKED.contains(word(context, at + 1 + comma)) && !matches!(word(context, at + 2 + comma), "of" | "de")
}

/// "Amaya, she 6 now", "wilson, he is".
fn is_subject(context: &DocumentContext<'_>, at: usize) -> bool {
    word(context, at + 1) == ","
        && matches!(word(context, at + 2), "she" | "he" | "ella" | "el" | "shes" | "hes" | "she's" | "he's")
}

/// "Who's with you? Tish.": one word, or one and a full stop, after a question for a person.
fn is_answer(context: &DocumentContext<'_>, at: usize, named: bool) -> bool {
    const FAR: usize = 14;
    let alone =
        context.tokens.get(at + 1).is_none_or(|next| next.kind == TextTokenKind::Break || context.plain(next) == ".");
    let before = at.saturating_sub(FAR)..at;
    let asked = before.clone().any(|at| {
        matches!(
            word(context, at),
            "who" | "who's" | "whos" | "quien" | "quienes" | "whose" | "name" | "llama" | "llamas" | "nombre"
        )
    });
    let mark = before.rev().take(3).any(|at| word(context, at) == "?");
    named && alone && asked && mark
}

/// "no podía salir de la cama, Lires.": a word of no list after a comma, the last one of a long sentence.
fn is_vocative_at_end(context: &DocumentContext<'_>, at: usize) -> bool {
    const LONG: usize = 5;
    let from = at.saturating_sub(LONG + 2);
    let words =
        context.tokens[from..at].iter().filter(|token| token.is_word() && token.case == LetterCase::Lower).count();
    back(context, at, 1) == ","
        && words >= LONG
        && !TITLES.contains(word(context, at))
        && context.tokens.get(at + 1).is_some_and(|next| matches!(context.plain(next), "." | "?" | "!"))
}

/// "el Brian y esos", "con la ingrid": an article before a first name.
fn is_articled(context: &DocumentContext<'_>, at: usize, sure: bool) -> bool {
    let token = &context.tokens[at];
    let noun = context.tokens.get(at + 1).is_some_and(|next| next.case == LetterCase::Title);
    let ordinary =
        lexicon::is_ordinary_in(Language::Spanish, word(context, at)) || lexicon::word(word(context, at)).common;
    sure && context.language == Language::Spanish
        && !(ordinary && token.case == LetterCase::Lower)
        && matches!(back(context, at, 1), "el" | "la")
        && !matches!(back(context, at, 2), "de" | "en" | "a")
        && (token.case == LetterCase::Title
            || context.is_lowercase_at(at) && words::is_everyday_name(word(context, at)))
        && !matches!(word(context, at), "rosario" | "curro" | "pilar" | "cruz" | "paz")
        && !noun
        && !lexicon::is_eponym(word(context, at))
}

/// "con el Tano", "moved in w Tish": in a line of lower-case letters.
fn is_in_company(context: &DocumentContext<'_>, at: usize) -> bool {
    let article = usize::from(matches!(back(context, at, 1), "el" | "la"));
    matches!(back(context, at, 1 + article), "con" | "w" | "with" | "d" | "x")
        && context.is_lowercase_at(at)
        && !stop_words::is_form(word(context, at + 1))
}

/// The only capitalised word inside a sentence of a text that has no other: such a capital is deliberate.
fn is_only_capitalized(context: &DocumentContext<'_>, at: usize) -> bool {
    let inside = at.checked_sub(1).is_some_and(|before| {
        let before = &context.tokens[before];
        before.case == LetterCase::Lower || context.plain(before) == ","
    });
    !is_of_a_people(word(context, at))
        && context.is_lowercase_at(at)
        && is_personal(context, at)
        && !places::is_country(word(context, at))
        && inside
        && !lexicon::is_ordinary(word(context, at))
        && !eponyms::denotes_thing(context, at, at)
        && !stop_words::is_form(word(context, at + 1))
}

/// A first-person text on the line, or an address to a person: notes have neither.
fn is_personal(context: &DocumentContext<'_>, at: usize) -> bool {
    const AROUND: usize = 30;
    static WORDS: WordList = WordList::spaced(
        "i i'm im i've ive my me mine myself we us our you your u ur yo mi mis me conmigo nos nosotros tu te ti vos contigo usted ustedes",
    );
    let free = |token: &&TextToken| token.kind != TextTokenKind::Break;
    let before = context.tokens[..at].iter().rev().take(AROUND).take_while(free);
    let after = context.tokens[at + 1..].iter().take(AROUND).take_while(free);
    before.chain(after).any(|token| WORDS.contains(context.lower(token)))
}

/// "my Ecuadorian cédula": what a person or something of a country is called.
fn is_of_a_people(lower: &str) -> bool {
    lower.len() > 5 && ["ian", "uan", "lan", "yan", "ese", "ish"].iter().any(|ending| lower.ends_with(ending))
}
