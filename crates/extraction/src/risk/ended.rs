//! Questions that ask whether something is over: "Have the thoughts of dying gone?" — a "no" tells that they are there, and a
//! yes that they are not. Questions whether it is less presuppose it: a "no" tells that it is there as before.

use std::ops::Range;

use super::topics::{Topic, Turned};
use crate::lexicon::label;
use crate::matcher::Matcher;
use crate::phrasebook::Builder;
use crate::reading::Reading;

/// Words between what is asked about and the word that says "over".
const GAP: usize = 6;
/// Words behind "gone" and the like after which they say something else: "gone through your head", "killed over it".
const GOES_ON: &[&str] = &[
    "through", "by", "down", "in", "on", "to", "over", "you", "your", "it", "that", "him", "her", "this", "what",
    "off", "por", "que", "lo", "esto", "eso",
];

/// The words that say "over" and "less" before and behind what they are said of.
pub(super) struct Ended {
    before: Matcher,
    behind: Matcher,
    less_before: Matcher,
    less_behind: Matcher,
    between: Matcher,
}

impl Ended {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        let mut list = |name| label(book, super::words::FILE, name);
        Self {
            before: list("overbefore"),
            behind: list("overbehind"),
            less_before: list("lessbefore"),
            less_behind: list("lessbehind"),
            between: list("overbetween"),
        }
    }

    /// A topic of a question, turned where the question asks whether it is over or less.
    pub(crate) fn turned(&self, reading: &Reading<'_>, sentence: &Range<usize>, topic: Topic) -> Topic {
        if topic.turned != Turned::No {
            return topic;
        }
        let turned = match () {
            () if self.ends(reading, sentence, &topic.words, &self.before, &self.behind) => Turned::Over,
            () if self.ends(reading, sentence, &topic.words, &self.less_before, &self.less_behind) => Turned::Less,
            () => Turned::No,
        };
        Topic { turned, ..topic }
    }

    /// Whether a word of one list stands before the topic, or one of the other behind it, with nothing but small words
    /// between them: "did you think of suicide when he had gone" asks for something else.
    fn ends(
        &self,
        reading: &Reading<'_>,
        sentence: &Range<usize>,
        topic: &Range<usize>,
        before: &Matcher,
        behind: &Matcher,
    ) -> bool {
        let small = |from: usize, to: usize| {
            (from..to).all(|word| reading.words[word].punctuation || self.between.at(reading, word).is_some())
        };
        let from = sentence.start.max(topic.start.saturating_sub(GAP + 3));
        let leads = (from..topic.start)
            .filter_map(|word| before.at(reading, word))
            .any(|hit| hit.words.end <= topic.start && small(hit.words.end, topic.start));
        let follows = (topic.end..sentence.end.min(topic.end + GAP))
            .filter_map(|word| behind.at(reading, word))
            .any(|hit| small(topic.end, hit.words.start) && !GOES_ON.contains(&reading.word(hit.words.end)));
        leads || follows
    }
}
