//! Questions about risk and their answers, judged together: a yes is the risk that was asked about, a no its denial; an
//! evasive answer is nothing. In dialogues by turns, in notes by the text after the question.

mod turns;

use std::ops::Range;

use super::candidates::{ResolvedWords, RiskCandidate};
use super::clauses::clause_of;
use super::cue_words::RiskCueWords;
use super::experiencer::is_relative;
use super::question_wording::{chosen, is_own, of_children};
use super::topics::{RiskTopic, RiskTopics, TopicInversion};
use crate::analysis::AnalyzedDocument;
use crate::dialogue::Polarity;
use crate::tokenized::TextSentence;
use crate::{Experiencer, RiskClass};
use anamnesis_text::Speaker;
use turns::{TurnSentences, turns};

/// Longest question with its answer that is stored as evidence.
const LONGEST: usize = 56;
/// Sentences of an answer that are read.
const ANSWER: usize = 4;
/// Sentences around a question how it would be done in which suicide is spoken of.
const NEAR_METHOD: usize = 8;
/// Longest question that repeats the one before: "And now, these weeks?".
const AGAIN: usize = 5;

pub(super) struct RiskAnswers<'a> {
    pub(crate) topics: &'a RiskTopics,
    pub(crate) words: &'a RiskCueWords,
    pub(crate) spoken_of: &'a [bool],
}

