//! Questions and answers: a clinician's question alone says nothing; a "yes" or "no" answers it.

use std::ops::Range;

use super::lexicon::{SPEECH, label};
use super::matcher::PhraseMatcher;
use super::phrase_trie::TrieBuilder;
use super::tokenized::{TextSentence, TokenizedText};
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_text::Speaker;

/// Turns that an answer may be away from its question: one clarification in between.
const FARTHEST_ANSWER: usize = 4;
const FILLERS: usize = 5;
/// Words before a "yes" that ends an answer.
const SHORT: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Polarity {
    Yes,
    No,
    /// Something was said that is neither.
    Other,
}

/// Which sentence answers a question, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DialogueAnswer {
    pub(crate) polarity: Polarity,
    pub(crate) sentence: usize,
    /// "I think so", "creo que no".
    pub(crate) doubtful: bool,
    /// The yes or no comes at the end of the answer: "temblores sí".
    pub(crate) names: bool,
}

pub(crate) struct DialogueRules {
    yes: PhraseMatcher,
    no: PhraseMatcher,
    filler: PhraseMatcher,
}

impl DialogueRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self { yes: label(trie, SPEECH, "yes"), no: label(trie, SPEECH, "no"), filler: label(trie, SPEECH, "filler") }
    }

    /// For every sentence: whether it asks, and what answers it.
    pub(crate) fn question_answers(&self, reading: &TokenizedText<'_>) -> QuestionAnswers {
        let count = reading.sentences.len();
        let asks: Vec<bool> =
            (0..count).map(|at| asks(reading, &reading.sentences[at]) || self.is_answered(reading, at)).collect();
        let answers =
            (0..count).map(|index| if asks[index] { self.answer(reading, &asks, index) } else { None }).collect();
        QuestionAnswers { asks, answers }
    }

    /// A transcript of a speech recogniser without signs: "any fever or cough" — "no nothing". A clinician's turn
    /// without a closing sign, followed by a yes or a no, is a question.
    fn is_answered(&self, reading: &TokenizedText<'_>, index: usize) -> bool {
        let here = &reading.sentences[index];
        let Some(next) = reading.sentences.get(index + 1) else { return false };
        let closed = here.span.slice(reading.text).trim_end().ends_with(['.', '!', '…', ':', ';', ',']);
        let theirs = matches!(next.speaker, Speaker::Patient | Speaker::Family);
        here.speaker == Speaker::Clinician
            && theirs
            && next.turn != here.turn
            && !closed
            && here.words.len() > 1
            && self.opening(reading, next) != Polarity::Other
    }

    fn answer(&self, reading: &TokenizedText<'_>, asks: &[bool], question: usize) -> Option<DialogueAnswer> {
        let asked = &reading.sentences[question];
        let Some(turn) = asked.turn else { return self.written_answer(reading, question) };
        let following = reading.sentences.iter().enumerate().skip(question + 1).take(24);
        for (index, sentence) in following {
            let here = sentence.turn?;
            if here > turn + FARTHEST_ANSWER {
                return None;
            }
            let other = here > turn && (sentence.speaker != asked.speaker || sentence.speaker == Speaker::Unknown);
            if !other || sentence.speaker == Speaker::Agent {
                continue;
            }
            let polarity = self.polarity(reading, sentence);
            // "Me?" asks back; "no, why?" answers.
            if asks[index] && polarity == Polarity::Other {
                continue;
            }
            let names = polarity != Polarity::Other && self.opening(reading, sentence) == Polarity::Other;
            return Some(DialogueAnswer { polarity, sentence: index, doubtful: is_doubtful(reading, sentence), names });
        }
        None
    }

    /// The answer after a question of a form, on its line: "Have you ever had a seizure? No, never". Further words of
    /// the answer may reverse it: then there is none.
    fn written_answer(&self, reading: &TokenizedText<'_>, question: usize) -> Option<DialogueAnswer> {
        let asked = &reading.sentences[question];
        let given = reading.sentences.get(question + 1)?;
        let gap = reading.text.get(asked.span.end..given.span.start)?;
        if !asked.question || given.question || gap.contains('\n') {
            return None;
        }
        let polarity = self.opening(reading, given);
        let (start, second) = (given.words.start, given.words.start + 1);
        let says = |word: usize, list: &[&str]| list.contains(&reading.word(word));
        let bare = says(start, &["no", "yes", "si", "never", "nunca", "none", "ninguna", "ninguno"]);
        // "PE? No chest pain" denies something else, "Yes / No" waits for its answer.
        let parted = second >= given.words.end || says(second, &[",", ".", "never", "nunca", "nada", "none", "jamas"]);
        let turned = (second..given.words.end).any(|word| says(word, TURNING));
        // "Yes, but I stopped in 2010" is more than a yes.
        let rest = (second..given.words.end).filter(|word| !reading.words[*word].punctuation).count();
        let whole = polarity != Polarity::Yes || rest == 0 || says(second + 1, &["since", "desde"]);
        let answers = bare && parted && !turned && whole && polarity != Polarity::Other;
        answers.then(|| DialogueAnswer {
            polarity,
            sentence: question + 1,
            doubtful: is_doubtful(reading, given),
            names: false,
        })
    }

    /// How a sentence answers: by its beginning, hesitation aside, or a short one by a "yes" at its end.
    pub(crate) fn polarity(&self, reading: &TokenizedText<'_>, sentence: &TextSentence) -> Polarity {
        match self.opening(reading, sentence) {
            Polarity::Other if ends_in_yes(reading, sentence) => Polarity::Yes,
            Polarity::Other if ends_in_no(reading, sentence) => Polarity::No,
            polarity => polarity,
        }
    }

    fn opening(&self, reading: &TokenizedText<'_>, sentence: &TextSentence) -> Polarity {
        let mut word = after_stage_direction(reading, sentence);
        for _ in 0..FILLERS {
            while word < sentence.words.end && reading.words[word].punctuation {
                word += 1;
            }
            let (no, yes) = (self.no.at(reading, word), self.yes.at(reading, word));
            let longest = |hit: &Option<super::matcher::PhraseMatch>| hit.as_ref().map_or(0, |hit| hit.words.len());
            if let Some(no) = no.as_ref().filter(|_| longest(&no) > longest(&yes)) {
                let doubt = matches!(
                    reading.word(no.words.end),
                    "know" | "think" | "remember" | "se" | "sure" | "recuerdo" | "solo" | "only"
                );
                return if doubt { Polarity::Other } else { Polarity::No };
            }
            if yes.is_some() && word < sentence.words.end {
                return Polarity::Yes;
            }
            match self.filler.at(reading, word) {
                Some(filler) if word < sentence.words.end => word = filler.words.end,
                _ => return Polarity::Other,
            }
        }
        Polarity::Other
    }
}

