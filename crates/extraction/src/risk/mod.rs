//! Words of risk: ideation, plans and means, attempts, self-harm, harm to others, abuse. A denial is stored as a
//! denial. An act or a statement of another person about themselves is not the patient's risk.

mod answers;
mod candidates;
mod cessation;
mod class_denials;
pub mod classifier;
mod clauses;
mod cue_words;
mod experiencer;
mod family_history;
mod figurative;
mod form_fields;
mod forms;
mod hypothetical;
mod levels;
mod negation;
mod passage_dates;
mod patterns;
mod question_wording;
mod reader_findings;
mod replies;
mod retractions;
mod screening_answers;
mod self_directed;
mod semantic_roles;
mod slots;
mod temporality;
mod topics;
mod unasserted;

use std::ops::Range;

use answers::RiskAnswers;
use candidates::{ResolvedWords, RiskCandidate};
use class_denials::ClassDenials;
use classifier::{RiskClassifier, RuleContext, RuleHits};
pub(super) use clauses::clause_of;
use experiencer::{RiskExperiencerRules, is_relative};
use forms::RiskForms;
use negation::{
    denied_as_subject, denied_itself, denies_plan_after, denies_plan_inside, is_denied_after, is_done_by_nobody,
    noted_answer, wish_denied,
};
use patterns::RiskPatterns;
use screening_answers::ScreeningRules;
use self_directed::{goes_on_living, is_done_to_oneself, keep_more_than_the_wish};
use topics::RiskTopics;

use super::analysis::AnalyzedDocument;
use super::assertion::continues_after_answer;
use super::dialogue::Polarity;
use super::fusion::DocumentReading;
use super::matcher::PhraseMatcher;
use super::phrase_trie::TrieBuilder;
use super::tokenized::{TextSentence, TokenizedText};
use super::{Experiencer, Risk, RiskClass};
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_text::Speaker;

/// From these log odds the classifier confirms a phrase in a document; below, it refutes even plain words.
const CONFIRMED: f32 = -0.5;
const DOUBTED: f32 = -4.0;

/// Words after words of risk within which a denial still means them.
const DENIAL_AFTER: usize = 3;

pub(super) const FILES: [&str; 8] = [
    include_str!("../lexicon/risk.tsv"),
    patterns::WORDS[0],
    patterns::WORDS[1],
    patterns::WORDS[2],
    patterns::WORDS[3],
    patterns::PATTERNS,
    topics::FILE,
    cue_words::FILE,
];

/// A row of the list: `None` for what only looks like risk.
#[derive(Clone, Copy)]
struct RiskListRow {
    class: Option<RiskClass>,
    /// The words say "me" or "I": they are the speaker's own.
    own: bool,
}

struct RiskPhrase {
    class: RiskClass,
    own: bool,
    words: Range<usize>,
    /// The words that a denial must reach: what would be done.
    core: Range<usize>,
    /// So plain that the classifier need not confirm it.
    sure: bool,
    /// Said next to talk of dying that is often denied: only a separate denial denies it.
    nearby: bool,
}

pub(crate) struct RiskRules {
    rows: Vec<RiskListRow>,
    matcher: PhraseMatcher,
    patterns: RiskPatterns,
    experiencer_rules: RiskExperiencerRules,
    screens: ScreeningRules,
    topics: RiskTopics,
    around: cue_words::RiskCueWords,
    classifier: Option<RiskClassifier>,
}

