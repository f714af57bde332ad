//! Sentences of risk put together from parts with few words between: "saved up … pills … for when it's time". Lists of
//! whole phrases cannot hold what people say; lists of parts and their order can.

use std::collections::HashMap;
use std::ops::Range;

use super::Words;
use crate::extract::RiskClass;
use crate::extract::lexicon::label;
use crate::extract::matcher::{Hit, Matcher};
use crate::extract::phrasebook::Builder;
use crate::extract::reading::Reading;
use crate::text::Speaker;

pub(super) const WORDS: &str = include_str!("../lexicon/risk_words.tsv");
pub(super) const PATTERNS: &str = include_str!("../lexicon/risk_patterns.tsv");
/// Hits of one part in a sentence that are looked at: bounds the work on hostile text.
const MOST_HITS: usize = 24;
/// Parts that say what would be done: a denial counts where it reaches them.
const CORES: &[&str] = &["selfkill", "hurtothers", "hurtself", "hits", "amount"];

/// The parts of a sentence in their order.
struct Pattern {
    class: RiskClass,
    own: bool,
    /// Its words are so common that a clinician's are none.
    common: bool,
    /// Each with the words that may lie between it and the part before.
    parts: Vec<(usize, usize)>,
    core: usize,
}

pub struct Patterns {
    matchers: Vec<Matcher>,
    patterns: Vec<Pattern>,
}

impl Patterns {
    pub fn builtin(book: &mut Builder) -> Self {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut matchers = Vec::new();
        let mut patterns = Vec::new();
        for line in PATTERNS.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, '\t');
            let (Some(class), Some(person), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let Some(class) = RiskClass::from_code(class) else { continue };
            let (mut parts, mut gap, mut core) = (Vec::new(), 0, 0);
            for word in words.split_whitespace() {
                if let Some(words) = word.strip_prefix('+') {
                    gap = words.parse().unwrap_or(0);
                    continue;
                }
                let part = *names.entry(word).or_insert_with(|| {
                    matchers.push(label(book, WORDS, word));
                    matchers.len() - 1
                });
                core = if CORES.contains(&word) { parts.len() } else { core };
                parts.push((gap, part));
            }
            patterns.push(Pattern { class, own: person != "any", common: person == "own", parts, core });
        }
        Self { matchers, patterns }
    }

    /// All patterns of a sentence.
    pub fn find(&self, reading: &Reading<'_>, sentence: &Range<usize>) -> Vec<Words> {
        let place = reading.sentences.get(reading.sentence_of(sentence.start));
        let by_clinician = place.is_some_and(|place| place.speaker == Speaker::Clinician);
        let hits: Vec<Vec<Hit>> = self.matchers.iter().map(|matcher| hits(matcher, reading, sentence)).collect();
        let mut out = Vec::new();
        for pattern in self.patterns.iter().filter(|pattern| !(pattern.common && by_clinician)) {
            let Some((_, first)) = pattern.parts.first() else { continue };
            for start in &hits[*first] {
                let mut chain = vec![start.words.clone()];
                for (gap, part) in &pattern.parts[1..] {
                    let Some(last) = chain.last() else { break };
                    let near = |hit: &&Hit| hit.words.start > last.start && hit.words.start <= last.end + gap;
                    match hits[*part].iter().find(near) {
                        Some(hit) => chain.push(hit.words.clone()),
                        None => break,
                    }
                }
                if chain.len() == pattern.parts.len() {
                    let end = chain.iter().map(|words| words.end).max().unwrap_or(start.words.end);
                    let core = chain[pattern.core].clone();
                    let words = start.words.start..end;
                    out.push(Words { class: pattern.class, own: pattern.own, words, core });
                    break;
                }
            }
        }
        out
    }
}

/// Every place of a part, overlapping ones too.
fn hits(matcher: &Matcher, reading: &Reading<'_>, sentence: &Range<usize>) -> Vec<Hit> {
    if matcher.first(reading, sentence.clone()).is_none() {
        return Vec::new();
    }
    sentence.clone().filter_map(|word| matcher.at(reading, word)).take(MOST_HITS).collect()
}