impl RiskAnswers<'_> {
    /// Everything that questions of a document and their answers say.
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<RiskCandidate>, settled: &mut ResolvedWords) {
        if doc.is_dialogue() {
            self.in_dialogue(doc, out, settled);
        } else {
            self.in_note(doc, out, settled);
        }
    }

    fn in_dialogue(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<RiskCandidate>, settled: &mut ResolvedWords) {
        let turns = turns(doc);
        let mut before: Vec<RiskTopic> = Vec::new();
        for (place, turn) in turns.iter().enumerate() {
            if !is_asker(turn.speaker) {
                continue;
            }
            settled.sentences.extend(turn.sentences.clone());
            let Some(answer) = turns[place + 1..].iter().take(2).find(|next| !is_asker(next.speaker)) else { continue };
            let sentences = &doc.reading.sentences;
            let asked = self.asked(doc, turn);
            let Some(last) = turn.sentences.clone().next_back() else { continue };
            let given: Vec<Range<usize>> =
                answer.sentences.clone().take(ANSWER).map(|at| sentences[at].words.clone()).collect();
            let person = self.names_person(doc, turn, &given);
            let who = person.is_some();
            let unsafe_at = asked.iter().any(is_half_denied) && self.words.half_safe(doc.reading, &given[0]);
            let half_safe = unsafe_at.then_some((Polarity::No, 0));
            let first = &sentences[answer.sentences.start].words;
            self.add_method(doc, &sentences[last].words, first, out);
            let named = self.topics.find(doc.reading, first.clone(), self.spoken_of);
            if let Some(chosen) = chosen(doc.reading, first, &asked, &named) {
                for (topic, polarity) in chosen {
                    let end = answer_end(doc, answer, first.end);
                    self.add(doc, &topic, (polarity, self.start(doc, &topic, end)..end), out);
                }
                before = asked;
                continue;
            }
            let Some((polarity, at)) = half_safe.or_else(|| self.words.answer(doc.reading, &given)).or(person) else {
                if !asked.is_empty() {
                    before = asked;
                }
                continue;
            };
            let end = answer_end(doc, answer, given[at].end);
            // "Not suicide. No.": an answer denies only the risk that it names.
            let own = self.topics.find(doc.reading, given[0].clone(), self.spoken_of);
            let named = |topic: &&RiskTopic| own.is_empty() || own.iter().any(|own| own.class == topic.class);
            // "With the belt, on the back. On the head, no.": the first statement holds.
            let stated = polarity == Polarity::No && !self.words.is_empty_talk(doc.reading, &given[..at]);
            // "No, never. Well, he pushed me at Easter."
            let struck = polarity != Polarity::Yes && self.words.asking.struck(doc.reading, &given);
            let named = |topic: &&RiskTopic| named(topic) && !(stated && !struck && topic.class == RiskClass::Abuse);
            for topic in asked
                .iter()
                .filter(named)
                .filter(|topic| !who || matches!(topic.class, RiskClass::Abuse | RiskClass::HarmToOthers))
            {
                let start = self.start(doc, topic, end);
                let sentence = &sentences[doc.reading.sentence_of(topic.words.start)].words;
                let polarity = match topic.class {
                    RiskClass::Abuse if struck => Polarity::Yes,
                    _ if self.asks_no(doc, sentence, topic) => {
                        self.words.asking.to_negative(doc.reading, sentence, (&given, at), polarity)
                    }
                    _ => polarity,
                };
                self.add(doc, topic, (polarity, start..end), out);
            }
            let words = sentences[last].words.clone();
            let plain = words.clone().filter(|word| !doc.reading.words[*word].punctuation).count() <= AGAIN;
            if asked.is_empty() && plain && !who && self.words.repeats_question(doc.reading, words.clone()) {
                for topic in &before {
                    self.add(
                        doc,
                        &RiskTopic { words: words.clone(), ..topic.clone() },
                        (polarity, words.start..end),
                        out,
                    );
                }
            }
            if !asked.is_empty() {
                before = asked;
            }
        }
    }

    /// A plan that the answer to "how would you do it?" says, where suicide is spoken of nearby.
    fn add_method(
        &self,
        doc: &AnalyzedDocument<'_>,
        question: &Range<usize>,
        answer: &Range<usize>,
        out: &mut Vec<RiskCandidate>,
    ) {
        let index = doc.reading.sentence_of(question.start);
        let near = index.saturating_sub(NEAR_METHOD)..(index + NEAR_METHOD).min(self.spoken_of.len());
        let spoken = self.spoken_of[near].iter().any(|named| *named);
        let Some(core) = self.words.asking.method(doc.reading, question, answer).filter(|_| spoken) else { return };
        let (class, experiencer) = (RiskClass::PlanOrMeans, Experiencer::Patient);
        out.push(RiskCandidate {
            class,
            denied: false,
            words: question.start..answer.end,
            core,
            experiencer,
            confirmed: None,
        });
    }

    /// "¿Alguien le pega en casa? — Mi marido.": the question asks for a person, the answer names one.
    fn names_person(
        &self,
        doc: &AnalyzedDocument<'_>,
        turn: &TurnSentences,
        given: &[Range<usize>],
    ) -> Option<(Polarity, usize)> {
        let last = &doc.reading.sentences[turn.sentences.end.checked_sub(1)?].words;
        let first = given.first()?;
        let close = |word: &str| {
            is_relative(word)
                || matches!(
                    word,
                    "stepdad"
                        | "stepmom"
                        | "boyfriend"
                        | "girlfriend"
                        | "partner"
                        | "novio"
                        | "novia"
                        | "pareja"
                        | "ex"
                        | "conviviente"
                        | "jefe"
                        | "boss"
                        | "neighbour"
                        | "neighbor"
                        | "vecino"
                )
        };
        let head = first.start..first.end.min(first.start + 3);
        let named = head.clone().any(|word| close(doc.reading.word(word)));
        let no = head.clone().any(|word| matches!(doc.reading.word(word), "no" | "not" | "never"));
        (named && !no && self.words.asks_who(doc.reading, last.clone())).then_some((Polarity::Yes, 0))
    }

    /// "You're not feeling suicidal?" is put in the negative. "Haven't you thought of it?" asks for a yes.
    fn asks_no(&self, doc: &AnalyzedDocument<'_>, sentence: &Range<usize>, topic: &RiskTopic) -> bool {
        let clause = clause_of(doc.reading, sentence, topic.words.start);
        let you = |word: usize| matches!(doc.reading.word(word), "you" | "te" | "usted" | "le" | "he" | "she");
        topic.turned == TopicInversion::No
            && self
                .words
                .denied(doc.reading, &clause, topic)
                .is_some_and(|denial| !denial.clone().any(you) && denial.start < topic.words.start)
    }

    /// The topics within a sentence that asks, and their polarity.
    fn topics_asked(&self, doc: &AnalyzedDocument<'_>, sentence: &Range<usize>) -> Vec<RiskTopic> {
        let found = self.topics.find(doc.reading, sentence.clone(), self.spoken_of).into_iter();
        let found = found.filter(|topic| !self.words.asking.is_for_something_else(doc.reading, sentence, topic));
        found.map(|topic| self.words.turned(doc.reading, sentence, topic)).collect()
    }

    /// The topics of the last questions of a turn, each class once.
    fn asked(&self, doc: &AnalyzedDocument<'_>, turn: &TurnSentences) -> Vec<RiskTopic> {
        let mut out: Vec<RiskTopic> = Vec::new();
        let sentences = &doc.reading.sentences;
        let mut rest = 0;
        for index in turn.sentences.clone().rev() {
            let sentence = &sentences[index];
            let closed = sentence.span.slice(doc.text()).ends_with('.');
            let last = index + 1 == turn.sentences.end && !closed;
            if self.words.is_advice(doc.reading, &sentence.words, sentence.words.end)
                || !(sentence.question || doc.question_answers.asks(index) || last)
            {
                continue;
            }
            let found = self.topics_asked(doc, &sentence.words);
            if found.is_empty() {
                rest += 1;
                // Another question comes after: the answer is to that one.
                if rest > 0 && !continues(doc, &sentence.words) {
                    break;
                }
                continue;
            }
            for topic in found {
                if !out.iter().any(|known| known.class == topic.class) {
                    out.push(topic);
                }
            }
        }
        one_name(&mut out);
        out
    }

    /// Where the evidence of an answered question begins: with the question's sentence, or the clause of its topic.
    fn start(&self, doc: &AnalyzedDocument<'_>, topic: &RiskTopic, end: usize) -> usize {
        let sentence = &doc.reading.sentences[doc.reading.sentence_of(topic.words.start)].words;
        let clause = clause_of(doc.reading, sentence, topic.words.start);
        [sentence.start, clause.start, topic.words.start]
            .into_iter()
            .find(|start| end - start <= LONGEST)
            .unwrap_or(topic.words.start)
    }

    fn add(
        &self,
        doc: &AnalyzedDocument<'_>,
        topic: &RiskTopic,
        (polarity, words): (Polarity, Range<usize>),
        out: &mut Vec<RiskCandidate>,
    ) {
        let Some(denied) = topic.denied_by(polarity) else { return };
        let core = topic.words.clone();
        // "¿Y a los niños les pega?": theirs.
        let theirs = topic.class == RiskClass::Abuse && of_children(doc, &topic.words);
        let experiencer = if theirs { Experiencer::Family } else { Experiencer::Patient };
        out.push(RiskCandidate { class: topic.class, denied, words, core, experiencer, confirmed: None });
    }

    /// "¿Se ha cortado? No.", "Asked about self-harm: says no", "Pregunto si ha pensado en matarse: que sí".
    fn in_note(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<RiskCandidate>, settled: &mut ResolvedWords) {
        let sentences = &doc.reading.sentences;
        for (index, sentence) in sentences.iter().enumerate() {
            for topic in self.topics_asked(doc, &sentence.words) {
                if settled.holds(&topic.words) {
                    continue;
                }
                let before = sentence.words.start..topic.words.start;
                let clause = clause_of(doc.reading, &sentence.words, topic.words.start);
                // "Asked alone: denies abuse": a denial like any other.
                if !sentence.question && self.words.denied(doc.reading, &clause, &topic).is_some() {
                    continue;
                }
                let reported = self
                    .words
                    .asks_about(doc.reading, before.start.max(topic.words.start.saturating_sub(14))..topic.words.start);
                // "Asked about mood: wants to die", "says no, but cuts her thighs": an answer, and asked about no more.
                if reported && is_stated(doc, &before) {
                    continue;
                }
                let titled = !reported && !sentence.question && is_titled(doc, &clause, &topic);
                let polarity = if titled {
                    self.titled(doc, &topic, &sentence.words)
                } else if reported {
                    self.reported(doc, topic.words.end..sentence.words.end, index)
                } else if sentence.question && !is_own(doc, &sentence.words) {
                    let next = sentences.get(index + 1).and_then(|next| plain_answer(doc, next));
                    let answer = next.and_then(|next| {
                        if is_half_denied(&topic) && self.words.half_safe(doc.reading, &next) {
                            return Some((Polarity::No, next.end));
                        }
                        Some((self.words.answer(doc.reading, std::slice::from_ref(&next))?.0, next.end))
                    });
                    settled.words.push(sentence.words.clone());
                    answer
                } else {
                    continue;
                };
                if titled && polarity.is_none() {
                    continue;
                }
                settled.words.push(if reported || titled { topic.words.clone() } else { sentence.words.clone() });
                if let Some((polarity, end)) = polarity {
                    let end = end.min(topic.words.end + LONGEST);
                    let start = if reported || titled { clause.start } else { sentence.words.start.max(clause.start) };
                    self.add(doc, &topic, (polarity, start..end), out);
                }
            }
        }
    }

    /// The answer after a dash, and where it ends: "Thoughts of ending life – "no love"".
    fn titled(
        &self,
        doc: &AnalyzedDocument<'_>,
        topic: &RiskTopic,
        sentence: &Range<usize>,
    ) -> Option<(Polarity, usize)> {
        let from = (topic.words.end + 1..sentence.end).find(|word| !doc.reading.words[*word].punctuation)?;
        let rest = from..sentence.end;
        let (polarity, _) = self.words.answer(doc.reading, std::slice::from_ref(&rest))?;
        Some((polarity, clause_of(doc.reading, sentence, from).end))
    }

    /// The answer after a reported question, and where it ends.
    fn reported(&self, doc: &AnalyzedDocument<'_>, rest: Range<usize>, index: usize) -> Option<(Polarity, usize)> {
        let reading = doc.reading;
        for word in rest.clone().take(10) {
            let opens = word == rest.start
                || matches!(
                    reading.word(word - 1),
                    ":" | ","
                        | "said"
                        | "says"
                        | "dice"
                        | "dijo"
                        | "que"
                        | "responde"
                        | "respondio"
                        | "contesta"
                        | "answered"
                        | "answers"
                        | "replied"
                        | "."
                        | "-"
                );
            let head = word..rest.end;
            if opens && let Some((polarity, _)) = self.words.answer(reading, std::slice::from_ref(&head)) {
                let clause = clause_of(reading, &reading.sentences[index].words, word);
                return Some((polarity, clause.end.min(word + 12)));
            }
        }
        let next = reading.sentences.get(index + 1).filter(|next| !next.question)?;
        let (polarity, _) = self.words.answer(reading, std::slice::from_ref(&next.words))?;
        Some((polarity, next.words.end))
    }
}

