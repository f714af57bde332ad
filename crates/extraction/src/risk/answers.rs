//! Questions about risk and their answers, judged together: an answer with yes is the risk that was asked about, one with no
//! its denial; one that evades is nothing. In dialogues by turns, in notes by what is written behind the question.

use std::ops::Range;

use super::asking::{chosen, is_own, of_children};
use super::clauses::clause_of;
use super::heard::{Heard, Settled};
use super::topics::{Topic, Topics, Turned};
use super::whose::is_relative;
use super::words::Words;
use crate::dialogue::Polarity;
use crate::reading::Sentence;
use crate::scene::Scene;
use crate::{Experiencer, RiskClass};
use anamnesis_text::Speaker;

/// Words of a question and its answer that are kept as evidence.
const LONGEST: usize = 56;
/// Sentences of an answer that are read.
const ANSWER: usize = 4;
/// Sentences around a question how it would be done in which suicide is spoken of.
const NEAR_METHOD: usize = 8;
/// Words of a question that asks again about what was asked before: "And now, these weeks?".
const AGAIN: usize = 5;

pub(super) struct Answers<'a> {
    pub(crate) topics: &'a Topics,
    pub(crate) words: &'a Words,
    pub(crate) spoken_of: &'a [bool],
}

impl Answers<'_> {
    /// Everything that questions of a document and their answers say.
    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Vec<Heard>, settled: &mut Settled) {
        if scene.is_dialogue() {
            self.in_dialogue(scene, out, settled);
        } else {
            self.in_note(scene, out, settled);
        }
    }

    fn in_dialogue(&self, scene: &Scene<'_>, out: &mut Vec<Heard>, settled: &mut Settled) {
        let turns = turns(scene);
        let mut before: Vec<Topic> = Vec::new();
        for (place, turn) in turns.iter().enumerate() {
            if !is_asker(turn.speaker) {
                continue;
            }
            settled.sentences.extend(turn.sentences.clone());
            let Some(answer) = turns[place + 1..].iter().take(2).find(|next| !is_asker(next.speaker)) else { continue };
            let sentences = &scene.reading.sentences;
            let asked = self.asked(scene, turn);
            let Some(last) = turn.sentences.clone().next_back() else { continue };
            let given: Vec<Range<usize>> =
                answer.sentences.clone().take(ANSWER).map(|at| sentences[at].words.clone()).collect();
            let somebody = self.names_somebody(scene, turn, &given);
            let who = somebody.is_some();
            let unsafe_at = asked.iter().any(is_half_denied) && self.words.half_safe(scene.reading, &given[0]);
            let half_safe = unsafe_at.then_some((Polarity::No, 0));
            let first = &sentences[answer.sentences.start].words;
            self.hear_method(scene, &sentences[last].words, first, out);
            let named = self.topics.find(scene.reading, first.clone(), self.spoken_of);
            if let Some(chosen) = chosen(scene.reading, first, &asked, &named) {
                for (topic, polarity) in chosen {
                    let end = answer_end(scene, answer, first.end);
                    self.hear(scene, &topic, (polarity, self.start(scene, &topic, end)..end), out);
                }
                before = asked;
                continue;
            }
            let Some((polarity, at)) = half_safe.or_else(|| self.words.answer(scene.reading, &given)).or(somebody)
            else {
                if !asked.is_empty() {
                    before = asked;
                }
                continue;
            };
            let end = answer_end(scene, answer, given[at].end);
            // "Not suicide. No.": what an answer names is all that it denies.
            let own = self.topics.find(scene.reading, given[0].clone(), self.spoken_of);
            let named = |topic: &&Topic| own.is_empty() || own.iter().any(|own| own.class == topic.class);
            // "With the belt, on the back. On the head, no.": what was told first stands.
            let told = polarity == Polarity::No && !self.words.is_empty_talk(scene.reading, &given[..at]);
            // "No, never. Well, he pushed me at Easter."
            let struck = polarity != Polarity::Yes && self.words.asking.struck(scene.reading, &given);
            let named = |topic: &&Topic| named(topic) && !(told && !struck && topic.class == RiskClass::Abuse);
            for topic in asked
                .iter()
                .filter(named)
                .filter(|topic| !who || matches!(topic.class, RiskClass::Abuse | RiskClass::HarmToOthers))
            {
                let start = self.start(scene, topic, end);
                let sentence = &sentences[scene.reading.sentence_of(topic.words.start)].words;
                let polarity = match topic.class {
                    RiskClass::Abuse if struck => Polarity::Yes,
                    _ if self.asks_no(scene, sentence, topic) => {
                        self.words.asking.to_negative(scene.reading, sentence, (&given, at), polarity)
                    }
                    _ => polarity,
                };
                self.hear(scene, topic, (polarity, start..end), out);
            }
            let words = sentences[last].words.clone();
            let plain = words.clone().filter(|word| !scene.reading.words[*word].punctuation).count() <= AGAIN;
            if asked.is_empty() && plain && !who && self.words.asks_again(scene.reading, words.clone()) {
                for topic in &before {
                    self.hear(
                        scene,
                        &Topic { words: words.clone(), ..topic.clone() },
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

    /// A plan that the answer to "how would you do it?" tells, where suicide is spoken of nearby.
    fn hear_method(&self, scene: &Scene<'_>, question: &Range<usize>, answer: &Range<usize>, out: &mut Vec<Heard>) {
        let index = scene.reading.sentence_of(question.start);
        let near = index.saturating_sub(NEAR_METHOD)..(index + NEAR_METHOD).min(self.spoken_of.len());
        let spoken = self.spoken_of[near].iter().any(|named| *named);
        let Some(core) = self.words.asking.method(scene.reading, question, answer).filter(|_| spoken) else { return };
        let (class, experiencer) = (RiskClass::PlanOrMeans, Experiencer::Patient);
        out.push(Heard { class, denied: false, words: question.start..answer.end, core, experiencer, confirmed: None });
    }

    /// "¿Alguien le pega en casa? — Mi marido.": who is asked for and who is named.
    fn names_somebody(&self, scene: &Scene<'_>, turn: &Turn, given: &[Range<usize>]) -> Option<(Polarity, usize)> {
        let last = &scene.reading.sentences[turn.sentences.end.checked_sub(1)?].words;
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
        let named = head.clone().any(|word| close(scene.reading.word(word)));
        let no = head.clone().any(|word| matches!(scene.reading.word(word), "no" | "not" | "never"));
        (named && !no && self.words.asks_who(scene.reading, last.clone())).then_some((Polarity::Yes, 0))
    }

    /// "You're not feeling suicidal?" is put in the negative. "Haven't you thought of it?" asks for a yes.
    fn asks_no(&self, scene: &Scene<'_>, sentence: &Range<usize>, topic: &Topic) -> bool {
        let clause = clause_of(scene.reading, sentence, topic.words.start);
        let you = |word: usize| matches!(scene.reading.word(word), "you" | "te" | "usted" | "le" | "he" | "she");
        topic.turned == Turned::No
            && self
                .words
                .denied(scene.reading, &clause, topic)
                .is_some_and(|denial| !denial.clone().any(you) && denial.start < topic.words.start)
    }

    /// What is named within a sentence that asks, and which way round.
    fn topics_asked(&self, scene: &Scene<'_>, sentence: &Range<usize>) -> Vec<Topic> {
        let found = self.topics.find(scene.reading, sentence.clone(), self.spoken_of).into_iter();
        let found = found.filter(|topic| !self.words.asking.is_for_something_else(scene.reading, sentence, topic));
        found.map(|topic| self.words.turned(scene.reading, sentence, topic)).collect()
    }

    /// What the last questions of a turn ask about, each class once.
    fn asked(&self, scene: &Scene<'_>, turn: &Turn) -> Vec<Topic> {
        let mut out: Vec<Topic> = Vec::new();
        let sentences = &scene.reading.sentences;
        let mut rest = 0;
        for index in turn.sentences.clone().rev() {
            let sentence = &sentences[index];
            let closed = sentence.span.of(scene.text()).ends_with('.');
            let last = index + 1 == turn.sentences.end && !closed;
            if self.words.is_advice(scene.reading, &sentence.words, sentence.words.end)
                || !(sentence.question || scene.exchanges.asks(index) || last)
            {
                continue;
            }
            let found = self.topics_asked(scene, &sentence.words);
            if found.is_empty() {
                rest += 1;
                // Another question stands behind: the answer is to that one.
                if rest > 0 && !continues(scene, &sentence.words) {
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
    fn start(&self, scene: &Scene<'_>, topic: &Topic, end: usize) -> usize {
        let sentence = &scene.reading.sentences[scene.reading.sentence_of(topic.words.start)].words;
        let clause = clause_of(scene.reading, sentence, topic.words.start);
        [sentence.start, clause.start, topic.words.start]
            .into_iter()
            .find(|start| end - start <= LONGEST)
            .unwrap_or(topic.words.start)
    }

    fn hear(
        &self,
        scene: &Scene<'_>,
        topic: &Topic,
        (polarity, words): (Polarity, Range<usize>),
        out: &mut Vec<Heard>,
    ) {
        let Some(denied) = topic.denied_by(polarity) else { return };
        let core = topic.words.clone();
        // "¿Y a los niños les pega?": theirs.
        let theirs = topic.class == RiskClass::Abuse && of_children(scene, &topic.words);
        let experiencer = if theirs { Experiencer::Family } else { Experiencer::Patient };
        out.push(Heard { class: topic.class, denied, words, core, experiencer, confirmed: None });
    }

    /// "¿Se ha cortado? No.", "Asked about self-harm: says no", "Pregunto si ha pensado en matarse: que sí".
    fn in_note(&self, scene: &Scene<'_>, out: &mut Vec<Heard>, settled: &mut Settled) {
        let sentences = &scene.reading.sentences;
        for (index, sentence) in sentences.iter().enumerate() {
            for topic in self.topics_asked(scene, &sentence.words) {
                if settled.holds(&topic.words) {
                    continue;
                }
                let before = sentence.words.start..topic.words.start;
                let clause = clause_of(scene.reading, &sentence.words, topic.words.start);
                // "Asked alone: denies abuse": a denial like any other.
                if !sentence.question && self.words.denied(scene.reading, &clause, &topic).is_some() {
                    continue;
                }
                let reported = self.words.asks_about(
                    scene.reading,
                    before.start.max(topic.words.start.saturating_sub(14))..topic.words.start,
                );
                // "Asked about mood: wants to die", "says no, but cuts her thighs": an answer, and asked about no more.
                if reported && is_stated(scene, &before) {
                    continue;
                }
                let titled = !reported && !sentence.question && is_titled(scene, &clause, &topic);
                let polarity = if titled {
                    self.titled(scene, &topic, &sentence.words)
                } else if reported {
                    self.reported(scene, topic.words.end..sentence.words.end, index)
                } else if sentence.question && !is_own(scene, &sentence.words) {
                    let next = sentences.get(index + 1).and_then(|next| plain_answer(scene, next));
                    let answer = next.and_then(|next| {
                        if is_half_denied(&topic) && self.words.half_safe(scene.reading, &next) {
                            return Some((Polarity::No, next.end));
                        }
                        Some((self.words.answer(scene.reading, std::slice::from_ref(&next))?.0, next.end))
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
                    self.hear(scene, &topic, (polarity, start..end), out);
                }
            }
        }
    }

    /// The answer behind a dash, and where it ends: "Thoughts of ending life – "no love"".
    fn titled(&self, scene: &Scene<'_>, topic: &Topic, sentence: &Range<usize>) -> Option<(Polarity, usize)> {
        let from = (topic.words.end + 1..sentence.end).find(|word| !scene.reading.words[*word].punctuation)?;
        let rest = from..sentence.end;
        let (polarity, _) = self.words.answer(scene.reading, std::slice::from_ref(&rest))?;
        Some((polarity, clause_of(scene.reading, sentence, from).end))
    }

    /// The answer behind a reported question, and where it ends.
    fn reported(&self, scene: &Scene<'_>, rest: Range<usize>, index: usize) -> Option<(Polarity, usize)> {
        let reading = scene.reading;
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
fn plain_answer(scene: &Scene<'_>, next: &Sentence) -> Option<Range<usize>> {
    let word = |at: usize| scene.reading.word(next.words.start + at);
    if !next.question {
        return Some(next.words.clone());
    }
    let short = matches!((word(0), word(1)), ("no", ".") | ("no", "") | ("no.", _));
    short.then(|| next.words.start..next.words.start + 1)
}

/// Whether a topic is all that its clause says, and a dash or an arrow with an answer follows.
fn is_titled(scene: &Scene<'_>, clause: &Range<usize>, topic: &Topic) -> bool {
    let sign = matches!(scene.reading.word(topic.words.end), "–" | "—" | "→" | "=" | "-");
    sign && topic.words.start - clause.start <= TITLE
}

/// Words before a topic in the title of an answer.
const TITLE: usize = 3;

/// Whether what is said after these words of a sentence is stated and not asked about: a colon stands after what was asked
/// about, or a word with which the answer goes on.
fn is_stated(scene: &Scene<'_>, before: &Range<usize>) -> bool {
    let reading = scene.reading;
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

/// Where the evidence of an answer ends: what the same turn goes on to say belongs to it, as far as a reader needs.
fn answer_end(scene: &Scene<'_>, answer: &Turn, end: usize) -> usize {
    let sentences = &scene.reading.sentences[answer.sentences.clone()];
    let further = sentences
        .iter()
        .map(|sentence| sentence.words.end)
        .filter(|further| *further > end && *further <= end + FURTHER);
    further.max().unwrap_or(end)
}

/// Words of an answer behind its yes or no.
const FURTHER: usize = 26;

/// A turn and its sentences.
struct Turn {
    pub speaker: Speaker,
    sentences: Range<usize>,
}

fn turns(scene: &Scene<'_>) -> Vec<Turn> {
    let mut out: Vec<Turn> = Vec::new();
    let mut last = None;
    for (index, sentence) in scene.reading.sentences.iter().enumerate() {
        match out.last_mut().filter(|turn| last == Some(sentence.turn) || turn.speaker == sentence.speaker) {
            Some(turn) if turn.speaker == sentence.speaker => turn.sentences.end = index + 1,
            _ => out.push(Turn { speaker: sentence.speaker, sentences: index..index + 1 }),
        }
        last = Some(sentence.turn);
    }
    out
}

/// What "not really" or "not yet" answers with no: whether a person is safe, or whether something is over.
fn is_half_denied(topic: &Topic) -> bool {
    matches!(topic.turned, Turned::Opposite | Turned::Over)
}

fn is_asker(speaker: Speaker) -> bool {
    matches!(speaker, Speaker::Clinician | Speaker::Agent)
}

/// A short question behind one about risk that only goes on with it: "When?", "¿Armas?".
fn continues(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    words.clone().filter(|word| !scene.reading.words[*word].punctuation).count() <= 4
}

/// "Ever attempted suicide", "plan or intent": one thing under two names.
pub(super) fn one_name(topics: &mut Vec<Topic>) {
    let has = |class: RiskClass| topics.iter().any(|topic| topic.class == class);
    if has(RiskClass::AttemptHistory) {
        topics.retain(|topic| topic.class != RiskClass::ActiveIdeation);
    }
}
