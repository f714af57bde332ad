//! Denials that their own speaker takes back: "niega ideas de suicidio, después reconoce que sí", "no SI now, but yes
//! last night", "never suicidal until last month", "No… bueno, sí". The later word holds: the denial alone would
//! reassure a reader falsely.

use std::ops::Range;

use super::candidates::RiskCandidate;
use super::cue_words::RiskCueWords;
use crate::analysis::AnalyzedDocument;
use crate::dialogue::Polarity;
use crate::lexicon::label;
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;
use crate::{Experiencer, RiskClass};

const UNTIL: usize = 4;
/// Words after a denial in its own sentence within which it is taken back.
const AFTER: usize = 16;
/// Words at the head of the next sentence within which it is.
const NEXT: usize = 12;
/// Words between a yes and its time.
const APART: usize = 1;

/// The words with which a denial is taken back.
pub(super) struct RetractionWords {
    until: PhraseMatcher,
    so_far: PhraseMatcher,
    doubt: PhraseMatcher,
    before: PhraseMatcher,
    later: PhraseMatcher,
    admits: PhraseMatcher,
    object: PhraseMatcher,
    plan: PhraseMatcher,
    time: PhraseMatcher,
    yes: PhraseMatcher,
    turn: PhraseMatcher,
    some: PhraseMatcher,
    except: PhraseMatcher,
    thought: PhraseMatcher,
}

enum Retraction {
    /// The denial held until then: the risk is present.
    Until(usize),
    /// The text leaves open which way it is meant.
    Doubt,
    /// It holds for now, and the words say yes to another time.
    Then(Range<usize>),
    /// An act that was never tried was thought of.
    Thought(Range<usize>),
    /// The speaker admits it later, and perhaps a plan with it.
    Admitted(Range<usize>, bool),
}

