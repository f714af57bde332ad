//! The themes and the sentiment of a document: closed vocabularies, counted; a denial reverses a feeling.

use super::Sentiment;
use super::analysis::AnalyzedDocument;
use super::lexicon::{LabelledPhrases, LexiconList};
use super::phrase_trie::TrieBuilder;
use anamnesis_text::Speaker;

pub(super) const THEMES: &str = include_str!("lexicon/themes.tsv");
pub(super) const FEELINGS: &str = include_str!("lexicon/sentiment.tsv");
/// Themes shown, the most frequent first.
const MOST_THEMES: usize = 5;
/// Words between a denial and the feeling that it reverses: a denial farther away denies something else.
const DENIAL_REACH: usize = 3;
/// Up to so many words of feeling the greater number decides.
const SHORT_TALE: usize = 5;
/// Words per mention that a theme of a long text needs: passing remarks are not themes.
const WORDS_PER_MENTION: usize = 150;

pub(crate) struct SentimentRules {
    themes: LabelledPhrases,
    feelings: LabelledPhrases,
}

impl SentimentRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            themes: LabelledPhrases::load(trie, LexiconList::Themes),
            feelings: LabelledPhrases::load(trie, LexiconList::Sentiment),
        }
    }

    pub(crate) fn themes(&self, doc: &AnalyzedDocument<'_>) -> Vec<&'static str> {
        let mut counts: Vec<(&'static str, usize)> = Vec::new();
        for (_, sentence) in doc.sentences() {
            for (_, theme) in self.themes.find(doc.reading, sentence.words.clone()) {
                match counts.iter_mut().find(|(name, _)| *name == theme) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((theme, 1)),
                }
            }
        }
        let enough = (doc.reading.words.len() / WORDS_PER_MENTION).clamp(1, 6);
        counts.retain(|(_, count)| *count >= enough);
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        counts.into_iter().take(MOST_THEMES).map(|(name, _)| name).collect()
    }

    fn over(&self, doc: &AnalyzedDocument<'_>, words: &std::ops::Range<usize>) -> bool {
        let word = |at: usize| doc.reading.word(at);
        words.clone().any(|at| {
            matches!((word(at), word(at + 1)), ("ya", "no") | ("no", "longer" | "more") | ("any", "more"))
                || word(at) == "anymore"
        })
    }

    /// The patient's feelings; the clinician's courtesies do not count. A dark thought (`burdened`: a pattern of
    /// thought or a risk was found) weighs where words of feeling are few.
    pub(crate) fn sentiment(&self, doc: &AnalyzedDocument<'_>, burdened: bool) -> Sentiment {
        let (mut good, mut bad, mut contrast) = (0usize, 0usize, false);
        for (_, sentence) in doc.sentences().filter(|(_, sentence)| sentence.speaker != Speaker::Clinician) {
            let (mut here, mut turned) = ((0usize, 0usize), false);
            for (words, sign) in self.feelings.find(doc.reading, sentence.words.clone()) {
                let denied = doc.scopes.denied_near(doc.reading, &words, DENIAL_REACH);
                match (sign, denied) {
                    ("contrast", _) => turned = true,
                    ("positive", false) => here.0 += 1,
                    // "Not well" is bad; "no pain" is no joy.
                    ("positive", true) | ("negative", false) => here.1 += 1,
                    // "I don't feel lonely anymore": the end of a bad feeling is a relief.
                    ("negative", true) if self.over(doc, &sentence.words) => here.0 += 1,
                    _ => {}
                }
            }
            contrast |= turned && here.0 > 0 && here.1 > 0;
            (good, bad) = (good + here.0, bad + here.1);
        }
        if burdened && good <= 1 {
            return Sentiment::Negative;
        }
        match (good, bad) {
            (0, 0) => Sentiment::Neutral,
            _ if contrast && good.max(bad) <= 3 * good.min(bad) => Sentiment::Mixed,
            (good, bad) if good > 2 * bad => Sentiment::Positive,
            (good, bad) if bad > 2 * good => Sentiment::Negative,
            (good, bad) if good + bad <= SHORT_TALE && good > bad => Sentiment::Positive,
            (good, bad) if good + bad <= SHORT_TALE && bad > good => Sentiment::Negative,
            _ => Sentiment::Mixed,
        }
    }
}
