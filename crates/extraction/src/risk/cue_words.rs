//! The words that deny, ask and answer around what risk is named by.

use std::ops::Range;

use super::cessation::CessationWords;
use super::question_wording::QuestionWording;
use super::replies::{is_filler, plain_no};
use super::retractions::RetractionWords;
use super::topics::RiskTopic;
use super::unasserted::UnassertedWords;
use crate::RiskClass;
use crate::dialogue::Polarity;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(super) const FILE: &str = include_str!("../lexicon/risk_denials.tsv");

/// Words between a verb of denial and its object.
const REACH: usize = 16;
/// Words between a denial that leaves nothing but the risk and the risk.
const ONLY: usize = 8;
/// The same after "if it were not for …".
const IF: usize = 16;
/// Words at the head of an answer in which it says yes or no.
const HEAD: usize = 5;

pub(super) struct RiskCueWords {
    denies: PhraseMatcher,
    no: PhraseMatcher,
    never_a_denial: PhraseMatcher,
    helps: PhraseMatcher,
    asked: PhraseMatcher,
    yes: PhraseMatcher,
    says_no: PhraseMatcher,
    evasive: PhraseMatcher,
    again: PhraseMatcher,
    kin_death: PhraseMatcher,
    cue: PhraseMatcher,
    score: PhraseMatcher,
    who: PhraseMatcher,
    calls: PhraseMatcher,
    half_safe: PhraseMatcher,
    ended: CessationWords,
    pub(super) back: RetractionWords,
    pub(super) asking: QuestionWording,
    pub(super) unsaid: UnassertedWords,
    affirms: PhraseMatcher,
    affirms_if: PhraseMatcher,
}

