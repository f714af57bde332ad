//! What a document is about and how it feels: closed vocabularies, counted; a denial turns a feeling round.

use super::Sentiment;
use super::lexicon::Labels;
use super::phrasebook::Builder;
use super::scene::Scene;
use crate::text::Speaker;

pub(super) const THEMES: &str = include_str!("lexicon/themes.tsv");
pub(super) const FEELINGS: &str = include_str!("lexicon/sentiment.tsv");
/// Themes shown, most spoken of first.
const MOST_THEMES: usize = 5;
/// Words per mention that a theme of a long text needs: passing remarks are not themes.
const WORDS_PER_MENTION: usize = 150;

pub struct ToneRules {
    themes: Labels,
    feelings: Labels,
}

impl ToneRules {
    pub fn builtin(book: &mut Builder) -> Self {
        Self { themes: Labels::load(book, THEMES), feelings: Labels::load(book, FEELINGS) }
    }

    pub fn themes(&self, scene: &Scene<'_>) -> Vec<&'static str> {
        let mut counts: Vec<(&'static str, usize)> = Vec::new();
        for (_, sentence) in scene.sentences() {
            for (_, theme) in self.themes.find(scene.reading, sentence.words.clone()) {
                match counts.iter_mut().find(|(name, _)| *name == theme) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((theme, 1)),
                }
            }
        }
        let enough = (scene.reading.words.len() / WORDS_PER_MENTION).clamp(1, 6);
        counts.retain(|(_, count)| *count >= enough);
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        counts.into_iter().take(MOST_THEMES).map(|(name, _)| name).collect()
    }

    /// The patient's feelings; the clinician's courtesies do not count.
    pub fn sentiment(&self, scene: &Scene<'_>) -> Sentiment {
        let (mut good, mut bad) = (0usize, 0usize);
        for (_, sentence) in scene.sentences().filter(|(_, sentence)| sentence.speaker != Speaker::Clinician) {
            for (words, sign) in self.feelings.find(scene.reading, sentence.words.clone()) {
                let denied = scene.contexts.of(scene.reading, &words).negated;
                match (sign, denied) {
                    ("positive", false) => good += 1,
                    // "Not well" is bad; "no pain" is no joy.
                    ("positive", true) | ("negative", false) => bad += 1,
                    _ => {}
                }
            }
        }
        match (good, bad) {
            (0, 0) => Sentiment::Neutral,
            (good, bad) if good > 2 * bad => Sentiment::Positive,
            (good, bad) if bad > 2 * good => Sentiment::Negative,
            _ => Sentiment::Mixed,
        }
    }
}
