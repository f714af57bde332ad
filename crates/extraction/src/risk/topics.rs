//! Topics of questions, boxes and denials about risk: by itself such a word says nothing of the patient; with its
//! answer, mark or denial it does.

use std::ops::Range;

use super::experiencer::is_relative;
use crate::RiskClass;
use crate::dialogue::Polarity;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(super) const FILE: &str = include_str!("../lexicon/risk_topics.tsv");

/// Sentences before and after in which a word that names risk must be, where a word such as "plan" is to mean it.
const NEAR: usize = 8;
/// The same in a dialogue, whose sentences are short.
const NEAR_SPOKEN: usize = 18;
/// The same after, with its own.
const AHEAD: usize = 6;

/// How a phrase names its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TopicMatch {
    /// By itself.
    Name,
    /// Where others of these words are nearby.
    Near,
    /// By its opposite: who feels safe denies.
    Safe,
    /// In capitals, in English.
    Short,
    /// Where someone is named after it whom it would befall: "thoughts of hurting the kids".
    Aimed,
}

/// Which way round something is named or asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopicInversion {
    /// By itself.
    No,
    /// By its opposite: "safe at home".
    Opposite,
    /// By its end: "have the thoughts gone?".
    Over,
    /// By its decrease: "are the thoughts fewer?".
    Less,
}

/// A phrase found.
#[derive(Debug, Clone)]
pub(super) struct RiskTopic {
    pub(crate) class: RiskClass,
    pub(crate) words: Range<usize>,
    pub(crate) turned: TopicInversion,
}

impl RiskTopic {
    /// Whether the opposite is named.
    pub(crate) fn is_safe(&self) -> bool {
        self.turned == TopicInversion::Opposite
    }

    /// Whether an answer to a question about it denies it; `None` where the answer says neither.
    pub(crate) fn denied_by(&self, answer: Polarity) -> Option<bool> {
        match (answer, self.turned) {
            (Polarity::Other, _) | (Polarity::Yes, TopicInversion::Less) => None,
            (Polarity::Yes, turned) => Some(turned != TopicInversion::No),
            (Polarity::No, turned) => Some(turned == TopicInversion::No),
        }
    }
}

pub(super) struct RiskTopics {
    /// No class for words that only sound alike, two for "SI/HI".
    rows: Vec<(Vec<RiskClass>, TopicMatch)>,
    matcher: PhraseMatcher,
    /// Phrases that need a person after them; another phrase may begin within one that names no one.
    aimed: PhraseMatcher,
}

impl RiskTopics {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut rows = Vec::new();
        let (mut phrases, mut aimed) = (Vec::new(), Vec::new());
        for line in FILE.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, '\t');
            let (Some(class), Some(mode), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let classes: Vec<RiskClass> = class.split(',').filter_map(RiskClass::from_code).collect();
            let mode = match mode {
                "near" => TopicMatch::Near,
                "safe" => TopicMatch::Safe,
                "aimed" => TopicMatch::Aimed,
                "short" | "shortes" | "pair" => TopicMatch::Short,
                _ => TopicMatch::Name,
            };
            let index = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            let list = if mode == TopicMatch::Aimed { &mut aimed } else { &mut phrases };
            list.extend(words.split('|').map(|phrase| (phrase.trim(), index)).filter(|(phrase, _)| !phrase.is_empty()));
            rows.push((classes, mode));
        }
        Self { matcher: PhraseMatcher::new(trie, phrases), aimed: PhraseMatcher::new(trie, aimed), rows }
    }

    /// For each sentence whether a word there names risk by itself.
    pub(crate) fn spoken_of(&self, reading: &TokenizedText<'_>) -> Vec<bool> {
        let names = |range: &Range<usize>| self.hits(reading, range.clone()).any(|(_, mode)| mode != TopicMatch::Near);
        reading.sentences.iter().map(|sentence| names(&sentence.words)).collect()
    }

    /// The topics within a range of one sentence.
    pub(crate) fn find(&self, reading: &TokenizedText<'_>, within: Range<usize>, spoken_of: &[bool]) -> Vec<RiskTopic> {
        let index = reading.sentence_of(within.start);
        let near = if reading.sentences.get(index).is_some_and(|sentence| sentence.turn.is_some()) {
            NEAR_SPOKEN
        } else {
            NEAR
        };
        let around = index.saturating_sub(near)..(index + AHEAD).min(spoken_of.len());
        let near = || spoken_of[around.clone()].iter().any(|named| *named);
        let found = self.hits(reading, within).filter(|(_, mode)| *mode != TopicMatch::Near || near());
        found.map(|(topic, _)| topic).collect()
    }

    fn hits<'a>(
        &'a self,
        reading: &'a TokenizedText<'_>,
        within: Range<usize>,
    ) -> impl Iterator<Item = (RiskTopic, TopicMatch)> + 'a {
        let aimed = self.aimed.find(reading, within.clone());
        self.matcher.find(reading, within).into_iter().chain(aimed).flat_map(move |hit| {
            let row = self.rows.get(hit.meaning as usize);
            let row = row.filter(|(_, mode)| match mode {
                TopicMatch::Short => is_short(reading, &hit.words),
                TopicMatch::Aimed => names_person(reading, hit.words.end),
                _ => true,
            });
            let topic = |class: &RiskClass, mode: TopicMatch| {
                let turned = if mode == TopicMatch::Safe { TopicInversion::Opposite } else { TopicInversion::No };
                (RiskTopic { class: *class, turned, words: hit.words.clone() }, mode)
            };
            row.map_or(Vec::new(), |(classes, mode)| classes.iter().map(|class| topic(class, *mode)).collect())
        })
    }
}