impl RiskRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut rows = Vec::new();
        let mut phrases = Vec::new();
        for line in FILES[0].lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, '\t');
            let (Some(class), Some(person), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let index = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
            rows.push(RiskListRow { class: RiskClass::from_code(class), own: person == "1" });
        }
        Self {
            matcher: PhraseMatcher::new(trie, phrases),
            rows,
            patterns: RiskPatterns::builtin(trie),
            experiencer_rules: RiskExperiencerRules::builtin(trie),
            screens: ScreeningRules::builtin(trie),
            topics: RiskTopics::builtin(trie),
            around: cue_words::RiskCueWords::builtin(trie),
            classifier: RiskClassifier::builtin(),
        }
    }

    pub(super) fn set_classifier(&mut self, classifier: RiskClassifier) {
        self.classifier = Some(classifier);
    }

    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, fusion: Option<&DocumentReading>) -> Vec<Risk> {
        let (said, rule_hits) = self.said(doc);
        let (mut candidates, mut settled) = (Vec::new(), ResolvedWords::default());
        let spoken_of = self.topics.spoken_of(doc.reading);
        let (topics, words) = (&self.topics, &self.around);
        RiskForms { topics, words, spoken_of: &spoken_of }.find(doc, &mut candidates, &mut settled);
        form_fields::find(doc, topics, &spoken_of, &mut candidates, &mut settled);
        RiskAnswers { topics, words, spoken_of: &spoken_of }.find(doc, &mut candidates, &mut settled);
        unasserted::find(doc, topics, words, &spoken_of, &mut settled);
        ClassDenials { topics, words, spoken_of: &spoken_of }.find(doc, &mut candidates, &mut settled);
        family_history::find(doc, words, &settled, &mut candidates);
        let said = self.confirmed(doc, said);
        candidates::add_said(doc, words, said, &settled, &mut candidates);
        retractions::find(doc, words, &mut candidates);
        let mut out: Vec<Risk> = candidates::folded(doc, candidates);
        if let Some(classifier) = &self.classifier {
            let closed = settled.closed(doc, &out);
            let cued = |sentence: &TextSentence| self.around.is_cued(doc.reading, sentence.words.clone());
            let cued: Vec<bool> = doc.reading.sentences.iter().map(cued).collect();
            classifier.find(doc, &RuleContext { rule_hits: &rule_hits, closed: &closed, cued: &cued }, &mut out);
        }
        if let Some(fusion) = fusion {
            reader_findings::merge_reader_risks(doc, fusion, &mut out);
        }
        levels::grade(doc, &mut out);
        levels::drop_contradicted(&mut out);
        // The gravest first: what a reader must see, whatever came first in the text.
        out.sort_by_key(|risk| (risk.denied, risk.experiencer != Experiencer::Patient, gravity(risk.class), risk.span));
        out.dedup_by_key(|risk| (risk.span, risk.class));
        out
    }

    /// Findings of phrases, with the classifier's probability. In a document it must agree, or the words must name risk
    /// plainly: phrases alone are right in one of two there.
    fn confirmed(&self, doc: &AnalyzedDocument<'_>, said: Vec<RiskCandidate>) -> Vec<RiskCandidate> {
        let Some(classifier) = &self.classifier else { return said };
        let document = classifier::is_document(doc.reading);
        let judged = said.into_iter().filter_map(|found| {
            if found.confirmed.is_some() {
                return Some(found);
            }
            let sentence = &doc.reading.sentences[doc.reading.sentence_of(found.words.start)];
            let passage =
                TextSentence { words: candidates::passage(doc, &sentence.words, &found.words), ..sentence.clone() };
            let odds = classifier.odds(doc, &passage);
            let plain = || self.around.is_cued(doc.reading, passage.words.clone());
            // A short text is accepted as it is, except for everyday words: "me tomé las pastillas".
            let kept = if document {
                odds >= CONFIRMED || odds >= DOUBTED && plain()
            } else {
                odds >= CONFIRMED || !is_plain_taking(doc, &found)
            };
            let confirmed = Some(classifier::probability(odds));
            kept.then_some(RiskCandidate { confirmed, ..found })
        });
        judged.collect()
    }

    /// The results of the rules for each sentence, which training and the classifier use.
    pub(super) fn rule_hits(&self, doc: &AnalyzedDocument<'_>) -> Vec<RuleHits> {
        self.said(doc).1
    }

    fn said(&self, doc: &AnalyzedDocument<'_>) -> (Vec<RiskCandidate>, Vec<RuleHits>) {
        let mut out: Vec<RiskCandidate> = Vec::new();
        let mut rule_hits = vec![RuleHits::default(); doc.reading.sentences.len()];
        for (index, sentence) in doc.sentences() {
            for words in self.words(doc, index, &sentence.words) {
                let Some(risk) = self.risk(doc, index, &words) else {
                    // "Asked about self-harm: says no, but cuts her thighs": the rest is said.
                    rule_hits[index].only_asked |=
                        !continues_after_answer(doc.reading, words.words.end..sentence.words.end);
                    continue;
                };
                let others = risk.experiencer != Experiencer::Patient;
                rule_hits[index].own |= !risk.denied && !others;
                rule_hits[index].denied |= risk.denied;
                rule_hits[index].others |= others;
                out.push(risk);
            }
        }
        (out, rule_hits)
    }

    fn words(&self, doc: &AnalyzedDocument<'_>, index: usize, sentence: &Range<usize>) -> Vec<RiskPhrase> {
        let mut harmless: Vec<Range<usize>> = Vec::new();
        let mut found = self.patterns.find(doc.reading, index);
        for word in sentence.clone() {
            let Some(hit) = self.matcher.at(doc.reading, word) else { continue };
            let row = self.rows[hit.meaning as usize];
            match row.class {
                None if goes_on_living(doc.reading, sentence, &hit.words) => {}
                None => harmless.push(hit.words),
                Some(class) => {
                    let (core, own) = (hit.words.clone(), row.own);
                    found.push(RiskPhrase { class, own, core, words: hit.words, sure: false, nearby: false })
                }
            }
        }
        found.retain(|words| words.class != RiskClass::PlanOrMeans || !denies_plan_inside(doc.reading, &words.words));
        found.retain(|words| !self.patterns.is_slip(doc.reading, index, words.class, &words.words));
        let overlaps = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        // "I don't want to go on living with my in-laws": the words after it make it harmless.
        let closes = |other: &Range<usize>, words: &Range<usize>| {
            words.start < other.start && other.start < words.end && words.end <= other.end
        };
        found.retain(|words| {
            // "Quiero morir de la vergüenza": the plainest words are harmless where they go on harmlessly.
            let goes_on = |o: &Range<usize>| overlaps(o, &words.core) && words.words.end < o.end;
            // "Se suicidó" is of someone who died; "attempted suicide two years ago" is not only of when.
            let covers = |o: &Range<usize>| o.start <= words.core.start && words.core.end <= o.end;
            let attempt = words.class == RiskClass::AttemptHistory;
            let plain = |o: &Range<usize>| if attempt { covers(o) } else { goes_on(o) || closes(o, &words.words) };
            let any = |o: &Range<usize>| overlaps(o, &words.core) || closes(o, &words.words);
            !harmless.iter().any(|o| if words.sure { plain(o) } else { any(o) })
                && !is_aimed_at_a_thing(doc, words)
                && !is_done_to_oneself(doc, words)
                && !semantic_roles::is_turned(doc.reading, sentence, words)
                && !figurative::is_figurative(doc.reading, index, doc.input.document_type, words)
        });
        keep_more_than_the_wish(&mut found);
        // "I wish I was dead" holds "wish I was dead": one finding.
        found.sort_by_key(|words| (words.words.start, std::cmp::Reverse(words.words.end)));
        let mut out: Vec<RiskPhrase> = Vec::new();
        for mut words in found {
            if words.class == RiskClass::AttemptHistory
                && hypothetical::is_only_thought(doc.reading, sentence, &words.words)
            {
                words.class = RiskClass::PlanOrMeans;
            }
            let inside = |known: &&RiskPhrase| {
                known.class == words.class
                    && (known.sure || !words.sure)
                    && (known.nearby || !words.nearby)
                    && known.words.start <= words.words.start
                    && words.words.end <= known.words.end
            };
            if !out.iter().any(|known| inside(&known)) {
                out.push(words);
            }
        }
        out
    }

    fn risk(&self, doc: &AnalyzedDocument<'_>, index: usize, found: &RiskPhrase) -> Option<RiskCandidate> {
        let sentence = &doc.reading.sentences[index];
        let class = found.class;
        let context = doc.scopes.mention_context(doc.reading, &found.words);
        // A plan is denied only where its own first words are; anything else also where its core is. An act of the
        // patient is not denied by words far after it: "… and says the bruises will go away".
        let after = if found.own { DENIAL_AFTER } else { usize::MAX };
        let plan_denied =
            class != RiskClass::PlanOrMeans && denies_plan_after(doc.reading, &sentence.words, found.core.end);
        let (end, after) = if plan_denied { (found.core.end, 0) } else { (found.words.end, after) };
        let reached = |words: &Range<usize>| doc.scopes.denied_within(doc.reading, words, end, after);
        // "Ya no sirvo, a veces le pido a Dios que me recoja": a denial before a wish does not deny the wish.
        let wish = found.sure && class == RiskClass::PassiveIdeation;
        let negated = if wish {
            // "Would not mind dying": a "not" within the words is part of the wish.
            denied_itself(doc.reading, &sentence.words, &(found.words.start..found.words.start + 1))
        } else if found.nearby {
            denied_itself(doc.reading, &sentence.words, &found.words)
        } else {
            (context.negated
                && doc.scopes.denied_from_outside(doc.reading, &found.words, &found.words)
                && reached(&found.words))
                || (class != RiskClass::PlanOrMeans
                    && doc.scopes.mention_context(doc.reading, &found.core).negated
                    // "Quiero desaparecer" ends nothing, though what has disappeared is over.
                    && doc.scopes.denied_from_outside(doc.reading, &found.core, &found.words)
                    && reached(&found.core))
                || wish_denied(doc.reading, &sentence.words, &found.words)
                || is_denied_after(doc.reading, found.words.end)
                || (!is_about_acts(class)
                    && [found.words.end, found.core.end].iter().any(|end| denied_as_subject(doc.reading, *end)))
                || is_done_by_nobody(doc.reading, &sentence.words, &found.words)
                || self.screens.answered_no(doc.reading, index, &found.words)
        };
        let negated = negated
            && !is_after_box(doc.reading, &sentence.words, &found.words)
            && !self.around.affirms(doc.reading, &sentence.words, &found.core);
        let asked = doc.is_dialogue() && doc.question_answers.asks(index) && sentence.speaker != Speaker::Patient;
        let mut denied = match (asked, doc.question_answers.answer(index).map(|answer| answer.polarity)) {
            (true, Some(Polarity::No)) => true,
            (true, Some(Polarity::Yes)) => negated && found.own,
            // Asked and neither affirmed nor denied: the question alone is nothing.
            (true, _) => return None,
            (false, _) => negated,
        };
        if !asked && sentence.question && sentence.speaker != Speaker::Patient && asks_you(doc, &sentence.words) {
            denied = noted_answer(doc.reading, index)? == Polarity::No;
        }
        // "Asked about mood he says he will hang himself": a plain statement in a separate clause answers.
        let stated = found.sure
            && doc.structure.boxes(index).is_empty()
            && clauses::clause_of(doc.reading, &sentence.words, found.words.start).start > sentence.words.start;
        if !stated && doc.scopes.only_asked(doc.reading, &found.core) {
            return None;
        }
        let experiencer = self.experiencer_rules.detect(doc, &sentence.words, found);
        Some(RiskCandidate {
            class,
            denied,
            words: found.words.clone(),
            core: found.core.clone(),
            experiencer,
            confirmed: found.sure.then_some(1.0),
        })
    }
}

