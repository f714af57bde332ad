//! Sentences of risk composed of parts with few words between: "saved up … pills … for when it's time". Lists of whole
//! phrases cannot cover what people say; lists of parts and their order can.

use std::collections::HashMap;
use std::ops::Range;

use super::RiskPhrase;
use super::slots::PhraseSlot;
use crate::RiskClass;
use crate::lexicon::word_lists::{self, WordList};
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;
use anamnesis_text::Speaker;

pub(super) const WORDS: [&str; 4] = [
    include_str!("../lexicon/risk_words.tsv"),
    include_str!("../lexicon/risk_families.tsv"),
    include_str!("../lexicon/risk_frames.tsv"),
    include_str!("../lexicon/risk_noted.tsv"),
];
pub(super) const PATTERNS: &str = include_str!("../lexicon/risk_patterns.tsv");
/// Hits of one part in a sentence that are considered: bounds the work on hostile text.
const MOST_HITS: usize = 24;
static CORES: WordList = WordList::listed(word_lists::RISK, "patterns.cores");

/// Sentences before and after in which a part that must come near a pattern is looked for: a question, its "no" and
/// what follows.
const NEARBY: usize = 2;
/// The same in a dialogue, whose sentences are short.
const NEARBY_SPOKEN: usize = 8;

struct RiskPattern {
    class: RiskClass,
    own: bool,
    /// Its words are so common that a clinician's do not count.
    common: bool,
    /// Its words are so plain that the classifier need not confirm them.
    sure: bool,
    /// Each with the words that may lie between it and the part before.
    parts: Vec<(usize, usize)>,
    core: usize,
    /// Words that exclude the pattern in its sentence: "by accident".
    never: Option<usize>,
    /// What must be mentioned nearby, affirmed or denied, and is no part of its words: "denies wanting to die, but …".
    nearby: Option<usize>,
}

pub(crate) struct RiskPatterns {
    library: Vec<PhraseSlot>,
    patterns: Vec<RiskPattern>,
    /// By class: words that make whole phrases of it harmless nearby, unless it was meant.
    slips: [(RiskClass, usize); 3],
    meant: usize,
}

