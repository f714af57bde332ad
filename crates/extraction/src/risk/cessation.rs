//! Questions whether something is over: "Have the thoughts of dying gone?" — a "no" affirms them, and a yes denies
//! them. Questions whether it is less presuppose it: a "no" says that it is unchanged.

use std::ops::Range;

use super::topics::{RiskTopic, TopicInversion};
use crate::lexicon::label;
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

/// Words between the topic and the word for "over".
const GAP: usize = 6;
/// Words after "gone" and the like after which they say something else: "gone through your head", "killed over it".
const GOES_ON: &[&str] = &[
    "through", "by", "down", "in", "on", "to", "over", "you", "your", "it", "that", "him", "her", "this", "what",
    "off", "por", "que", "lo", "esto", "eso",
];

/// The words for "over" and "less", before and after the words that they concern.
pub(super) struct CessationWords {
    before: PhraseMatcher,
    after: PhraseMatcher,
    less_before: PhraseMatcher,
    less_after: PhraseMatcher,
    between: PhraseMatcher,
}

impl CessationWords {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut list = |name| label(trie, super::cue_words::FILE, name);
        Self {
            before: list("overbefore"),
            after: list("overbehind"),
            less_before: list("lessbefore"),
            less_after: list("lessbehind"),
            between: list("overbetween"),
        }
    }

    /// A topic of a question, turned where the question asks whether it is over or less.
    pub(crate) fn turned(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, topic: RiskTopic) -> RiskTopic {
        if topic.turned != TopicInversion::No {
            return topic;
        }
        let turned = match () {
            () if self.ends(reading, sentence, &topic.words, &self.before, &self.after) => TopicInversion::Over,
            () if self.ends(reading, sentence, &topic.words, &self.less_before, &self.less_after) => {
                TopicInversion::Less
            }
            () => TopicInversion::No,
        };
        RiskTopic { turned, ..topic }
    }

    /// Whether a word of one list comes before the topic, or one of the other after it, with nothing but small words
    /// between them: "did you think of suicide when he had gone" asks for something else.
    fn ends(
        &self,
        reading: &TokenizedText<'_>,
        sentence: &Range<usize>,
        topic: &Range<usize>,
        before: &PhraseMatcher,
        after: &PhraseMatcher,
    ) -> bool {
        let small = |from: usize, to: usize| {
            (from..to).all(|word| reading.words[word].punctuation || self.between.at(reading, word).is_some())
        };
        let from = sentence.start.max(topic.start.saturating_sub(GAP + 3));
        let leads = (from..topic.start)
            .filter_map(|word| before.at(reading, word))
            .any(|hit| hit.words.end <= topic.start && small(hit.words.end, topic.start));
        let follows = (topic.end..sentence.end.min(topic.end + GAP))
            .filter_map(|word| after.at(reading, word))
            .any(|hit| small(topic.end, hit.words.start) && !GOES_ON.contains(&reading.word(hit.words.end)));
        leads || follows
    }
}
