//! Words of risk that a note only names: not assessed, still to be asked, what to do in case of it, what a medicine may
//! cause, a level of risk that is low. Neither the risk nor its denial is stored: "not explored" stored as "denied"
//! would reassure falsely.

use std::ops::Range;

use super::candidates::ResolvedWords;
use super::clauses::clause_of;
use super::cue_words::RiskCueWords;
use super::topics::{RiskTopic, RiskTopics};
use crate::RiskClass;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

/// Words between "not assessed for" and its topic.
const NEAR: usize = 5;
/// Words between a warning, or the "if" of an advice, and its topic: both may be lists.
const LISTED: usize = 12;
/// Words between the topic and the "not assessed" after it.
const AFTER: usize = 3;

/// The words around a topic that is only named.
pub(super) struct UnassertedWords {
    before: PhraseMatcher,
    plan: PhraseMatcher,
    opens: PhraseMatcher,
    after: PhraseMatcher,
    warn: PhraseMatcher,
    such: PhraseMatcher,
    calls: PhraseMatcher,
    low: PhraseMatcher,
    low_before: PhraseMatcher,
}

impl UnassertedWords {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut list = |name| label(trie, super::cue_words::FILE, name);
        Self {
            before: list("unsaidbefore"),
            plan: list("unsaidplan"),
            opens: list("unsaidopens"),
            after: list("unsaidbehind"),
            warn: list("unsaidwarn"),
            such: list("unsaidsuch"),
            calls: list("unsaidcalls"),
            low: list("unsaidlow"),
            low_before: list("unsaidlowbefore"),
        }
    }

    /// Whether a sentence only names a topic.
    fn is_named(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, topic: &RiskTopic) -> bool {
        let clause = clause_of(reading, sentence, topic.words.start);
        let (start, end) = (topic.words.start, topic.words.end.min(sentence.end));
        let ends_near = |list: &PhraseMatcher, from: usize, reach: usize| {
            (from..start)
                .filter_map(|word| list.at(reading, word))
                .any(|hit| hit.words.end + reach >= start && hit.words.start < start)
        };
        ends_near(&self.before, clause.start, NEAR)
            || self.is_to_be_asked(reading, &clause, start) && !self.is_answered(reading, end..clause.end)
            || ends_near(&self.warn, clause.start, LISTED)
            || self.is_case(reading, sentence, start)
            || is_case_before(reading, sentence, topic)
            || self.is_followed(reading, end, sentence.end)
            || is_level(reading, topic) && self.is_low(reading, sentence, topic)
    }

    /// "Explorar ideación suicida en próxima visita", "Monitor for …": at the head of its clause, or after what recommends it.
    /// "Ingresa para vigilar …" says why.
    fn is_to_be_asked(&self, reading: &TokenizedText<'_>, clause: &Range<usize>, start: usize) -> bool {
        let hits = (clause.start..start).filter_map(|word| self.plan.at(reading, word)).map(|hit| hit.words);
        hits.filter(|words| words.end + NEAR >= start).any(|words| {
            let first = (clause.start..words.start)
                .all(|word| reading.words[word].punctuation || reading.word(word).parse::<u8>().is_ok());
            let label = words.start > clause.start && matches!(reading.word(words.start - 1), ":" | "-");
            let led = (clause.start..words.start)
                .filter_map(|word| self.opens.at(reading, word))
                .any(|hit| hit.words.end == words.start && hit.words.start < words.start);
            first || label || led
        })
    }

    /// "Screen for suicidality positive": the question was answered.
    fn is_answered(&self, reading: &TokenizedText<'_>, rest: Range<usize>) -> bool {
        rest.clone().any(|word| {
            matches!(
                reading.word(word),
                "positive"
                    | "positivo"
                    | "positiva"
                    | "yes"
                    | "endorses"
                    | "reports"
                    | "present"
                    | "presente"
                    | "refiere"
                    | "negative"
                    | "negativo"
                    | "negativa"
                    | "denies"
                    | "niega"
                    | "denied"
            )
        })
    }

    /// "Acudir a urgencias si ideación suicida, fiebre …", "come back if you feel suicidal": advice whose case comes after it.
    fn is_case(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, start: usize) -> bool {
        let cases = (sentence.start..start).filter_map(|word| self.such.at(reading, word)).map(|hit| hit.words);
        cases.filter(|words| words.end + LISTED >= start && words.end <= start).any(|words| {
            let parted = (words.end..start).any(|word| matches!(reading.word(word), ";" | "." | "but" | "pero" | ":"));
            // "Si" after a colon or a comma says yes.
            let before = words.start.checked_sub(1).map_or("", |word| reading.word(word));
            !parted && !matches!(before, ":" | ",") && self.calls.first(reading, sentence.start..words.start).is_some()
        })
    }

    fn is_followed(&self, reading: &TokenizedText<'_>, end: usize, limit: usize) -> bool {
        let small = |word: usize| {
            reading.words[word].punctuation && !matches!(reading.word(word), "." | ";" | ",")
                || matches!(
                    reading.word(word),
                    "risk" | "riesgo" | "today" | "hoy" | "ideation" | "actual" | "is" | "was" | "be" | "to"
                )
        };
        let from = (end..limit.min(end + AFTER)).take_while(|word| small(*word)).count();
        (end..=end + from).filter(|word| *word < limit).any(|word| self.after.at(reading, word).is_some())
    }

    /// "Suicide risk: low", "low risk of suicide".
    fn is_low(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, topic: &RiskTopic) -> bool {
        let end = topic.words.end.min(sentence.end);
        let from = end + usize::from(matches!(reading.word(end), "risk" | "riesgo"));
        let after = (from..sentence.end.min(from + 2)).any(|word| self.low.at(reading, word).is_some());
        let before = (sentence.start.max(topic.words.start.saturating_sub(5))..topic.words.start)
            .filter_map(|word| self.low_before.at(reading, word))
            .any(|hit| hit.words.end >= topic.words.start);
        after || before
    }
}

