//! How a question about risk is meant: one that is put in the negative ("you haven't hurt yourself, have you?"), one that asks for a
//! promise ("can you promise not to …?"), one that only names risk and asks for something else ("do you mind if I ask about
//! suicide?"), and one about two things of which the answer names one ("myself, not others").

use std::ops::Range;

use super::topics::{RiskTopic, TopicInversion};
use crate::RiskClass;
use crate::analysis::AnalyzedDocument;
use crate::dialogue::Polarity;
use crate::lexicon::label;
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

/// Words between a promise and its content.
const PROMISED: usize = 4;
/// Words at the head of an answer that choose among the topics of the question.
const CHOICE: usize = 7;

/// The words that make a question ask otherwise.
pub(super) struct QuestionWording {
    elsewise: PhraseMatcher,
    promise: PhraseMatcher,
    echoes: PhraseMatcher,
    tagged: PhraseMatcher,
    struck: PhraseMatcher,
    how: PhraseMatcher,
    methods: PhraseMatcher,
}

impl QuestionWording {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut list = |name| label(trie, super::cue_words::FILE, name);
        Self {
            elsewise: list("elsewise"),
            promise: list("promise"),
            echoes: list("echoes"),
            tagged: list("tagged"),
            struck: list("struck"),
            how: list("howasked"),
            methods: list("methods"),
        }
    }

    /// "Do you mind if I ask about suicide?", "you'd tell me if you felt suicidal?": the answer is not about the risk.
    pub(crate) fn is_for_something_else(
        &self,
        reading: &TokenizedText<'_>,
        sentence: &Range<usize>,
        topic: &RiskTopic,
    ) -> bool {
        self.elsewise.first(reading, sentence.start..topic.words.start).is_some()
    }

    /// "Can you promise not to hurt yourself?": a "no" refuses safety.
    pub(crate) fn promised(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, topic: RiskTopic) -> RiskTopic {
        let from = sentence.start.max(topic.words.start.saturating_sub(10));
        let promises = (from..topic.words.start).filter_map(|word| self.promise.at(reading, word));
        let held = |words: &Range<usize>| {
            // Only with a denial after it: "can you promise to call" refuses no safety.
            let denied = (words.start..topic.words.start).any(|word| is_not(reading.word(word)));
            denied && words.end + PROMISED >= topic.words.start
        };
        let promised = promises.map(|hit| hit.words).any(|words| held(&words));
        let turned =
            if promised && topic.turned == TopicInversion::No { TopicInversion::Opposite } else { topic.turned };
        RiskTopic { turned, ..topic }
    }

    /// The answer to a question in the negative. A "no" denies; a Spanish "sí", "I have" and a yes to "have you?"
    /// contradict it; any other yes may agree with the denial as well, and decides neither.
    pub(crate) fn to_negative(
        &self,
        reading: &TokenizedText<'_>,
        question: &Range<usize>,
        (given, at): (&[Range<usize>], usize),
        polarity: Polarity,
    ) -> Polarity {
        if polarity != Polarity::Yes {
            return polarity;
        }
        let answer = &given[at];
        let words = || answer.clone().filter(|word| !reading.words[*word].punctuation);
        let denies = words().any(|word| is_not(reading.word(word)) || reading.word(word).starts_with("ningun"));
        let spanish = words().next().is_some_and(|word| matches!(reading.word(word), "si" | "sii" | "claro"));
        let echoes = words().take(2).any(|word| self.echoes.at(reading, word).is_some());
        let tagged = (question.end.saturating_sub(4)..question.end).any(|word| {
            word > question.start && reading.words[word - 1].punctuation && self.tagged.at(reading, word).is_some()
        });
        if !denies && (spanish || echoes || tagged) {
            return Polarity::Yes;
        }
        // "I used to imagine it. No.": the no after it answers.
        let bare = |words: &Range<usize>| {
            let mut said = words.clone().filter(|word| !reading.words[*word].punctuation);
            said.next().is_some_and(|word| reading.word(word) == "no") && said.next().is_none()
        };
        if given.iter().any(bare) { Polarity::No } else { Polarity::Other }
    }

    /// "I have", "actually I am": a yes that repeats the question's verb, and no more.
    pub(crate) fn echo(&self, reading: &TokenizedText<'_>, answer: &Range<usize>) -> bool {
        let first = answer.clone().find(|word| !reading.words[*word].punctuation);
        let hit = first.and_then(|word| self.echoes.at(reading, word));
        hit.is_some_and(|hit| hit.words.end >= answer.end || reading.words[hit.words.end].punctuation)
    }

    /// "How would you do it? — Pills.": a way that the answer names first, and does not deny.
    pub(crate) fn method(
        &self,
        reading: &TokenizedText<'_>,
        question: &Range<usize>,
        answer: &Range<usize>,
    ) -> Option<Range<usize>> {
        self.how.first(reading, question.clone())?;
        let head = answer.start..answer.end.min(answer.start + CHOICE);
        let method = self.methods.first(reading, head.clone())?.words;
        (!(head.start..method.start).any(|word| is_not(reading.word(word)))).then_some(method)
    }

    /// "No, never. Well, he pushed me at Easter": a blow that the answer speaks of.
    pub(crate) fn struck(&self, reading: &TokenizedText<'_>, given: &[Range<usize>]) -> bool {
        given.iter().any(|words| {
            let hit = self.struck.first(reading, words.clone());
            hit.is_some_and(|hit| !(words.start..hit.words.start).rev().take(3).any(|word| is_not(reading.word(word))))
        })
    }
}

