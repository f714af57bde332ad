//! Conditions and symptoms: named by the lexicon, meant as their context says.

use std::collections::HashMap;
use std::ops::Range;

use super::analysis::AnalyzedDocument;
use super::assertion::denies;
use super::lexicon::{ConceptMention, Lexicon, LexiconList, SPEECH, label};
use super::matcher::PhraseMatcher;
use super::phrase_trie::TrieBuilder;
use super::substances::is_packs;
use super::tokenized::{TextSentence, TokenizedText};
use super::{Entity, EntityType, Experiencer, Temporality};
use anamnesis_text::{Language, Span};

mod abbreviations;
mod composed;
mod deduplicate;
mod unlisted;
mod weight_change;

use abbreviations::Abbreviations;
use composed::ComposedNames;
use unlisted::UnlistedConditions;
use weight_change::WeightRules;

/// The lists of the rules next to the lexicon.
pub(super) const FILES: &[&str] = &[
    composed::HEADS,
    composed::SITES,
    composed::LINKS,
    composed::NAMES,
    weight_change::AMOUNTS,
    abbreviations::FILE,
    unlisted::FILE,
];
/// The group of words that look like an illness and mean something else.
const NOT_MEANT: &str = "none";

/// A condition or symptom named in a text, by whichever rule found it.
#[derive(Debug, Clone)]
struct NamedCondition {
    words: Range<usize>,
    group: &'static str,
    /// The preferred name, or the text's own words where no list holds it.
    name: String,
    code: Option<&'static str>,
    /// Confidence that it is one: 1.0 for a listed name.
    sureness: f64,
}

impl NamedCondition {
    fn from_mention(mention: ConceptMention) -> Self {
        let concept = mention.concept;
        Self {
            words: mention.words,
            group: concept.group,
            name: concept.name.into(),
            code: concept.code,
            sureness: 1.0,
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.words.start < other.words.end && other.words.start < self.words.end
    }
}

pub(crate) struct ClinicalRules {
    lexicon: Lexicon,
    composed: ComposedNames,
    weight: WeightRules,
    abbreviations: Abbreviations,
    unlisted: UnlistedConditions,
    /// Kind and code of the lexicon's concepts by their names, for composed symptoms.
    known: HashMap<&'static str, (&'static str, Option<&'static str>)>,
    grades: [(&'static str, PhraseMatcher); 3],
}

impl ClinicalRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut grade = |name| (name, label(trie, SPEECH, name));
        let grades = [grade("severe"), grade("moderate"), grade("mild")];
        let lexicon = Lexicon::load(trie, LexiconList::Clinical);
        Self {
            known: lexicon.concepts().map(|concept| (concept.name, (concept.group, concept.code))).collect(),
            lexicon,
            composed: ComposedNames::builtin(trie),
            weight: WeightRules::builtin(trie),
            abbreviations: Abbreviations::builtin(trie),
            unlisted: UnlistedConditions::builtin(trie),
            grades,
        }
    }

    /// Where the finding ends that begins at a word.
    pub(crate) fn finding_at(&self, reading: &TokenizedText<'_>, word: usize) -> Option<usize> {
        let listed = self.lexicon.at(reading, word).map(|mention| mention.words.end);
        listed.max(self.abbreviations.at(reading, word))
    }

    /// Findings outside `reactions`, the places that say what a substance does: "penicillin (hives)" is no separate
    /// illness, and "lactose intolerance" is stored once.
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, reactions: &[Span], out: &mut Vec<Entity>) {
        let substance = |e: &&Entity| matches!(e.kind, EntityType::Allergy | EntityType::Intolerance);
        let mut taken: Vec<Span> = out.iter().filter(substance).map(|e| e.span).collect();
        taken.extend(out.iter().filter_map(|e| e.reaction.as_ref()).map(|r| r.place));
        taken.extend_from_slice(reactions);
        let substances: Vec<Span> = out.iter().map(|entity| entity.span).collect();
        for (index, sentence) in doc.sentences() {
            let all = self.named(doc, sentence, &substances);
            let places: Vec<Range<usize>> = all.iter().map(|named| named.words.clone()).collect();
            for named in all {
                let place = doc.reading.source(&named.words);
                if taken.iter().any(|other| other.overlaps(&place)) {
                    continue;
                }
                if self.is_answered_by_name(doc, index, &named.name) {
                    continue;
                }
                let Some(mut assertion) = doc.assertion_of_finding(index, &named.words) else { continue };
                if !assertion.answered && assertion.context.negated {
                    assertion.context.negated = is_denied(doc, &named.words, &places);
                }
                if denies(doc.reading.word(named.words.start)) {
                    assertion.context.negated = doc.scopes.denied_before(doc.reading, &named.words);
                }
                assertion.context.uncertain |= !assertion.context.negated && is_to_be_ruled_out(doc, &named.words);
                let ended = doc.scopes.ended(doc.reading, &named.words) && !is_onset(doc, &sentence.words);
                let illness = named.group == "condition";
                if ended && illness && assertion.context.negated {
                    // "The eczema has cleared up": it was there.
                    assertion.context.negated = false;
                    assertion.context.temporality = Temporality::Historical;
                }
                let kind = if illness { EntityType::Condition } else { EntityType::Symptom };
                let Some(mut entity) = doc.entity(kind, &named.words, named.name, &assertion) else { continue };
                entity.confidence *= named.sureness;
                entity.code = named.code;
                entity.status = (ended && illness && !assertion.context.negated).then(|| "resolved".to_owned());
                entity.severity = self.severity(doc, &named.words, &sentence.words);
                out.push(entity);
            }
        }
    }

