//! Words that name a substance elsewhere and are a verb or a person's name here.

use super::is_verb;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::{TextSentence, TokenizedText};

/// "Me costó": the verb, which its accent distinguishes from the noun.
pub(super) fn is_verb_by_accent(reading: &TokenizedText<'_>, word: usize) -> bool {
    let source = reading.source(&(word..word + 1)).slice(reading.text).to_lowercase();
    reading.word(word) == "costo" && source.ends_with('ó')
}

/// "Mi hermana María": a word that is a name too, in capitals within a sentence that has small letters.
pub(super) fn is_given_name(reading: &TokenizedText<'_>, word: usize, sentence: &TextSentence) -> bool {
    let source = |word: usize| reading.source(&(word..word + 1)).slice(reading.text);
    let names = matches!(reading.word(word), "maria" | "molly" | "charlie" | "mary" | "blanca" | "nieves");
    let mut letters = source(word).chars();
    let capital = letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase);
    let within = word > sentence.words.start && !reading.words[word - 1].punctuation;
    // "Fuma María" names the drug: after a verb of using, the capital proves nothing.
    let using = within && is_verb(reading.word(word - 1));
    names && capital && within && !using
}

/// A word that the one before or after it gives another sense: "her mate rang", "processing speed", "Webster pack",
/// "drugs and allergies" as a title, "meth" near the methadone of the same sentence.
pub(super) fn is_of_another_thing(reading: &TokenizedText<'_>, word: usize, end: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "homonyms.is_of_another_thing");
    let before = word.checked_sub(1).map_or("", |before| reading.word(before));
    let after = reading.word(end);
    match reading.word(word) {
        "mate" | "mates" => WORDS.contains(before),
        "speed" => {
            matches!(before, "processing" | "psychomotor" | "at" | "full" | "gait" | "walking" | "high" | "up" | "low")
                || matches!(after, "of" | "limit" | "dial" | "camera" | "cameras" | "bump")
        }
        "pack" | "packs" | "paquete" => matches!(
            before,
            "webster"
                | "blister"
                | "dosette"
                | "ice"
                | "food"
                | "care"
                | "information"
                | "action"
                | "monthly"
                | "weekly"
        ),
        "drugs" | "drug" => matches!(after, "and" | "&") && reading.word(end + 1).starts_with("allerg"),
        "thinner" => matches!(before, "blood" | "getting" | "much" | "looks" | "looking" | "bit" | "is" | "looked"),
        // Next to a substitution treatment, "meth" is short for methadone.
        "meth" => {
            let sentence = &reading.sentences[reading.sentence_of(word)];
            let doses = |at: usize| matches!(reading.word(at), "methadone" | "buprenorphine" | "subutex" | "bupe");
            before == "than" || sentence.words.clone().any(doses)
        }
        _ => false,
    }
}