/// The polarity of each topic of the question, where an answer names them: "myself, not others", "lo primero sí".
pub(super) fn chosen(
    reading: &TokenizedText<'_>,
    answer: &Range<usize>,
    asked: &[RiskTopic],
    named: &[RiskTopic],
) -> Option<Vec<(RiskTopic, Polarity)>> {
    // "Suicide yes, homicide no": each by its name.
    let by_name: Vec<(RiskTopic, Polarity)> = named
        .iter()
        .filter_map(|own| {
            let polarity = match reading.word(own.words.end) {
                "yes" | "si" => Polarity::Yes,
                "no" => Polarity::No,
                _ => return None,
            };
            let topic = asked.iter().find(|topic| topic.class == own.class)?;
            Some((topic.clone(), polarity))
        })
        .collect();
    if by_name.iter().any(|(_, polarity)| *polarity == Polarity::Yes) {
        return Some(by_name);
    }
    let head = answer.start..answer.end.min(answer.start + CHOICE + 4);
    let word = |at: usize| if head.contains(&at) { reading.word(at) } else { "" };
    let two = asked.len() > 1;
    let place = head.clone().take(3).find_map(|at| match (word(at), word(at + 1)) {
        ("lo" | "el" | "la" | "the", "primero" | "primera" | "first" | "former") => Some(0),
        ("lo" | "el" | "la" | "the", "segundo" | "segunda" | "second" | "latter") => Some(1),
        _ => None,
    });
    if let Some(place) = place.filter(|_| two) {
        let denied = head.clone().any(|at| is_not(word(at)));
        let one = asked.get(place)?;
        return Some(vec![(one.clone(), if denied { Polarity::No } else { Polarity::Yes })]);
    }
    let others = |class: RiskClass| class == RiskClass::HarmToOthers;
    let mut out = Vec::new();
    let mut named = 0;
    for at in head.clone() {
        let before = if at > head.start { word(at - 1) } else { "" };
        let of_others = match word(at) {
            // "Not killing myself" names the deed, and chooses nothing.
            "myself"
                if at == head.start
                    || matches!(before, "," | "." | "not" | "no" | "only" | "just" | "but" | "yes" | "and") =>
            {
                false
            }
            "mi" if before == "a" => false,
            "others" | "them" => true,
            "otros" | "ellos" | "nadie" | "alguien" if before == "a" => true,
            _ => continue,
        };
        named += 1;
        let next = word(
            at + 1 + usize::from(reading.words.get(at + 1).is_some_and(|next| next.punctuation) && word(at + 1) == ","),
        );
        let denied =
            is_not(before) || is_not(word(at + 1)) || before == "a" && at > 1 && is_not(word(at - 2)) && next != "si";
        let polarity = if denied { Polarity::No } else { Polarity::Yes };
        out.extend(
            asked.iter().filter(|topic| others(topic.class) == of_others).map(|topic| (topic.clone(), polarity)),
        );
    }
    let yes_alone = named == 1 && out.iter().all(|(_, polarity)| *polarity == Polarity::Yes);
    (!out.is_empty() && (named > 1 || yes_alone)).then_some(out)
}

fn is_not(word: &str) -> bool {
    matches!(word, "no" | "not" | "n't" | "never" | "nunca" | "jamas" | "tampoco" | "wont" | "dont")
}

/// "¿Y a los niños les hace algo?": children are named in the question about violence.
pub(super) fn of_children(doc: &AnalyzedDocument<'_>, topic: &Range<usize>) -> bool {
    let sentence = &doc.reading.sentences[doc.reading.sentence_of(topic.start)].words;
    let child = |word: &str| {
        ["nin", "hij", "wawa", "guagua", "chic", "child", "kid", "baby", "bebe", "nen", "gury"]
            .iter()
            .any(|stem| word.starts_with(stem) && word.len() <= stem.len() + 4)
    };
    sentence.clone().any(|word| child(doc.reading.word(word)))
}

/// A question that the writer asks of themselves.
pub(super) fn is_own(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    words.clone().any(|word| matches!(doc.reading.word(word), "i" | "yo" | "why" | "porque"))
        && !words.clone().any(|word| matches!(doc.reading.word(word), "you" | "your" | "he" | "ha" | "has"))
}