/// The words of a sentence that may answer the question before it. "No. ¿Ha tomado algo?" is read as one sentence, for "no."
/// is short for a number too: its first words answer.
fn plain_answer(doc: &AnalyzedDocument<'_>, next: &TextSentence) -> Option<Range<usize>> {
    let word = |at: usize| doc.reading.word(next.words.start + at);
    if !next.question {
        return Some(next.words.clone());
    }
    let short = matches!((word(0), word(1)), ("no", ".") | ("no", "") | ("no.", _));
    short.then(|| next.words.start..next.words.start + 1)
}

/// Whether a topic is all that its clause says, and a dash or an arrow with an answer follows.
fn is_titled(doc: &AnalyzedDocument<'_>, clause: &Range<usize>, topic: &RiskTopic) -> bool {
    let sign = matches!(doc.reading.word(topic.words.end), "–" | "—" | "→" | "=" | "-");
    sign && topic.words.start - clause.start <= TITLE
}

/// Words before a topic in the title of an answer.
const TITLE: usize = 3;

/// Whether the words after these are stated and not asked about: a colon comes after the question, or a word with which
/// the answer goes on.
fn is_stated(doc: &AnalyzedDocument<'_>, before: &Range<usize>) -> bool {
    let reading = doc.reading;
    let lists = |word: &str| {
        matches!(
            word,
            "about"
                | "re"
                | "for"
                | "regarding"
                | "asked"
                | "screened"
                | "screening"
                | "following"
                | "questions"
                | "por"
                | "sobre"
                | "de"
                | "preguntado"
                | "preguntada"
                | "siguiente"
                | "siguientes"
                | "pregunta"
                | "preguntas"
                | "pregunto"
        )
    };
    before.clone().skip(1).any(|word| match reading.word(word) {
        "but" | "however" | "although" | "though" | "pero" | "aunque" => true,
        ":" => !lists(reading.word(word - 1)),
        _ => false,
    })
}