/// "Alguna noche sí.", "some nights, yes".
fn ends_in_yes(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    let mut words = sentence.words.clone().rev().filter(|word| !reading.words[*word].punctuation);
    let last = words.next().map(|word| reading.word(word));
    matches!(last, Some("yes" | "yeah" | "yep" | "si")) && words.count() < SHORT
}

/// "Desde marzo ninguna.", "not since the summer, no".
fn ends_in_no(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    let mut words = sentence.words.clone().rev().filter(|word| !reading.words[*word].punctuation);
    let last = words.next().map(|word| reading.word(word));
    let before = words.next().map_or("", |word| reading.word(word));
    let apart = last != Some("no") || matches!(before, "" | "eso" | "that" | "de" | "year" | "summer");
    matches!(last, Some("no" | "ninguno" | "ninguna" | "none" | "never" | "nunca" | "jamas"))
        && apart
        && words.count() < SHORT
}

/// "(silencio) No.", "[laughs]": words that a transcript puts in brackets are not spoken.
fn after_stage_direction(reading: &TokenizedText<'_>, sentence: &TextSentence) -> usize {
    let start = sentence.words.start;
    if !matches!(reading.word(start), "(" | "[" | "*") {
        return start;
    }
    let closes =
        |word: &usize| matches!(reading.word(*word), ")" | "]") || (*word > start && reading.word(*word) == "*");
    (start..sentence.words.end).find(closes).map_or(start, |close| close + 1)
}

/// "I think so", "creo que no", "supongo".
fn is_doubtful(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    sentence.words.clone().take(SHORT).any(|word| {
        matches!(
            reading.word(word),
            "creo" | "supongo" | "quiza" | "quizas" | "maybe" | "guess" | "suppose" | "perhaps" | "possibly" | "think"
        )
    })
}

/// Whether a written question asks for a mention and nothing more: "Have you ever had X?", "¿Toma X?". "Have you stopped X?",
/// "Is your X better?" and "Have you been tested for X?" ask for something else.
pub(crate) fn asks_whether_there_is(
    reading: &TokenizedText<'_>,
    sentence: &TextSentence,
    mention: &Range<usize>,
) -> bool {
    let plain = |word: &usize| !reading.words[*word].punctuation;
    let framed = |word: usize| FRAME.contains(reading.word(word));
    let tailed = |word: usize| TAIL.contains(reading.word(word));
    let mut before = (sentence.words.start..mention.start).filter(plain);
    let some = (sentence.words.start..mention.start).any(|word| plain(&word));
    some && before.all(framed) && (mention.end..sentence.words.end).filter(plain).all(tailed)
}