impl RetractionWords {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut list = |name| label(trie, super::cue_words::FILE, name);
        Self {
            until: list("backuntil"),
            so_far: list("backsofar"),
            doubt: list("backdoubt"),
            before: list("backbefore"),
            later: list("backlater"),
            admits: list("backadmits"),
            object: list("backobject"),
            plan: list("backplan"),
            time: list("backtime"),
            yes: list("backyes"),
            turn: list("backturn"),
            some: list("backsome"),
            except: list("backexcept"),
            thought: list("backthought"),
        }
    }

    /// How the words of an answer after its "no" change it: "No… bueno, sí", "No. Well, last night I did". `None` where
    /// the no holds.
    pub(crate) fn answered(
        &self,
        reading: &TokenizedText<'_>,
        sentences: &[Range<usize>],
    ) -> Option<(Polarity, usize)> {
        for (place, sentence) in sentences.iter().enumerate() {
            if self.yes_then(reading, sentence.clone(), usize::MAX).is_some() {
                return Some((Polarity::Yes, place));
            }
            for word in sentence.clone() {
                let opens = word == sentence.start || reading.words[word - 1].punctuation;
                // "No, only when he is drunk".
                if opens && self.except.at(reading, word).is_some() {
                    return Some((Polarity::Yes, place));
                }
                let Some(turn) = self.turn.at(reading, word).filter(|_| opens) else { continue };
                let from = skip_signs(reading, turn.words.end, sentence.end);
                let closed = |end: usize| end >= sentence.end || reading.words[end].punctuation;
                let says = [&self.yes, &self.some].into_iter().filter_map(|list| list.at(reading, from));
                let Some(said) = says.filter(|hit| hit.words.end <= sentence.end).max_by_key(|hit| hit.words.len())
                else {
                    continue;
                };
                // "No, bueno, una vez me caí": the event stays unclear.
                let polarity = if closed(said.words.end) { Polarity::Yes } else { Polarity::Other };
                return Some((polarity, place));
            }
        }
        None
    }

    /// A yes of another time: "ayer sí", "yes, last night", "I was yesterday", that closes its phrase and begins within the
    /// first words.
    fn yes_then(&self, reading: &TokenizedText<'_>, within: Range<usize>, first: usize) -> Option<Range<usize>> {
        let times = self.time.find(reading, within.clone());
        let yeses: Vec<Range<usize>> =
            within.clone().filter_map(|at| self.yes.at(reading, at)).map(|hit| hit.words).collect();
        times.into_iter().map(|hit| hit.words).find_map(|time| {
            yeses.iter().find_map(|yes| {
                let (a, b) = if yes.start < time.start { (yes, &time) } else { (&time, yes) };
                let near =
                    a.end <= b.start && (a.end..b.start).filter(|at| !reading.words[*at].punctuation).count() < APART;
                let though = usize::from(matches!(reading.word(b.end), "though" | "pero"));
                let closed = b.end + though >= within.end || reading.words[b.end + though].punctuation;
                (near && closed && a.start - within.start <= first).then_some(a.start..b.end)
            })
        })
    }

    /// "I was last night", "las tuve ayer": an answer that says yes to another time than now.
    pub(crate) fn opens_then(&self, reading: &TokenizedText<'_>, answer: &Range<usize>) -> bool {
        self.yes_then(reading, answer.clone(), 1).is_some()
    }

    fn detect(&self, doc: &AnalyzedDocument<'_>, candidate: &RiskCandidate) -> Option<Retraction> {
        let reading = doc.reading;
        let index = reading.sentence_of(candidate.core.start);
        let sentence = reading.sentences[index].words.clone();
        let end = candidate.core.end.max(candidate.words.start).min(sentence.end);
        if let Some(back) = self.until(reading, end..sentence.end) {
            return Some(back);
        }
        let rest = end..sentence.end.min(end + AFTER);
        if let Some(thought) = self.thought(reading, candidate, rest.clone()) {
            return Some(Retraction::Thought(thought));
        }
        let denies = |range: Range<usize>| range.clone().any(|at| is_denial(reading.word(at)));
        if let Some(then) = self.yes_then(reading, rest.clone(), usize::MAX).filter(|then| !denies(end..then.start)) {
            return Some(Retraction::Then(then));
        }
        if let Some(back) = self.admitted(reading, rest) {
            return Some(back);
        }
        let next = reading.sentences.get(index + 1)?;
        let same = next.turn == reading.sentences[index].turn && next.speaker == reading.sentences[index].speaker;
        let near =
            doc.text().get(reading.sentences[index].span.end..next.span.start).is_some_and(|gap| !gap.contains("\n\n"));
        if !same || !near || next.question {
            return None;
        }
        let head = next.words.start..next.words.end.min(next.words.start + NEXT);
        let then = self.yes_then(reading, head.clone(), 2).map(Retraction::Then);
        then.or_else(|| self.admitted(reading, head))
    }

    /// "Never attempted suicide, although he has thought about it".
    fn thought(&self, reading: &TokenizedText<'_>, denied: &RiskCandidate, rest: Range<usize>) -> Option<Range<usize>> {
        let acts = matches!(denied.class, RiskClass::AttemptHistory | RiskClass::SelfHarm);
        let thought = self.thought.first(reading, rest.clone()).filter(|_| acts)?.words;
        let contrast =
            |word: &str| matches!(word, "but" | "although" | "though" | "pero" | "aunque" | "solo" | "just" | "only");
        let turned = (rest.start..thought.start + 1).any(|word| contrast(reading.word(word)));
        let denied = (thought.start.saturating_sub(2)..thought.start)
            .any(|word| is_denial(reading.word(word)) || reading.word(word) == "ni");
        (turned && !denied).then_some(thought)
    }

    /// "Never suicidal until last month", "never self-harmed before last night": present since the end of the denial.
    fn until(&self, reading: &TokenizedText<'_>, rest: Range<usize>) -> Option<Retraction> {
        for word in rest.start..rest.end.min(rest.start + UNTIL) {
            if matches!(reading.word(word), "." | ";" | ":" | "but" | "pero" | "and" | "y") {
                return None;
            }
            if self.so_far.at(reading, word).is_some() {
                return None;
            }
            if self.doubt.at(reading, word).is_some() {
                return Some(Retraction::Doubt);
            }
            let until = self.until.at(reading, word).is_some_and(|hit| hit.words.end < rest.end);
            if until || self.before.at(reading, word).is_some() {
                return Some(Retraction::Until(rest.end));
            }
        }
        None
    }

    /// "Después reconoce que sí", "later admitted to having a plan", "posteriormente la reconoce": nothing else is admitted.
    fn admitted(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Option<Retraction> {
        let admits = within.clone().find_map(|word| self.admits.at(reading, word))?.words;
        let said_later = self.later.first(reading, within.start..admits.start).is_some();
        let clitic = matches!(reading.word(admits.start - 1), "la" | "lo" | "las" | "los");
        if !said_later && !clitic {
            return None;
        }
        let closes = |end: usize| {
            end >= within.end
                || reading.words[end].punctuation
                || matches!(
                    reading.word(end),
                    "to" | "in" | "at" | "when" | "during" | "a" | "al" | "en" | "cuando" | "durante"
                )
        };
        if let Some(plan) = self.plan.at(reading, admits.end) {
            return Some(Retraction::Admitted(within.start..plan.words.end, true));
        }
        let object = self.object.at(reading, admits.end).map(|hit| hit.words.end);
        let end = object.unwrap_or(admits.end);
        // "Luego reconoce." admits the topic of the question; "admitted to drinking" something else.
        let whole = object.is_some() || clitic || end >= within.end || reading.words[end].punctuation;
        (whole && closes(end)).then_some(Retraction::Admitted(within.start..end, false))
    }
}

