//! Denials around words of risk that the general assertion rules miss, or read too widely.

use std::ops::Range;

use crate::dialogue::Polarity;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// "I don't want to die", "no quiero morirme", "it never crossed my mind": a denial right before the wish. General
/// rules apply a "don't want" to the wish itself, since "I don't want the pills" denies no pills.
pub(super) fn wish_denied(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "negation.wish_denied");
    let wishes = WORDS.contains(reading.word(found.start));
    let ahead = (sentence.start..found.start).rev().map(|word| reading.word(word));
    let mut ahead = ahead.skip_while(|word| {
        matches!(*word, "really" | "ever" | "even" | "actually" | "me" | "ya" | "siquiera" | "realmente" | "que" | "es")
    });
    let denial = ahead.next().unwrap_or("");
    // Right before the wish, adverbs aside: "I don't even want to die".
    wishes && matches!(denial, "n't" | "not" | "never" | "dont" | "didnt" | "no" | "nunca" | "jamas" | "tampoco" | "ni")
}

/// "Denies keeping a gun", "no guarda la escopeta": only pronouns come between a denial and the denied words. The
/// "denies" of "denies wanting to die, keeps a gun" denies something else.
pub(super) fn denied_itself(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "negation.denied_itself");
    let denies = |word: &str| {
        matches!(
            word,
            "no" | "not"
                | "n't"
                | "never"
                | "nunca"
                | "jamas"
                | "tampoco"
                | "without"
                | "sin"
                | "neither"
                | "ningun"
                | "ninguna"
        )
    };
    let mut ahead =
        (sentence.start..found.start).rev().map(|word| reading.word(word)).skip_while(|word| WORDS.contains(word));
    let before = ahead.next().unwrap_or("");
    let spoken = ["denies", "denied", "deny", "denying", "niega", "niego", "nego", "negando", "niegan"];
    // "Has no gun": right after the verb.
    denies(before)
        || spoken.contains(&before)
        || (found.start + 1..found.end.min(found.start + 3)).any(|w| denies(reading.word(w)))
}

/// "Thinks about death, denies plan", "piensa en la muerte; no tiene un plan": words that would make a plan together end
/// with the denial of it. Means or a letter after the denial, as in "no plan yet but has pills", are a plan.
pub(super) fn denies_plan_inside(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let last = words.end.saturating_sub(2).max(words.start + 1)..words.end;
    let denied = |plan: usize| {
        PLANNED.contains(&reading.word(plan))
            && (plan.saturating_sub(PLAN_REACH).max(words.start)..plan).any(|word| is_denial(reading.word(word)))
    };
    last.clone().any(denied)
}

/// "Le da vueltas a quitarse de en medio, plan no tiene": the denial after the words denies only the plan. `end`: of
/// the words, in `sentence`. "Plan:" is a heading.
pub(super) fn denies_plan_after(reading: &TokenizedText<'_>, sentence: &Range<usize>, end: usize) -> bool {
    let word = |at: usize| if at < sentence.end { reading.word(at) } else { "" };
    let parts = |at: usize| {
        reading.words.get(at).is_some_and(|word| word.punctuation)
            || matches!(word(at), "y" | "pero" | "aunque" | "and" | "but")
    };
    let Some(plan) = (end..end + AFTER_REACH).find(|at| PLANNED.contains(&word(*at))) else { return false };
    let own = (plan + 1..plan + 3).take_while(|at| !parts(*at)).any(|at| is_denial(word(at)));
    own && (end..plan).any(parts) && !(end..plan).any(|at| is_denial(word(at)))
}

/// Words after a wish within which a later denial denies only the plan.
const AFTER_REACH: usize = 7;

fn is_denial(word: &str) -> bool {
    let says = ["denies", "denied", "deny", "denying", "niega", "niego", "nego", "negando", "niegan"];
    let none = ["no", "not", "n't", "never", "nunca", "jamas", "tampoco", "without", "sin", "ni", "ningun", "w/o"];
    says.contains(&word) || none.contains(&word)
}

/// What is denied of a plan.
const PLANNED: &[&str] = &[
    "plan",
    "plans",
    "planes",
    "planned",
    "planning",
    "planeado",
    "planificado",
    "intent",
    "intention",
    "intentions",
    "intencion",
    "intenciones",
    "intencionalidad",
    "planificacion",
    "preparativos",
    "means",
    "medios",
    "method",
    "metodo",
    "fecha",
];