/// "Sí [x]  No [ ]  tomó raticida a los 17": the "no" of a box denies nothing after it.
fn is_after_box(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &Range<usize>) -> bool {
    let boxed = |word: usize| match reading.word(word) {
        "☐" | "☒" | "☑" | "□" => true,
        "]" | ")" => {
            word > sentence.start + 1
                && ["[", "("].iter().any(|open| {
                    reading.word(word - 1) == *open
                        || reading.word(word - 2) == *open && reading.word(word - 1).len() < 3
                })
        }
        _ => false,
    };
    let Some(last) = (sentence.start..found.start).rev().find(|word| boxed(*word)) else { return false };
    let denies =
        |word: usize| matches!(reading.word(word), "no" | "not" | "niega" | "denies" | "never" | "nunca" | "sin");
    !(last..found.end).any(denies)
}

/// "Me tomé las pastillas": taking one's pills, without a number of them, is no attempt.
fn is_plain_taking(doc: &AnalyzedDocument<'_>, found: &RiskCandidate) -> bool {
    let word = |at: usize| doc.reading.word(at);
    let Some(last) = found.core.end.checked_sub(1) else { return false };
    let pills = matches!(word(last), "pastillas" | "comprimidos" | "tabletas" | "pastis");
    let more =
        |word: &str| matches!(word, "todas" | "todos" | "entero" | "entera" | "juntas" | "golpe" | "morir" | "morirme");
    let around = found.core.start..found.core.end + AROUND_TAKING;
    found.class == RiskClass::AttemptHistory
        && pills
        && last > found.core.start
        && matches!(word(last - 1), "las" | "los" | "mis" | "sus")
        && !around.clone().any(|at| more(word(at)))
}