/// Turns or complements denials that are taken back.
pub(super) fn find(doc: &AnalyzedDocument<'_>, words: &RiskCueWords, candidates: &mut Vec<RiskCandidate>) {
    let back = &words.back;
    let mut more: Vec<RiskCandidate> = Vec::new();
    let denied: Vec<usize> = (0..candidates.len())
        .filter(|at| candidates[*at].denied && candidates[*at].experiencer == Experiencer::Patient)
        .collect();
    let mut gone = Vec::new();
    for at in denied.iter().copied() {
        let one = candidates[at].clone();
        match back.detect(doc, &one) {
            None => {}
            Some(Retraction::Doubt) => gone.push(at),
            Some(Retraction::Until(end)) => {
                candidates[at].denied = false;
                candidates[at].words = one.words.start..end.max(one.words.end);
                candidates[at].confirmed = Some(1.0);
            }
            Some(Retraction::Thought(words)) => {
                let whole = one.core.start..words.end;
                more.push(affirmed(&one, RiskClass::ActiveIdeation, whole));
            }
            Some(Retraction::Then(then)) if is_nearest(doc, candidates, &one, &denied) => {
                more.push(affirmed(&one, one.class, one.core.start..then.end));
            }
            Some(Retraction::Admitted(words, plan)) if is_nearest(doc, candidates, &one, &denied) => {
                let whole = one.core.start..words.end.max(one.core.end);
                more.push(affirmed(&one, one.class, whole.clone()));
                if plan && one.class != RiskClass::PlanOrMeans {
                    more.push(RiskCandidate { core: words.clone(), ..affirmed(&one, RiskClass::PlanOrMeans, words) });
                }
                // A denial that was admitted later is no denial of today.
                gone.push(at);
            }
            Some(_) => {}
        }
    }
    let mut at = 0;
    candidates.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
    candidates.extend(more);
}

fn affirmed(denied: &RiskCandidate, class: RiskClass, words: Range<usize>) -> RiskCandidate {
    RiskCandidate { class, denied: false, words, confirmed: Some(1.0), ..denied.clone() }
}

/// Of several things that one sentence denies, the last that the patient would do to themselves is taken back: "denies
/// SI and HI; later admitted it".
fn is_nearest(doc: &AnalyzedDocument<'_>, candidates: &[RiskCandidate], one: &RiskCandidate, denied: &[usize]) -> bool {
    let place = |candidate: &RiskCandidate| doc.reading.sentence_of(candidate.core.start);
    let own = |class: RiskClass| class != RiskClass::HarmToOthers && class != RiskClass::Abuse;
    let here = || denied.iter().map(|at| &candidates[*at]).filter(|other| place(other) == place(one));
    let any = here().any(|other| own(other.class));
    here().filter(|other| !any || own(other.class)).all(|other| other.core.start <= one.core.start)
        && (!any || own(one.class))
}

fn skip_signs(reading: &TokenizedText<'_>, from: usize, end: usize) -> usize {
    (from..end).find(|at| !reading.words[*at].punctuation).unwrap_or(end)
}

fn is_denial(word: &str) -> bool {
    matches!(
        word,
        "no" | "not" | "n't" | "niega" | "denies" | "denied" | "nego" | "sin" | "never" | "nunca" | "tampoco"
    )
}
