//! Symptoms and injuries that are named by their place: "pain in the left wrist", "se me hinchan los pies", "fractura
//! de radio distal". A word for the symptom and a part of the body, with articles, sides and grades between them.

use std::collections::HashMap;
use std::ops::Range;

use super::NamedCondition;
use crate::lexicon::label;
use crate::matcher::{PhraseMatch, PhraseMatcher};
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(super) const HEADS: &str = include_str!("../lexicon/composed_heads.tsv");
pub(super) const SITES: &str = include_str!("../lexicon/body_sites.tsv");
pub(super) const LINKS: &str = include_str!("../lexicon/composed_links.tsv");
pub(super) const NAMES: &str = include_str!("../lexicon/composed_names.tsv");

/// Words between a symptom and its place.
const LONGEST_LINK: usize = 7;
/// Words between two places of one symptom ("knee, hip and shoulder").
const LONGEST_STEP: usize = 4;

/// A symptom or an injury that a part of the body may have.
struct SymptomHead {
    kind: &'static str,
    /// "{} pain".
    template: &'static str,
    /// Classes of places.
    classes: &'static str,
    before: bool,
    after: bool,
}

/// A part of the body.
struct BodySite {
    name: &'static str,
    classes: &'static str,
}

pub(crate) struct ComposedNames {
    heads: Vec<SymptomHead>,
    head_words: [PhraseMatcher; 2],
    sites: Vec<BodySite>,
    site_words: PhraseMatcher,
    links: PhraseMatcher,
    sides: PhraseMatcher,
    steps: PhraseMatcher,
    /// Preferred names of combinations that have one.
    names: HashMap<&'static str, &'static str>,
}

impl ComposedNames {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let (mut heads, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for fields in rows(HEADS) {
            let [kind, template, classes, side, words] = fields[..] else { continue };
            let place = u32::try_from(heads.len()).unwrap_or(u32::MAX);
            let head = SymptomHead { kind, template, classes, before: side != "back", after: side != "fwd" };
            let phrases = words.split('|').map(|phrase| (phrase.trim(), place));
            // The words that come before their place, and those that come only after it: some words do both.
            if head.before {
                before.extend(phrases)
            } else {
                after.extend(phrases)
            }
            heads.push(head);
        }
        let (mut sites, mut places) = (Vec::new(), Vec::new());
        for fields in rows(SITES) {
            let [name, classes, words] = fields[..] else { continue };
            let place = u32::try_from(sites.len()).unwrap_or(u32::MAX);
            places.extend(words.split('|').map(|phrase| (phrase.trim(), place)));
            sites.push(BodySite { name, classes });
        }
        Self {
            head_words: [PhraseMatcher::new(trie, before), PhraseMatcher::new(trie, after)],
            heads,
            site_words: PhraseMatcher::new(trie, places),
            sites,
            links: label(trie, LINKS, "link"),
            sides: label(trie, LINKS, "side"),
            steps: label(trie, LINKS, "and"),
            names: NAMES
                .lines()
                .filter(|line| !line.starts_with('#'))
                .filter_map(|line| line.split_once('\t'))
                .collect(),
        }
    }

    /// The symptoms of a sentence by their place, in the order of its words; one symptom in two places is two.
    pub(crate) fn find(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Vec<NamedCondition> {
        let sites = self.site_words.find(reading, within.clone());
        let mut out = Vec::new();
        if sites.is_empty() {
            return out;
        }
        for (list, words) in self.head_words.iter().enumerate() {
            for head in words.find(reading, within.clone()) {
                let kind = &self.heads[head.meaning as usize];
                let ahead = list == 0 && self.ahead(reading, &head, kind, &sites, within.end, &mut out);
                if !ahead && kind.after {
                    self.find_sites_after(reading, &head, kind, &sites, &mut out);
                }
            }
        }
        out
    }

    /// The places after a symptom: "dolor en la muñeca izquierda y el muslo".
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn ahead(
        &self,
        reading: &TokenizedText<'_>,
        head: &PhraseMatch,
        kind: &SymptomHead,
        sites: &[PhraseMatch],
        limit: usize,
        out: &mut Vec<NamedCondition>,
    ) -> bool {
        let before = out.len();
        let (mut from, mut start) = (self.past_links(reading, head.words.end, limit, LONGEST_LINK), head.words.start);
        while let Some(site) = self.site_at(sites, from, kind) {
            let end = self.past_side(reading, site.words.end);
            out.push(self.named(kind, site, start..end));
            let Some(step) = self.steps.at(reading, end) else { break };
            from = self.past_links(reading, step.words.end, limit, LONGEST_STEP);
            // "A comma and": both part places.
            if let Some(second) = self.steps.at(reading, from) {
                from = self.past_links(reading, second.words.end, limit, LONGEST_STEP);
            }
            start = from;
        }
        out.len() > before
    }

    /// The places before a symptom: "left knee and hip pain", "my hands are shaking".
    fn find_sites_after(
        &self,
        reading: &TokenizedText<'_>,
        head: &PhraseMatch,
        kind: &SymptomHead,
        sites: &[PhraseMatch],
        out: &mut Vec<NamedCondition>,
    ) {
        let close = |site: &&PhraseMatch| {
            site.words.end <= head.words.start
                && self.past_links(reading, site.words.end, head.words.start, 2) == head.words.start
                && self.fits(site, kind)
        };
        let Some(site) = sites.iter().rev().find(close) else { return };
        out.push(self.named(kind, site, self.with_side(reading, site.words.start)..head.words.end));
        let joined = |other: &&PhraseMatch| {
            let step = self.steps.at(reading, other.words.end);
            let from = step.map(|step| self.past_links(reading, step.words.end, site.words.start, LONGEST_STEP));
            from == Some(site.words.start) && self.fits(other, kind)
        };
        if let Some(other) = sites.iter().rev().find(joined) {
            out.push(self.named(kind, other, self.with_side(reading, other.words.start)..other.words.end));
        }
    }

    fn named(&self, kind: &SymptomHead, site: &PhraseMatch, words: Range<usize>) -> NamedCondition {
        let composed = kind.template.replace("{}", self.sites[site.meaning as usize].name);
        let name = self.names.get(composed.as_str()).map_or(composed, |name| (*name).to_owned());
        NamedCondition { words, group: kind.kind, name, code: None, sureness: 1.0 }
    }

    fn fits(&self, site: &PhraseMatch, kind: &SymptomHead) -> bool {
        self.sites[site.meaning as usize].classes.contains(|class| kind.classes.contains(class))
    }

    fn site_at<'h>(&self, sites: &'h [PhraseMatch], word: usize, kind: &SymptomHead) -> Option<&'h PhraseMatch> {
        sites.iter().find(|site| site.words.start == word && self.fits(site, kind))
    }

    /// The first word after articles, prepositions, sides and grades.
    fn past_links(&self, reading: &TokenizedText<'_>, from: usize, limit: usize, most: usize) -> usize {
        let mut word = from;
        while word < limit.min(from + most) && self.site_words.at(reading, word).is_none() {
            let Some(link) = self.links.at(reading, word) else { break };
            word = link.words.end;
        }
        word
    }

    fn past_side(&self, reading: &TokenizedText<'_>, from: usize) -> usize {
        self.sides.at(reading, from).map_or(from, |side| side.words.end)
    }

    fn with_side(&self, reading: &TokenizedText<'_>, start: usize) -> usize {
        let side = start.checked_sub(1).filter(|word| self.sides.at(reading, *word).is_some());
        side.unwrap_or(start)
    }
}

fn rows(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    file.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}