/// Words after pills that were taken within which it is said how many, or what for.
const AROUND_TAKING: usize = 6;

static BODY: WordList = WordList::listed(word_lists::RISK, "risk.body");

/// "Held a knife to the onions" threatens no one. With an article alone only the body and children belong to a person.
fn is_aimed_at_a_thing(doc: &AnalyzedDocument<'_>, words: &RiskPhrase) -> bool {
    let word = |at: usize| doc.reading.word(at);
    let end = words.words.end;
    let to = (words.core.start..end).rev().find(|at| word(*at) == "to");
    let Some(to) =
        to.filter(|to| to + 2 >= end && *to > words.words.start && matches!(word(to - 1), "knife" | "blade"))
    else {
        return false;
    };
    word(to + 1) == "the" && !BODY.contains(word(to + 2)) && !is_relative(word(to + 2))
}

/// A question put to someone, outside a dialogue: "Have you …?", "¿Ha tenido …?".
fn asks_you(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "risk.asks_you");
    let word = |at: usize| doc.reading.word(at);
    let own = sentence.clone().any(|at| matches!(word(at), "i" | "me" | "my" | "mi" | "yo" | "mis"));
    let you = |at: usize| WORDS.contains(word(at));
    !own && sentence.clone().any(you)
}

/// What was done or suffered, of which no wish is the subject.
fn is_about_acts(class: RiskClass) -> bool {
    matches!(class, RiskClass::AttemptHistory | RiskClass::SelfHarm | RiskClass::Abuse)
}

fn gravity(class: RiskClass) -> u8 {
    match class {
        RiskClass::PlanOrMeans => 0,
        RiskClass::AttemptHistory => 1,
        RiskClass::HarmToOthers => 2,
        RiskClass::ActiveIdeation => 3,
        RiskClass::SelfHarm => 4,
        RiskClass::Abuse => 5,
        RiskClass::PassiveIdeation => 6,
    }
}

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod figurative_tests;
#[cfg(test)]
mod passage_date_tests;
#[cfg(test)]
mod tests;