/// Where the evidence of an answer ends: the rest of the same turn belongs to it, as far as a reader needs.
fn answer_end(doc: &AnalyzedDocument<'_>, answer: &TurnSentences, end: usize) -> usize {
    let sentences = &doc.reading.sentences[answer.sentences.clone()];
    let further = sentences
        .iter()
        .map(|sentence| sentence.words.end)
        .filter(|further| *further > end && *further <= end + FURTHER);
    further.max().unwrap_or(end)
}

/// Words of an answer after its yes or no.
const FURTHER: usize = 26;

/// Topics that "not really" or "not yet" denies: whether a person is safe, or whether something is over.
fn is_half_denied(topic: &RiskTopic) -> bool {
    matches!(topic.turned, TopicInversion::Opposite | TopicInversion::Over)
}

fn is_asker(speaker: Speaker) -> bool {
    matches!(speaker, Speaker::Clinician | Speaker::Agent)
}

/// A short question after one about risk that only continues it: "When?", "¿Armas?".
fn continues(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    words.clone().filter(|word| !doc.reading.words[*word].punctuation).count() <= 4
}

/// "Ever attempted suicide", "plan or intent": one thing under two names.
pub(super) fn one_name(topics: &mut Vec<RiskTopic>) {
    let has = |class: RiskClass| topics.iter().any(|topic| topic.class == class);
    if has(RiskClass::AttemptHistory) {
        topics.retain(|topic| topic.class != RiskClass::ActiveIdeation);
    }
}
