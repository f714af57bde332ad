//! People in the patient's life: a relative who is named ("my sponsor [PERSON]", "sister [PERSON] rang"), one who does
//! something of weight ("mi viejo no lo veo", "esposa lo dejó"), and the marital status.

use std::ops::Range;

use super::clauses::clause;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::structure::Section;
use crate::tokenized::TextSentence;
use crate::{Entity, EntityType, MentionContext};
use anamnesis_text::Speaker;

/// Words between a relative and a name, and between a relative and their act.
const TO_NAME: usize = 5;
const TO_VERB: usize = 6;
/// Longest description that is stored.
const LONGEST: usize = 14;
const SURENESS: f64 = 0.75;
/// Rows of one document: a family has no more who count.
const MOST: usize = 8;

pub(crate) struct RelationshipRules {
    relative: PhraseMatcher,
    verbs: PhraseMatcher,
    status: PhraseMatcher,
    health: PhraseMatcher,
}

impl RelationshipRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut of = |name| label(trie, super::household::FILE, name);
        Self { relative: of("kin"), verbs: of("deeds"), status: of("marital"), health: of("kin_health") }
    }

    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
        let mut known: Vec<String> = Vec::new();
        for (index, sentence) in doc.sentences() {
            let family_history = doc.section(sentence.words.start) == Some(Section::Family);
            if sentence.question || sentence.speaker == Speaker::Clinician || family_history {
                continue;
            }
            for words in self.in_sentence(doc, sentence, &mut known) {
                if known.len() <= MOST {
                    push(doc, index, &words, out);
                }
            }
        }
    }

    fn in_sentence(
        &self,
        doc: &AnalyzedDocument<'_>,
        sentence: &TextSentence,
        known: &mut Vec<String>,
    ) -> Vec<Range<usize>> {
        let within = sentence.words.clone();
        let mut out: Vec<Range<usize>> = Vec::new();
        for hit in self.status.find(doc.reading, within.clone()) {
            let before = hit.words.start.saturating_sub(3).max(within.start)..hit.words.start;
            let of_other = before.clone().any(|word| self.relative.at(doc.reading, word).is_some());
            let denied =
                before.into_iter().any(|word| matches!(doc.reading.word(word), "no" | "not" | "never" | "n't"));
            if !(of_other || denied) {
                out.push(hit.words.start..clause_of(doc, hit.words.end, within.end.min(hit.words.end + 4)));
            }
        }
        for hit in self.relative.find(doc.reading, within.clone()) {
            let said = doc.reading.word(hit.words.end - 1).to_owned();
            if known.contains(&said) || !self.is_own(doc, sentence, &hit.words) {
                continue;
            }
            let named = self.name(doc, &within, &hit.words);
            let end = clause_of(doc, hit.words.end, within.end.min(hit.words.start + LONGEST));
            let health =
                self.health.first(doc.reading, hit.words.end..within.end.min(hit.words.end + TO_VERB + 2)).is_some();
            let near = hit.words.end
                ..within.end.min(named.as_ref().map_or(hit.words.end, |name| name.end.max(hit.words.end)) + TO_VERB);
            let verb = self.verbs.first(doc.reading, near).or_else(|| {
                let from = hit.words.start.saturating_sub(TO_VERB).max(within.start);
                self.verbs.first(doc.reading, from..hit.words.start)
            });
            if health || (named.is_none() && verb.is_none()) {
                continue;
            }
            let start = named.as_ref().map_or(hit.words.start, |name| name.start.min(hit.words.start));
            let start = verb.as_ref().map_or(start, |verb| verb.words.start.min(start));
            let end = named.map_or(end, |name| name.end.max(end)).max(verb.map_or(0, |verb| verb.words.end));
            known.push(said);
            out.push(start..end);
        }
        out
    }

    /// A relative of the patient's: after a possessive, or in a note at the beginning of a clause or after "with".
    fn is_own(&self, doc: &AnalyzedDocument<'_>, sentence: &TextSentence, words: &Range<usize>) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::GENERAL, "relationships.is_own");
        let reading = doc.reading;
        let before = |back: usize| {
            words.start.checked_sub(back).filter(|at| *at >= sentence.words.start).map(|at| reading.word(at))
        };
        let spoken = sentence.turn.is_some();
        // "My husband's sister", "la hermana de mi marido": another's.
        if matches!(reading.word(words.end), "'s" | "s")
            || matches!((before(1), before(2)), (Some("'s"), _) | (_, Some("'s")))
        {
            return false;
        }
        let mine = (1..=3).any(|back| matches!(before(back), Some("my" | "mi" | "mis" | "me" | "our" | "mine")));
        let theirs =
            (1..=3).any(|back| matches!(before(back), Some("his" | "her" | "su" | "sus" | "their" | "pt" | "patient")));
        let opens = before(1).is_none_or(|word| WORDS.contains(word) || word.starts_with(|c: char| c.is_ascii_digit()));
        if spoken && sentence.speaker == Speaker::Patient {
            mine
        } else {
            mine && spoken || theirs || (!spoken && opens)
        }
    }

    /// The redacted name next to a relative: "sister [PERSON]", "hijo ([PERSON])", "[PERSON], my sponsor".
    fn name(&self, doc: &AnalyzedDocument<'_>, within: &Range<usize>, words: &Range<usize>) -> Option<Range<usize>> {
        let reading = doc.reading;
        let named = |word: &usize| reading.word(*word).starts_with("person_");
        let titled = |word: usize| {
            matches!(reading.word(word.wrapping_sub(1)), "sra" | "sr" | "da" | "mr" | "mrs" | "ms" | "dona")
        };
        let stops = |word: &usize| {
            matches!(reading.word(*word), ";" | "?" | "and" | "y" | ":") || reading.word(*word) == "." && !titled(*word)
        };
        let after = words.end..within.end.min(words.end + TO_NAME + 1);
        let following = after.clone().take_while(|word| !stops(word)).find(named);
        let ahead = || {
            let from = words.start.saturating_sub(TO_NAME + 1).max(within.start);
            (from..words.start).rev().take_while(|word| !stops(word)).find(named)
        };
        if let Some(at) = following {
            return Some(words.start..(at + 2).min(within.end));
        }
        ahead().map(|at| at.saturating_sub(1).max(within.start)..words.end)
    }
}

/// The end of a clause: a second sign of a list ends it too.
fn clause_of(doc: &AnalyzedDocument<'_>, from: usize, limit: usize) -> usize {
    clause(doc, from, limit.max(from))
}

fn push(doc: &AnalyzedDocument<'_>, index: usize, words: &Range<usize>, out: &mut Vec<Entity>) {
    let Some(mut assertion) = doc.assertion(index, words) else { return };
    assertion.context = MentionContext::default();
    assertion.confidence = assertion.confidence.min(SURENESS);
    let said = doc.reading.source(words).slice(doc.text()).to_lowercase();
    let value = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = value.trim_end_matches([',', '-', ':', '(', '[']).trim().to_owned();
    let Some(entity) = doc.entity(EntityType::Relationship, words, value, &assertion) else { return };
    let stated = |other: &Entity| other.kind == EntityType::Relationship && other.confidence > 0.5;
    if out.iter().any(|other| stated(other) && other.span.overlaps(&entity.span)) {
        return;
    }
    // The bare mention of the same person says less.
    out.retain(|other| other.kind != EntityType::Relationship || stated(other) || !other.span.overlaps(&entity.span));
    out.push(entity);
}