/// "If you think about killing yourself, go to A&E": an order after a case. What a person does in a case is none.
fn is_case_before(reading: &TokenizedText<'_>, sentence: &Range<usize>, topic: &RiskTopic) -> bool {
    static CASE: WordList = WordList::listed(word_lists::RISK, "unasserted.case");
    static ORDER: WordList = WordList::listed(word_lists::RISK, "unasserted.order");
    let word = |at: usize| reading.word(at);
    let begins = |at: usize| at == sentence.start || reading.words[at - 1].punctuation;
    let case = |at: usize| {
        begins(at)
            && (word(at) == "if" && word(at + 1) == "you"
                || word(at) == "si" && (1..=2).any(|n| CASE.contains(word(at + n))))
    };
    let from = sentence.start.max(topic.words.start.saturating_sub(NEAR + 2));
    let after = topic.words.end..sentence.end.min(topic.words.end + LISTED);
    let thought = matches!(topic.class, RiskClass::ActiveIdeation | RiskClass::PassiveIdeation);
    thought && (from..topic.words.start).any(case) && after.into_iter().any(|at| ORDER.contains(word(at)))
}

/// Settles the words that are only named.
pub(super) fn find(
    doc: &AnalyzedDocument<'_>,
    topics: &RiskTopics,
    words: &RiskCueWords,
    spoken_of: &[bool],
    settled: &mut ResolvedWords,
) {
    for (index, sentence) in doc.sentences() {
        if settled.sentences.contains(&index) {
            continue;
        }
        for topic in topics.find(doc.reading, sentence.words.clone(), spoken_of) {
            if words.unsaid.is_named(doc.reading, &sentence.words, &topic) {
                settled.words.push(topic.words.clone());
            }
        }
    }
}

/// Whether a topic is spoken of as a risk and not as thoughts: "suicide risk", "riesgo autolítico".
fn is_level(reading: &TokenizedText<'_>, topic: &RiskTopic) -> bool {
    let risk = |word: &str| matches!(word, "risk" | "riesgo");
    let (start, end) = (topic.words.start, topic.words.end);
    risk(reading.word(end)) || (start.saturating_sub(2)..end).any(|word| risk(reading.word(word)))
}