/// Words between a denial and the plan that it denies: "no tiene un plan", "does not have any".
const PLAN_REACH: usize = 5;

/// The answer of a note right after a question: "Have you ever tried to end your life? Once, in 2019". Both at once are
/// the choices of a form.
pub(super) fn noted_answer(reading: &TokenizedText<'_>, question: usize) -> Option<Polarity> {
    let answer = reading.sentences.get(question + 1).filter(|next| !next.question)?;
    let mut words = answer.words.clone().take(ANSWER_HEAD).map(|word| reading.word(word));
    let yes = |word: &str| {
        matches!(
            word,
            "yes" | "yeah" | "si" | "once" | "twice" | "sometimes" | "often" | "positive" | "afirma" | "afirmativo"
        )
    };
    let no =
        |word: &str| matches!(word, "no" | "never" | "denies" | "denied" | "nunca" | "jamas" | "niega" | "negative");
    let signs =
        |word: &&str| matches!(*word, "r" | "a" | "pt" | ":" | "-" | "¡" | "\"" | "«" | "“" | "answer" | "respuesta");
    let first = words.by_ref().find(|word| !signs(word))?;
    let mut rest = words;
    match (yes(first), no(first)) {
        (true, _) if !rest.any(no) => Some(Polarity::Yes),
        (_, true) if !rest.any(yes) => Some(Polarity::No),
        _ => None,
    }
}

/// Words at the head of an answer that decide it.
const ANSWER_HEAD: usize = 4;

/// "Nadie me pega en casa", "no one has ever hit me": only helping words come between the pronoun and the verb. "Nobody
/// knows that he hits me" denies nothing.
pub(super) fn is_done_by_nobody(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &Range<usize>) -> bool {
    let helps = |word: &&str| {
        matches!(
            *word,
            "ever" | "has" | "have" | "had" | "nunca" | "jamas" | "ha" | "habia" | "here" | "there" | "aqui"
        )
    };
    let mut ahead = (sentence.start..found.start).rev().map(|word| reading.word(word)).skip_while(helps);
    match ahead.next() {
        Some("nobody" | "nadie" | "ninguno" | "ninguna") => true,
        Some("one") => ahead.next() == Some("no"),
        _ => false,
    }
}

/// "Suicide's never been in my head", "dying is the last thing I want": the words of risk are the subject of their
/// denial. For ideas and wishes alone: an act that was "never reported" was done.
pub(super) fn denied_as_subject(reading: &TokenizedText<'_>, end: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "negation.denied_as_subject");
    let helps = |word: &&str| WORDS.contains(word);
    let words: Vec<&str> = (end..end + SUBJECT_REACH).map(|word| reading.word(word)).skip_while(helps).collect();
    match words.as_slice() {
        ["never" | "nunca" | "jamas", verb, further, ..] => match *verb {
            // "Never been in my head", "nunca ha sido una opción" deny; "never been this bad" and "never been reported"
            // do not.
            "been" => matches!(*further, "in" | "on" | "an" | "something" | "anything"),
            "ha" => matches!(words.get(2..5), Some(["sido", "una", "opcion"] | ["estado", "en", "mi"])),
            "crossed" | "entered" | "occurred" | "occurs" | "crosses" => true,
            _ => false,
        },
        ["the", "last", "thing", wants @ ..] => {
            wants.iter().any(|word| matches!(*word, "want" | "wants" | "wanted" | "would" | "on" | "mind"))
        }
        ["lo", "ultimo", "que", ..] | ["not", "an", "option", ..] | ["not", "on", "the", "table" | "cards", ..] => true,
        ["no", "es" | "fue", "una", "opcion", ..] | ["no", "ha", "sido", "una", "opcion", ..] => true,
        ["no", "ha", "sido", "nunca", "una", "opcion", ..] => true,
        _ => false,
    }
}

/// Words after words of risk within which they are denied as a subject.
const SUBJECT_REACH: usize = 8;

/// "Suicidal ideation denied, sleeps well": a participle right after that closes its phrase.
pub(super) fn is_denied_after(reading: &TokenizedText<'_>, end: usize) -> bool {
    let colon = usize::from(matches!(reading.word(end), ":" | "is" | "are" | "was" | "were" | "-"));
    let says = matches!(
        reading.word(end + colon),
        "denied" | "absent" | "negada" | "negado" | "negadas" | "negados" | "ausente" | "ausentes"
    );
    says && reading.words.get(end + colon + 1).is_none_or(|word| word.punctuation)
}