impl RiskPatterns {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut library = Vec::new();
        let mut patterns = Vec::new();
        for line in PATTERNS.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, '\t');
            let (Some(class), Some(person), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let Some(class) = RiskClass::from_code(class) else { continue };
            let mut part = |name: &'static str| {
                *names.entry(name).or_insert_with(|| {
                    library.push(PhraseSlot::builtin(trie, &WORDS, name));
                    library.len() - 1
                })
            };
            let mut pattern = RiskPattern {
                class,
                own: !matches!(person, "any" | "sure"),
                common: person == "own",
                sure: person == "sure",
                parts: Vec::new(),
                core: 0,
                never: None,
                nearby: None,
            };
            let mut gap = 0;
            for word in words.split_whitespace() {
                if let Some(words) = word.strip_prefix('+') {
                    gap = words.parse().unwrap_or(0);
                } else if let Some(name) = word.strip_prefix('!') {
                    pattern.never = Some(part(name));
                } else if let Some(name) = word.strip_prefix('?') {
                    pattern.nearby = Some(part(name));
                } else {
                    pattern.core = if CORES.contains(word) { pattern.parts.len() } else { pattern.core };
                    pattern.parts.push((gap, part(word)));
                }
            }
            patterns.push(pattern);
        }
        let mut part = |name: &'static str| {
            library.push(PhraseSlot::builtin(trie, &WORDS, name));
            library.len() - 1
        };
        let slips = [
            (RiskClass::SelfHarm, part("slip")),
            (RiskClass::HarmToOthers, part("playful")),
            (RiskClass::Abuse, part("thinghits")),
        ];
        let meant = part("deliberate");
        Self { library, patterns, slips, meant }
    }

    /// Whether a sentence reports a slip or a game around a phrase: "cut myself peeling potatoes", "I'll destroy him at
    /// chess", "grief hits me at night".
    pub(crate) fn is_slip(
        &self,
        reading: &TokenizedText<'_>,
        index: usize,
        class: RiskClass,
        words: &Range<usize>,
    ) -> bool {
        let sentence = &reading.sentences[index].words;
        let stands = |part: usize| {
            let part = &self.library[part];
            part.may_stand(reading, index)
                && sentence
                    .clone()
                    // The thing that hits is part of the phrase.
                    .filter(|word| class == RiskClass::Abuse || !words.contains(word))
                    .any(|word| part.at(reading, word, sentence.end).is_some())
        };
        self.slips.iter().any(|(of, slip)| *of == class && stands(*slip)) && !stands(self.meant)
    }

    /// All patterns of a sentence.
    pub(crate) fn find(&self, reading: &TokenizedText<'_>, index: usize) -> Vec<RiskPhrase> {
        let sentence = &reading.sentences[index];
        let by_clinician = sentence.speaker == Speaker::Clinician;
        let mut seen =
            SlotMatches { reading, sentence: &sentence.words, hits: self.library.iter().map(|_| None).collect() };
        let mut out = Vec::new();
        for pattern in self.patterns.iter().filter(|pattern| !(pattern.common && by_clinician)) {
            let may = |part: usize| self.library[part].may_stand(reading, index);
            if !pattern.parts.iter().all(|(_, part)| may(*part)) {
                continue;
            }
            if pattern.never.is_some_and(|part| may(part) && !seen.places(part, &self.library).is_empty()) {
                continue;
            }
            if pattern.nearby.is_some_and(|part| !self.is_alongside(reading, index, part)) {
                continue;
            }
            out.extend(self.chain(pattern, &mut seen));
        }
        out
    }

    /// Whether a part is in a sentence or in those around it.
    fn is_alongside(&self, reading: &TokenizedText<'_>, index: usize, part: usize) -> bool {
        let part = &self.library[part];
        let nearby = if reading.sentences[index].turn.is_some() { NEARBY_SPOKEN } else { NEARBY };
        let around = index.saturating_sub(nearby)..(index + nearby + 1).min(reading.sentences.len());
        around.filter(|sentence| part.may_stand(reading, *sentence)).any(|sentence| {
            let mut words = reading.sentences[sentence].words.clone();
            let end = words.end;
            words.any(|word| part.at(reading, word, end).is_some())
        })
    }

    /// The first place where the parts of a pattern follow each other.
    fn chain(&self, pattern: &RiskPattern, seen: &mut SlotMatches<'_>) -> Option<RiskPhrase> {
        let (_, first) = *pattern.parts.first()?;
        let starts = seen.places(first, &self.library).to_vec();
        for start in starts {
            let mut chain = vec![start.clone()];
            for (gap, part) in &pattern.parts[1..] {
                let Some(last) = chain.last().cloned() else { break };
                let near = |hit: &&Range<usize>| hit.start > last.start && hit.start <= last.end + gap;
                let hits = seen.places(*part, &self.library);
                let from = hits.partition_point(|hit| hit.start <= last.start);
                match hits[from..].iter().find(near) {
                    Some(hit) => chain.push(hit.clone()),
                    None => break,
                }
            }
            if chain.len() == pattern.parts.len() {
                let end = chain.iter().map(|words| words.end).max().unwrap_or(start.end);
                let core = chain[pattern.core].clone();
                let nearby = pattern.nearby.is_some();
                let (class, own, sure) = (pattern.class, pattern.own, pattern.sure);
                return Some(RiskPhrase { class, own, sure, words: start.start..end, core, nearby });
            }
        }
        None
    }
}

struct SlotMatches<'a> {
    reading: &'a TokenizedText<'a>,
    sentence: &'a Range<usize>,
    hits: Vec<Option<Vec<Range<usize>>>>,
}

impl SlotMatches<'_> {
    /// Every place of a part, overlapping ones too.
    fn places(&mut self, part: usize, library: &[PhraseSlot]) -> &[Range<usize>] {
        let (reading, sentence) = (self.reading, self.sentence);
        self.hits[part].get_or_insert_with(|| {
            let limit = sentence.end;
            sentence.clone().filter_map(|word| library[part].at(reading, word, limit)).take(MOST_HITS).collect()
        })
    }
}