impl RiskCueWords {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let (ended, back, asking) =
            (CessationWords::builtin(trie), RetractionWords::builtin(trie), QuestionWording::builtin(trie));
        let unsaid = UnassertedWords::builtin(trie);
        let mut list = |name| label(trie, FILE, name);
        Self {
            ended,
            back,
            asking,
            unsaid,
            affirms: list("affirms"),
            affirms_if: list("affirmsif"),
            denies: list("denies"),
            no: list("no"),
            never_a_denial: list("never_a_denial"),
            helps: list("helps"),
            asked: list("asked"),
            yes: list("yes"),
            says_no: list("noanswer"),
            evasive: list("evasive"),
            again: list("again"),
            kin_death: list("kindeath"),
            cue: list("cue"),
            score: list("score"),
            who: list("who"),
            calls: list("calls"),
            half_safe: list("halfsafe"),
        }
    }

    /// Where the denial of a topic begins in its clause; `None` where it is not denied there.
    pub(crate) fn denied(
        &self,
        reading: &TokenizedText<'_>,
        clause: &Range<usize>,
        topic: &RiskTopic,
    ) -> Option<Range<usize>> {
        let sentence =
            reading.sentences.get(reading.sentence_of(topic.words.start)).map_or(clause, |sentence| &sentence.words);
        if self.affirms(reading, sentence, &topic.words) {
            return None;
        }
        if denies_inside(reading, topic) {
            return Some(topic.words.clone());
        }
        if self.is_denied_after(reading, clause, topic) {
            return Some(topic.words.start..(topic.words.end + 2).min(clause.end));
        }
        let from = clause.start.max(topic.words.start.saturating_sub(REACH));
        let mut free = true;
        for word in (from..topic.words.start).rev() {
            let ends_here = |list: &PhraseMatcher| {
                (word.saturating_sub(3)..=word)
                    .filter_map(|start| list.at(reading, start))
                    .any(|hit| hit.words.end == word + 1)
            };
            if ends_here(&self.denies) {
                return (!self.is_no_denial(reading, clause, word)).then_some(word..topic.words.end);
            }
            if free && ends_here(&self.no) {
                return (!self.is_no_denial(reading, clause, word)).then_some(word..topic.words.end);
            }
            let sign = reading.words[word].punctuation && matches!(reading.word(word), "," | "/" | "-" | "\"" | ":");
            free &= sign || self.helps.at(reading, word).is_some() || self.listed(reading, word);
        }
        None
    }

    /// "No ve otra salida que matarse", "not a day goes by without thinking of it", "if I did not have my kids I would kill myself",
    /// "doesn't kill himself because of his mother": a denial of which nothing but the risk is left.
    pub(crate) fn affirms(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, core: &Range<usize>) -> bool {
        let ends = |list: &PhraseMatcher, reach: usize| {
            let from = sentence.start.max(core.start.saturating_sub(reach + ONLY));
            (from..core.start).filter_map(|word| list.at(reading, word)).any(|hit| hit.words.end + reach >= core.start)
        };
        let would = |word: usize| matches!(reading.word(word), "would" | "'d" | "habria" | "hubiera" | "id");
        let conditional = || (core.start.saturating_sub(4)..core.end).any(would);
        // "No me pega, solo me grita": words that contrast with the denied words are not denied with them.
        let turns = matches!(reading.word(core.start), "solo" | "pero" | "but" | "sino" | "aunque") && core.len() > 1;
        let only = core.start > sentence.start + 1
            && matches!(reading.word(core.start - 1), "solo" | "only")
            && !matches!(reading.word(core.start - 2), "no" | "not");
        turns
            || only
            || ends(&self.affirms, ONLY)
            || ends(&self.affirms_if, IF) && conditional()
            || is_held_back(reading, core)
    }

    /// A word of a list after one denial: "no depression, SI or HI".
    fn listed(&self, reading: &TokenizedText<'_>, word: usize) -> bool {
        let after = reading.word(word + 1);
        let before = word.checked_sub(1).map_or("", |before| reading.word(before));
        matches!(after, "," | "/" | "or" | "ni" | "nor" | "o")
            || matches!(before, "," | "/" | "or" | "ni" | "nor" | "o")
    }

    /// "Can't stop thinking of …", "nobody knows that …": the denial concerns something else.
    fn is_no_denial(&self, reading: &TokenizedText<'_>, clause: &Range<usize>, cue: usize) -> bool {
        let from = clause.start.max(cue.saturating_sub(3));
        (from..=cue).filter_map(|word| self.never_a_denial.at(reading, word)).any(|hit| hit.words.contains(&cue))
    }

    /// "SI: none", "ideación suicida: niega", "matarme no".
    fn is_denied_after(&self, reading: &TokenizedText<'_>, clause: &Range<usize>, topic: &RiskTopic) -> bool {
        let mut word = topic.words.end;
        // "(-)", "-ve".
        if matches!(
            (reading.word(word), reading.word(word + 1)),
            ("(", "-" | "–" | "−" | "neg" | "no") | ("-", "ve" | "tive")
        ) || reading.word(word) == "-" && reading.words.get(word + 1).is_none_or(|next| next.punctuation)
        {
            return true;
        }
        while word < clause.end
            && matches!(
                reading.word(word),
                ":" | "-"
                    | "="
                    | "is"
                    | "are"
                    | "was"
                    | "were"
                    | ","
                    | ")"
                    | "screen"
                    | "screening"
                    | "screened"
                    | "\""
            )
        {
            word += 1;
        }
        let straight = word > topic.words.end && reading.word(topic.words.end) != ",";
        let Some(hit) = self.says_no.at(reading, word).or_else(|| self.denies.at(reading, word)) else { return false };
        let next = reading.word(hit.words.end);
        let closed = hit.words.end >= clause.end
            || reading.words[hit.words.end].punctuation
            || matches!(next, "tengo" | "tiene" | "hay" | "eso" | "he" | "lo" | "reported" | "currently" | "at");
        hit.words.start < clause.end && closed && (straight || word == topic.words.end)
    }

    /// A topic of a question, turned where the question asks for a promise, or whether it is over or less.
    pub(crate) fn turned(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, topic: RiskTopic) -> RiskTopic {
        let topic = self.asking.promised(reading, sentence, topic);
        self.ended.turned(reading, sentence, topic)
    }

    /// Whether something is asked about in words before a topic: "asked about …", "se le pregunta por …".
    pub(crate) fn asks_about(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> bool {
        self.asked.first(reading, within).is_some()
    }

    /// Whether a question asks again about what was asked before: "And now, these weeks?".
    pub(crate) fn repeats_question(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> bool {
        self.again.first(reading, within).is_some()
    }

    /// Whether words hold one that talk of risk seldom lacks: without any, the classifier alone is not enough in a long text.
    pub(crate) fn is_cued(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> bool {
        self.cue.first(reading, within).is_some()
    }

    /// The item of a questionnaire that asks about death, and after it its points.
    pub(crate) fn score(&self, reading: &TokenizedText<'_>, sentence: Range<usize>) -> Option<(Range<usize>, u8)> {
        let item = self.score.first(reading, sentence.clone())?.words;
        let points = (item.end..sentence.end.min(item.end + 5))
            .find_map(|word| reading.word(word).parse::<u8>().ok().map(|p| (word, p)));
        points.filter(|(_, points)| *points <= 3).map(|(word, points)| (item.start..word + 1, points))
    }

    /// "Do you feel safe at home? Not really.": a person who is safe at times is not safe.
    pub(crate) fn half_safe(&self, reading: &TokenizedText<'_>, answer: &Range<usize>) -> bool {
        let head = answer.start..answer.end.min(answer.start + HEAD);
        self.half_safe.first(reading, head).is_some()
    }

    /// Whether a question asks who does something.
    pub(crate) fn asks_who(&self, reading: &TokenizedText<'_>, sentence: Range<usize>) -> bool {
        self.who.first(reading, sentence).is_some()
    }

    /// "If thoughts of suicide occur, call …": advice for a case that is not stated.
    pub(crate) fn is_advice(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, at: usize) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::RISK, "cue_words.is_advice");
        let case = |word: usize| {
            let opens = word == sentence.start
                || reading.words[word - 1].punctuation
                || matches!(reading.word(word - 1), "and" | "y");
            // "Cuando tenía diecisiete …" speaks of then.
            let past = || {
                let next = reading.word(word + 1);
                next.ends_with("ia") || next.ends_with("aba") || matches!(next, "era" | "fui")
            };
            opens && (matches!(reading.word(word), "if" | "si" | "should") || reading.word(word) == "cuando" && !past())
                || reading.word(word) == "caso"
        };
        // "Si ideación suicida → urgencias", "If SI, call": a noun at once names a case.
        let noun = |word: &str| WORDS.contains(word);
        let opener = reading.word(sentence.start);
        if matches!(opener, "si" | "if" | "ante") && noun(reading.word(sentence.start + 1)) {
            return true;
        }
        (sentence.start..at.min(sentence.end)).any(case) && self.calls.first(reading, sentence.clone()).is_some()
    }

    /// How relatives died, or tried to.
    pub(crate) fn kin_death(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Option<Range<usize>> {
        self.kin_death.first(reading, within).map(|hit| hit.words)
    }

    /// Whether sentences say nothing but "well" and "um".
    pub(crate) fn is_empty_talk(&self, reading: &TokenizedText<'_>, sentences: &[Range<usize>]) -> bool {
        let empty = |word: usize| reading.words[word].punctuation || is_filler(reading.word(word));
        sentences.iter().all(|sentence| sentence.clone().all(empty))
    }

    /// The polarity of an answer: by its head, or by a later sentence that says no more than that.
    pub(crate) fn answer(&self, reading: &TokenizedText<'_>, sentences: &[Range<usize>]) -> Option<(Polarity, usize)> {
        for (place, sentence) in sentences.iter().enumerate() {
            // "Sí / No": the choices of a form, of which none is marked.
            let word = |at: usize| reading.word(sentence.start + at);
            if matches!((word(0), word(1), word(2)), ("si" | "yes", "/", "no") | ("no", "/", "si" | "yes")) {
                return Some((Polarity::Other, place));
            }
            let opens = self.is_empty_talk(reading, &sentences[..place]);
            if opens && (self.asking.echo(reading, sentence) || self.back.opens_then(reading, sentence)) {
                return Some((Polarity::Yes, place));
            }
            match self.head(reading, sentence, place > 0) {
                // Only the first words say yes: the later words are a statement.
                Some(Polarity::Yes) if !opens => {}
                Some(Polarity::Other) => return Some((Polarity::Other, place)),
                Some(polarity) => {
                    let back =
                        if polarity == Polarity::No { self.back.answered(reading, &sentences[place..]) } else { None };
                    if let Some((polarity, further)) = back {
                        return Some((polarity, place + further));
                    }
                    let mixed = polarity == Polarity::No && self.takes_back(reading, sentence.clone());
                    return Some((if mixed { Polarity::Other } else { polarity }, place));
                }
                None => {}
            }
            // "En la casa no hay.", "armas no tengo".
            let none = sentence.clone().any(|word| {
                reading.word(word) == "no"
                    && matches!(reading.word(word + 1), "hay" | "tengo" | "tenemos" | "tiene" | "tienen")
                    && reading.words.get(word + 2).is_none_or(|next| next.punctuation)
            });
            if none && sentence.len() < 10 {
                return Some((Polarity::No, place));
            }
            let last = sentence.clone().rev().find(|word| !reading.words[*word].punctuation);
            // "On Sunday, yeah", "el otro día he pensado sí".
            let agrees = |word: usize| matches!(reading.word(word), "yes" | "yeah" | "yep" | "yeh" | "aye" | "si");
            if opens && sentence.len() < 14 && last.is_some_and(|word| agrees(word) && word > sentence.start) {
                return Some((Polarity::Yes, place));
            }
            if last.is_some_and(|word| matches!(reading.word(word), "no" | "nunca" | "never" | "nah"))
                && sentence.len() < 14
            {
                return Some((Polarity::No, place));
            }
        }
        None
    }

    /// "No, bueno, a veces": a no that is no longer one.
    fn takes_back(&self, reading: &TokenizedText<'_>, sentence: Range<usize>) -> bool {
        sentence.clone().any(|word| {
            matches!(
                reading.word(word),
                "sometimes" | "veces" | "until" | "hasta" | "mucho" | "tanto" | "really" | "yet"
            )
        })
    }

    fn head(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>, later: bool) -> Option<Polarity> {
        let words = sentence.clone().filter(|word| !reading.words[*word].punctuation).take(HEAD);
        for word in words {
            let (no, yes, evasive) = (
                self.says_no.at(reading, word).map(|hit| hit.words),
                self.yes.at(reading, word).map(|hit| hit.words),
                self.evasive.at(reading, word).map(|hit| hit.words),
            );
            let length = |hit: &Option<Range<usize>>| hit.as_ref().map_or(0, |words| words.len());
            if length(&evasive) > 0 && length(&evasive) >= length(&no) && length(&evasive) >= length(&yes) {
                return Some(Polarity::Other);
            }
            if let Some(words) = no.filter(|no| no.len() >= length(&yes)) {
                return plain_no(reading, sentence, &words).then_some(Polarity::No);
            }
            let text = reading.word(word);
            // Irish "ya"; "ya lo dejé" says something else.
            let closed = word + 1 >= sentence.end || reading.words[word + 1].punctuation;
            // "I do" and "I don't know".
            let yes = yes.filter(|yes| !matches!(reading.word(yes.end), "n't" | "not" | "nt"));
            if yes.is_some() || text == "ya" && closed {
                return Some(Polarity::Yes);
            }
            if text.starts_with("noo") && text.bytes().skip(1).all(|byte| byte == b'o') {
                return Some(Polarity::No);
            }
            if !(is_filler(text) || later && matches!(text, "pero" | "but")) {
                return None;
            }
        }
        None
    }
}

/// "Daño no le haría a nadie", "nada contra su cuerpo": the words of the topic deny themselves.
fn denies_inside(reading: &TokenizedText<'_>, topic: &RiskTopic) -> bool {
    topic.class != RiskClass::PassiveIdeation
        && topic.words.len() > 1
        && topic.words.clone().any(|word| matches!(reading.word(word), "no" | "nada" | "nadie" | "never" | "nothing"))
}

/// "Doesn't kill himself because of his mother": a reason for not doing it shows the thought. "Is not going to, because
/// …" denies.
fn is_held_back(reading: &TokenizedText<'_>, core: &Range<usize>) -> bool {
    let word = |back: usize| core.start.checked_sub(back).map_or("", |at| reading.word(at));
    let reason = matches!(reading.word(core.end), "because" | "only") && reading.word(core.end + 1) != "not";
    let now = matches!((word(2), word(1)), ("does" | "do" | "has" | "have", "n't" | "not"));
    reason && now
}