static FRAME: WordList = WordList::listed(word_lists::GENERAL, "dialogue.frame");
/// Words after the mention that say when.
static TAIL: WordList = WordList::listed(word_lists::GENERAL, "dialogue.tail");
/// Words that make an answer more than a yes or a no.
const TURNING: &[&str] = &[
    "but", "except", "until", "only", "just", "yes", "no", "si", "pero", "salvo", "hasta", "solo", "excepto", "menos",
    "still", "sigo", "sigue", "antes", "used", "[", "]", "/", "(",
];

/// The questions of a document and their answers, by sentence.
pub(crate) struct QuestionAnswers {
    asks: Vec<bool>,
    answers: Vec<Option<DialogueAnswer>>,
}

impl QuestionAnswers {
    pub(crate) fn asks(&self, sentence: usize) -> bool {
        self.asks.get(sentence).copied().unwrap_or(false)
    }

    pub(crate) fn answer(&self, sentence: usize) -> Option<DialogueAnswer> {
        self.answers.get(sentence).copied().flatten()
    }
}

/// A question mark, or in speech an opening that asks ("do you", "tiene usted").
fn asks(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    if sentence.question {
        return true;
    }
    let (first, second) = (reading.word(sentence.words.start), reading.word(sentence.words.start + 1));
    sentence.turn.is_some()
        && sentence.speaker == Speaker::Clinician
        && (matches!(
            (first, second),
            ("do" | "are" | "have" | "did" | "were", "you") | ("does" | "is" | "has", "he" | "she") | ("any", _)
        ) || matches!(
            (first, second),
            ("tiene" | "toma" | "es" | "ha" | "esta", "usted") | ("alguna" | "algun", _)
        ) || matches!((first, second), ("what" | "how", "about") | ("how", "much") | ("what", "dose"))
            || matches!((first, second), ("esta" | "sigue" | "estas" | "sigues", "usando" | "tomando")))
        && sentence.words.len() > 1
        && !sentence.span.slice(reading.text).ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_text::{Document, Language};

    fn answers(turns: &[(Speaker, &str)]) -> Vec<Option<Polarity>> {
        let document = Document::dialogue(turns.iter().map(|(who, words)| (*who, *words, None)), Language::Unknown);
        let mut trie = TrieBuilder::default();
        let rules = DialogueRules::builtin(&mut trie);
        let reading = TokenizedText::new(&document, &trie.build());
        let question_answers = rules.question_answers(&reading);
        (0..reading.sentences.len()).map(|s| question_answers.answer(s).map(|answer| answer.polarity)).collect()
    }

    #[test]
    fn hesitation_does_not_hide_the_answer() {
        use Speaker::{Clinician as C, Patient as P};
        assert_eq!(answers(&[(C, "Any allergies?"), (P, "Um, no, not that I know.")])[0], Some(Polarity::No));
        assert_eq!(answers(&[(C, "¿Toma algo?"), (P, "Pues sí, sertralina.")])[0], Some(Polarity::Yes));
        assert_eq!(answers(&[(C, "¿Ha pensado en morir?"), (P, "Alguna noche sí.")])[0], Some(Polarity::Yes));
        assert_eq!(answers(&[(C, "Have you thought of dying?"), (P, "Some nights, yes.")])[0], Some(Polarity::Yes));
        assert_eq!(answers(&[(C, "¿Duerme?"), (P, "Hoy no.")])[0], Some(Polarity::Other));
        assert_eq!(answers(&[(C, "Pain?"), (P, "I don't know.")])[0], Some(Polarity::Other));
        assert_eq!(
            answers(&[(C, "Are you allergic?"), (P, "Me?"), (C, "Yes."), (P, "No, I am not.")])[0],
            Some(Polarity::No)
        );
    }

    #[test]
    fn the_asker_does_not_answer_and_an_agent_never_does() {
        use Speaker::{Agent as A, Clinician as C, Patient as P};
        assert_eq!(answers(&[(C, "Any pain?"), (C, "No."), (P, "Yes.")])[0], Some(Polarity::Yes));
        assert_eq!(answers(&[(P, "Is it bad?"), (A, "Yes.")])[0], None);
    }
}