    /// "Any tremor, fits?" — "Tremor yes. Fits never.": a named answer leaves the other items open.
    fn is_answered_by_name(&self, doc: &AnalyzedDocument<'_>, index: usize, asked: &str) -> bool {
        let reading = doc.reading;
        if !doc.is_dialogue() || !doc.question_answers.asks(index) {
            return false;
        }
        let Some(answer) = doc.question_answers.answer(index) else { return false };
        let turn = reading.sentences[answer.sentence].turn;
        let given = reading.sentences[answer.sentence..].iter().take_while(|sentence| sentence.turn == turn);
        let named: Vec<ConceptMention> =
            given.flat_map(|sentence| self.lexicon.find(reading, sentence.words.clone())).collect();
        // "Dad's got the sugar, not me" answers for the patient all the same.
        let own = |mention: &ConceptMention| {
            doc.scopes.mention_context(reading, &mention.words).experiencer == Experiencer::Patient
        };
        let same = named.iter().any(|mention| mention.concept.name == asked && own(mention));
        same || (answer.names && !named.is_empty())
    }

    /// The conditions of a sentence, each place once: the longest wins, and in one clause the more specific.
    fn named(&self, doc: &AnalyzedDocument<'_>, sentence: &TextSentence, substances: &[Span]) -> Vec<NamedCondition> {
        let (reading, within) = (doc.reading, sentence.words.clone());
        let mut found: Vec<NamedCondition> =
            self.lexicon.find(reading, within.clone()).into_iter().map(NamedCondition::from_mention).collect();
        let mut composed = self.composed.find(reading, within.clone());
        for named in &mut composed {
            if let Some((group, code)) = self.known.get(named.name.as_str()) {
                (named.group, named.code) = (group, *code);
            }
        }
        found.extend(composed);
        found.extend(self.weight.find(reading, within.clone()));
        let mut found = deduplicate::longest(found);
        // "Pain clinic", "vacuna de la gripe": the words are taken, and nothing is found in them.
        let idioms: Vec<NamedCondition> = found.extract_if(.., |named| named.group == NOT_MEANT).collect();
        let cued = |word| self.unlisted.announces(reading, &within, word);
        found.extend(self.abbreviations.find(doc, within.clone(), cued, &found));
        let taken =
            |named: &NamedCondition| substances.iter().any(|place| place.overlaps(&reading.source(&named.words)));
        let unlisted = self.unlisted.find(reading, within.clone(), &found);
        found.extend(unlisted.into_iter().filter(|named| !taken(named)));
        found.retain(|named| !idioms.iter().any(|idiom| idiom.overlaps(named)));
        // "1 ppd" counts packs, and who "had COVID vaccine" had no COVID.
        found.retain(|named| !is_packs(reading, named.words.start) && !is_vaccinated(reading, &named.words));
        found.sort_by_key(|named| named.words.start);
        deduplicate::most_specific(reading, found)
    }

    fn severity(&self, doc: &AnalyzedDocument<'_>, mention: &Range<usize>, within: &Range<usize>) -> Option<String> {
        let before = mention.start.saturating_sub(2).max(within.start)..mention.start;
        let after = mention.end..(mention.end + 2).min(within.end);
        before.chain(after).find_map(|word| {
            self.grades
                .iter()
                .find(|(_, grade)| grade.at(doc.reading, word).is_some())
                .map(|(name, _)| (*name).to_owned())
        })
    }
}

/// Whether a denial from outside reaches a mention. A cue that is part of a name denies nothing: "no tengo ánimo,
/// lloro" states two complaints, and so does "no duermo".
fn is_denied(doc: &AnalyzedDocument<'_>, words: &Range<usize>, places: &[Range<usize>]) -> bool {
    let denials = doc.scopes.denials(doc.reading, words);
    let says_itself = words.clone().any(|word| denies(doc.reading.word(word)));
    let within = |cue: &Range<usize>| {
        let part = |place: &Range<usize>| place.start <= cue.start && cue.end <= place.end;
        let runs_in = says_itself && cue.start < words.end && words.start < cue.end;
        !cue.is_empty() && (places.iter().any(part) || runs_in)
    };
    denials.iter().any(|cue| !within(cue)) || denials.is_empty()
}

/// "Had COVID vaccine": the vaccine is named by the illness that it prevents.
fn is_vaccinated(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let next = if words.end < reading.words.len() { reading.word(words.end) } else { "" };
    words.len() > 1
        && matches!(reading.word(words.start), "had" | "has" | "have" | "got" | "received")
        && matches!(next, "vaccine" | "vaccination" | "booster" | "jab" | "shot")
}

/// "D/C psicosis": in a Spanish note it is to be ruled out.
fn is_to_be_ruled_out(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let reading = doc.reading;
    let from = words.start.saturating_sub(5);
    let order = |at: &usize| reading.word(*at) == "d/c" && reading.sentence_of(*at) == reading.sentence_of(words.start);
    let place = (from..words.start).find(order);
    doc.input.document.language == Language::Spanish
        && place.is_some_and(|at| (at + 1..words.start).all(|word| !matches!(reading.word(word), "," | ";" | ".")))
}

/// "Diagnosed with asthma as a child" says when it began.
fn is_onset(doc: &AnalyzedDocument<'_>, words: &std::ops::Range<usize>) -> bool {
    words.clone().any(|word| {
        let text = doc.reading.word(word);
        text.starts_with("diagn") || matches!(text, "since" | "desde" | "dx" | "onset" | "debut")
    })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod sense_tests;