/// Whether someone is named at a word or right after an article: "the kids", "[PERSON_12]", "a nadie".
fn names_person(reading: &TokenizedText<'_>, at: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "topics.names_person");
    let article = |word: &str| WORDS.contains(word);
    let end = (at + 4).min(reading.words.len());
    let named = (at..end).find(|word| !article(reading.word(*word))).map_or("", |word| reading.word(word));
    let alone = reading.word(at) == "her" && reading.words.get(at + 1).is_none_or(|next| next.punctuation);
    named.starts_with("person_") || is_relative(named) || PEOPLE.contains(named) || alone
}

static PEOPLE: WordList = WordList::listed(word_lists::RISK, "topics.people");

/// "SI", "HI" and "SH" are names in capitals alone: "si" is Spanish for yes and "hi" greets.
fn is_short(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let source = reading.source(words).slice(reading.text);
    let capitals = source.chars().filter(|c| c.is_alphabetic()).all(|c| c.is_uppercase() && c.is_ascii());
    if reading.word(words.start) == "is" {
        let before = words.start.checked_sub(1).map_or("", |word| reading.word(word));
        return capitals && matches!(before, "niega" | "sin" | "presenta" | "refiere" | "nego" | "ni" | "con");
    }
    if reading.word(words.start) != "si" {
        return capitals;
    }
    // "SI" of a Spanish form answers yes.
    let before = words.start.checked_sub(1).map_or("", |word| reading.word(word));
    let named = matches!(
        before,
        "denies"
            | "denied"
            | "deny"
            | "have"
            | "having"
            | "no"
            | "endorses"
            | "endorsed"
            | "current"
            | "active"
            | "passive"
            | "hi"
            | "reports"
            | "for"
            | "with"
    );
    let (after, further) = (reading.word(words.end), reading.word(words.end + 1));
    let listed = matches!(after, "hi" | "x" | "w" | "with" | "or" | "denied") || after == "/" && further != "no";
    let titled = after == ":"
        && matches!(
            further,
            "denies"
                | "denied"
                | "none"
                | "nil"
                | "passive"
                | "active"
                | "endorses"
                | "absent"
                | "negative"
                | "neg"
                | "present"
                | "yes"
        )
        || after == ":" && further == "no" && reading.word(words.end + 2) != ":"
        || after.starts_with("yes_")
        || after.starts_with("no_");
    capitals && (named || listed || titled || before == "/" || opens_field(reading, words))
}

/// "SI yes", "SI (+)", "SI? yes", "SI less frequent" at the head of a clause. "Fuma: SI", "SI no mejora" and "SI / NO" are Spanish.
fn opens_field(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "topics.opens_field");
    let opens = words.start.checked_sub(1).is_none_or(|before| {
        reading.begins_line(words.start)
            || matches!(reading.word(before), "." | "," | ";" | "+" | "-" | "|" | ")")
            || reading.sentences[reading.sentence_of(words.start)].words.start == words.start
    });
    let word = |following: usize| reading.word(words.end + following);
    let ends = |following: usize| reading.words.get(words.end + following).is_none_or(|next| next.punctuation);
    let english = |word: &str| WORDS.contains(word);
    let signed = matches!((word(0), word(1)), ("(", "+" | "-" | "–" | "−"))
        || matches!(word(0), "+" | "-") && (ends(1) || english(word(1)));
    let titled = matches!(word(0), ":" | "?" | "=" | "-") && (english(word(1)) || word(1) == "+" || word(1) == "-");
    let lower = reading.words.get(words.end).is_some_and(|next| next.source.slice(reading.text) == "no");
    let no = word(0) == "no" && lower && ends(1);
    let before = words.start.checked_sub(1).map_or("", |sign| reading.word(sign));
    let marked = matches!(before, "+" | "-");
    opens && (english(word(0)) || signed || titled || no || marked && ends(0))
}
