//! "My brother Joel is bipolar, he's on lithium": in a patient's own speech a relative who is the subject stays the
//! subject until the speaker comes back to themselves. The next sentence does not repeat the subject: Spanish drops the
//! pronoun ("mi madre tiene diabetes, se pincha insulina"), and English says "he".
//!
//! Only where the patient speaks: in a note, "she takes lithium" is about the patient.

use std::ops::Range;

use super::CueScope;
use super::cues::{CueCategory, CueHit, Cues};
use crate::lexicon::label;
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::{TextSentence, TokenizedText};
use anamnesis_text::Speaker;

pub(crate) const FILE: &str = include_str!("../lexicon/subjects.tsv");
/// Words of a name or placeholder between a relative and the verb: "my brother [PERSON_7F3A] is".
const LONGEST_NAME: usize = 5;
/// Longest sentence that corrects a statement about another person.
const LONGEST_CORRECTION: usize = 9;
/// Turns after which a pronoun no longer means someone named before.
const LONGEST_MEMORY: usize = 4;

pub(crate) struct SubjectRules {
    first: PhraseMatcher,
    third: PhraseMatcher,
    goes_on: PhraseMatcher,
    verb: PhraseMatcher,
    own: PhraseMatcher,
    own_not: PhraseMatcher,
}

type SubjectPerson = (CueCategory, Range<usize>);

/// Of whom the sentences before spoke last.
#[derive(Debug, Clone, Default)]
pub(crate) struct SubjectState {
    turn: Option<usize>,
    named_in: Option<usize>,
    held: Option<SubjectPerson>,
    to_the_end: bool,
    /// The person whom a question asked after, and the turn in which it was asked.
    asked: Option<(usize, SubjectPerson)>,
    /// The relative whom the sentence before named, in whatever part.
    mentioned: Option<SubjectPerson>,
    /// The turn of a question about "him" or "her" and no one else.
    of_another: Option<usize>,
}

impl SubjectRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            first: label(trie, FILE, "first"),
            third: label(trie, FILE, "third"),
            goes_on: label(trie, FILE, "goes_on"),
            verb: label(trie, FILE, "verb"),
            own: label(trie, FILE, "own"),
            own_not: label(trie, FILE, "own_not"),
        }
    }

    /// The stretches of a sentence whose subject is a relative or another person.
    pub(crate) fn scopes(
        &self,
        reading: &TokenizedText<'_>,
        sentence: &TextSentence,
        hits: &[CueHit],
        cues: &Cues,
        floor: &mut SubjectState,
    ) -> Vec<CueScope> {
        if sentence.turn.is_none() {
            return Vec::new();
        }
        floor.enter(sentence.turn);
        if sentence.speaker == Speaker::Family {
            return self.of_the_speaker(reading, sentence, hits, cues);
        }
        if sentence.speaker != Speaker::Patient {
            // "Does your brother take lithium?" — "Yes, he does."
            let named = hits.iter().rev().find_map(|hit| relative(cues, hit));
            // "¿Cómo está su marido?" — "Bebiendo. Media botella al día.": the answer is his until the speaker comes back to themselves.
            let after = named.clone().filter(|(_, words)| asks_after(reading, sentence, words));
            floor.asked = sentence.turn.zip(after);
            floor.of_another = sentence.turn.filter(|_| asks_of_another(reading, sentence));
            floor.name(sentence.turn, named);
            return Vec::new();
        }
        let mut scopes = Vec::new();
        let opens = self.goes_on_about(reading, sentence);
        let answered = floor.asked.clone().filter(|(turn, _)| sentence.turn == Some(turn + 1)).map(|(_, held)| held);
        let answers = answered.is_some();
        let going_on = floor.held.clone().filter(|_| floor.to_the_end && opens);
        let dropped = floor.mentioned.take().filter(|_| drops_subject(reading, sentence));
        let of_him = floor.of_another.filter(|turn| sentence.turn == Some(turn + 1));
        let of_him = of_him.filter(|_| answers_of_another(reading, sentence));
        floor.of_another = floor.of_another.filter(|_| of_him.is_none());
        let of_him = of_him.map(|_| (CueCategory::Other, sentence.words.start..sentence.words.start));
        let begins = answered.clone().or(going_on).or(dropped).or(of_him);
        let mut open = begins.map(|held| (sentence.words.start, held));
        for word in sentence.words.clone() {
            let hit = hits.iter().find(|hit| hit.words.start == word);
            let ends = hit.is_some_and(|hit| cues.get(hit).category == CueCategory::End);
            let subject = hit.filter(|hit| self.is_subject(reading, hit, sentence)).and_then(|hit| relative(cues, hit));
            let subject = subject.or_else(|| ours(reading, word, sentence));
            floor.mentioned = hit.and_then(|hit| relative(cues, hit)).or(floor.mentioned.take());
            if let Some(held) = subject {
                close(&mut scopes, &mut open, word);
                open = Some((held.1.end, held.clone()));
                floor.name(sentence.turn, Some(held));
            } else if let Some(pronoun) = self.third.at(reading, word) {
                // A patient's "he" is never the patient.
                let held = floor.held.clone().unwrap_or((CueCategory::Other, pronoun.words));
                open = open.or(Some((word, held)));
            } else if open.as_ref().is_some_and(|(from, _)| word >= *from)
                && (ends || self.first.at(reading, word).is_some() || answers && is_closing_word(reading.word(word)))
            {
                close(&mut scopes, &mut open, word);
            }
        }
        floor.to_the_end = open.is_some();
        if open.is_none() {
            floor.asked = None;
        }
        close(&mut scopes, &mut open, sentence.words.end);
        scopes
    }

    /// The stretches in which a relative speaks of themselves: "I was on it at fifteen", up to another person or clause.
    fn of_the_speaker(
        &self,
        reading: &TokenizedText<'_>,
        sentence: &TextSentence,
        hits: &[CueHit],
        cues: &Cues,
    ) -> Vec<CueScope> {
        let mut scopes = Vec::new();
        let mut open: Option<SubjectPerson> = None;
        let mut from = sentence.words.start;
        for word in sentence.words.clone() {
            let own = self.own.at(reading, word).filter(|hit| self.own_not.at(reading, hit.words.end).is_none());
            let other = self.third.at(reading, word).is_some()
                || matches!(reading.word(word), "he" | "she" | "him" | "her" | "you" | "el" | "usted" | ";");
            let person =
                other && (reading.word(word) != "el" || reading.source(&(word..word + 1)).slice(reading.text) == "él");
            let named = hits.iter().find(|hit| hit.words.start == word && relative(cues, hit).is_some());
            // "My dad had a bypass but he smoked": he is the dad.
            if let Some(hit) = named.filter(|hit| self.is_subject(reading, hit, sentence))
                && let Some((category, cue)) = relative(cues, hit)
            {
                scopes.push(CueScope { category, words: hit.words.end..sentence.words.end, cue });
            }
            scopes.extend(ours(reading, word, sentence).map(|(category, cue)| {
                let words = cue.end..sentence.words.end;
                CueScope { category, words, cue }
            }));
            if let Some(hit) = own.filter(|_| open.is_none()) {
                (from, open) = (hit.words.end, Some((CueCategory::Speaker, hit.words)));
            } else if person || named.is_some() || word > from && ends(cues, hits, word) {
                close(&mut scopes, &mut open.take().map(|held| (from, held)), word);
            }
        }
        close(&mut scopes, &mut open.map(|held| (from, held)), sentence.words.end);
        scopes
    }

    /// Whether a verb follows the person named, after their name if it is given.
    fn is_subject(&self, reading: &TokenizedText<'_>, hit: &CueHit, sentence: &TextSentence) -> bool {
        let end = sentence.words.end;
        let verb = after_name(reading, hit.words.end, end);
        if is_predicate(reading, hit.words.start, sentence.words.start) && closes_name(reading, verb, end) {
            return true;
        }
        verb < end && self.verb.at(reading, verb).is_some()
    }

    /// Whether a sentence goes on about the subject of the one before: it begins with a verb or pronoun of theirs.
    fn goes_on_about(&self, reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
        let (start, end) = (sentence.words.start, sentence.words.end);
        if self.goes_on.at(reading, start).is_some() {
            return true;
        }
        let first = (start..end).find(|word| !is_filler(reading, *word)).unwrap_or(start);
        let him = reading.word(first) == "ella"
            || reading.word(first) == "el"
                && matches!(reading.word(first + 1), "si" | "es" | "ya" | "tambien" | "toma");
        let adverb = usize::from(matches!(reading.word(first + 1), "si" | "tambien" | "ya" | "siempre" | "no"));
        if him && self.verb.at(reading, first + 1 + adverb).is_some() {
            return true;
        }
        // "Bueno, cirrosis, pero con ochenta años" corrects the sentence before.
        let corrects = matches!(reading.word(start), "bueno" | "well") && reading.word(start + 1) == ",";
        let own = (start..end).any(|word| self.first.at(reading, word).is_some());
        corrects && !own && end - start <= LONGEST_CORRECTION
            || first > start && self.goes_on.at(reading, first).is_some()
    }
}

/// Words before the content of a sentence: "no, …", "bueno, …".
fn is_filler(reading: &TokenizedText<'_>, word: usize) -> bool {
    let small = matches!(
        reading.word(word),
        "no" | "si"
            | "bueno"
            | "pues"
            | "y"
            | "ay"
            | "eh"
            | "well"
            | "yes"
            | "and"
            | "so"
            | "oh"
            | "yeah"
            | "pero"
            | "but"
    );
    small || matches!(reading.word(word), "," | "…" | "¡" | "-" | "–")
}

/// "Eso es mi hermano", "es mi hermano, Hugo, que …": the person is the complement of the verb before.
fn is_predicate(reading: &TokenizedText<'_>, noun: usize, lowest: usize) -> bool {
    let own = |word: &str| matches!(word, "mi" | "my" | "el" | "la" | "the" | "our");
    let determined = own(reading.word(noun)) || noun > lowest && own(reading.word(noun - 1));
    let before = if own(reading.word(noun)) { noun } else { noun.saturating_sub(1) };
    let verb = before.checked_sub(1).filter(|verb| *verb >= lowest).map_or("", |verb| reading.word(verb));
    determined && matches!(verb, "es" | "era" | "is" | "'s" | "was" | "thats")
}

fn closes_name(reading: &TokenizedText<'_>, at: usize, end: usize) -> bool {
    let name = if at < end && reading.word(at) == "," { after_name(reading, at + 1, end) } else { at };
    let then = if name > at + 1 && reading.word(name) == "," { name + 1 } else { at };
    then >= end || matches!(reading.word(then), "." | "!" | "," | "que" | "who" | "…")
}

/// "Our Colin's been poorly": a relative named in the way of a family.
fn ours(reading: &TokenizedText<'_>, word: usize, sentence: &TextSentence) -> Option<SubjectPerson> {
    if reading.word(word) != "our" {
        return None;
    }
    let end = after_name(reading, word + 1, sentence.words.end);
    let verb = matches!(reading.word(end), "'s" | "s" | "has" | "is" | "was" | "had" | "takes" | "got");
    (end > word + 1 && verb || reading.word(end) == "been" && end > word + 1)
        .then_some((CueCategory::Family, word..end))
}

/// "Tiene alzhéimer" after a sentence that named a relative: speakers do not say this of themselves.
fn drops_subject(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    let first = sentence.words.clone().find(|word| !is_filler(reading, *word));
    first.is_some_and(|word| matches!(reading.word(word), "tiene" | "tuvo" | "padece" | "padecio" | "sufre"))
}

/// "¿Él ha sido violento?": a question about another person alone.
fn asks_of_another(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    let has = |named: &dyn Fn(&str) -> bool| sentence.words.clone().any(|word| named(reading.word(word)));
    let him = sentence.words.clone().any(|word| {
        matches!(reading.word(word), "he" | "she" | "ella")
            || reading.word(word) == "el"
                && reading.source(&(word..word + 1)).slice(reading.text).to_lowercase() == "él"
    });
    let you = |word: &str| matches!(word, "you" | "your" | "te" | "tu" | "ti" | "usted" | "contigo" | "tienes" | "has");
    sentence.question && him && !has(&you)
}

/// "No, lloraba más que yo": a verb that is the speaker's or another's, in answer to such a question.
fn answers_of_another(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    let Some(first) = sentence.words.clone().find(|word| !is_filler(reading, *word)) else { return false };
    let source = reading.source(&(first..first + 1)).slice(reading.text).to_lowercase();
    source.ends_with("aba")
        || source.ends_with("ía")
        || source.ends_with('ó')
        || matches!(source.as_str(), "he" | "she")
}

impl SubjectState {
    /// Another turn forgets whose clause it was, and after some turns of whom was spoken.
    fn enter(&mut self, turn: Option<usize>) {
        if self.turn != turn {
            self.turn = turn;
            self.to_the_end = false;
            self.mentioned = None;
        }
        if self.named_in.zip(turn).is_some_and(|(named, here)| here > named + LONGEST_MEMORY) {
            self.held = None;
        }
    }

    fn name(&mut self, turn: Option<usize>, whom: Option<SubjectPerson>) {
        if whom.is_some() {
            (self.named_in, self.held) = (turn, whom);
        }
    }
}

/// "How is your husband?", "¿y cómo está su marido?": nothing but the question after a person.
fn asks_after(reading: &TokenizedText<'_>, sentence: &TextSentence, named: &Range<usize>) -> bool {
    let plain = sentence.words.clone().filter(|word| !reading.words[*word].punctuation);
    let others: Vec<&str> = plain.filter(|word| !named.contains(word)).map(|word| reading.word(word)).collect();
    let asks = |word: &&str| matches!(*word, "how" | "como" | "hows");
    let small = |word: &&str| {
        asks(word)
            || matches!(
                *word,
                "y" | "and"
                    | "is"
                    | "'s"
                    | "are"
                    | "esta"
                    | "sigue"
                    | "anda"
                    | "your"
                    | "su"
                    | "tu"
                    | "en"
                    | "casa"
                    | "the"
                    | "el"
                    | "la"
            )
    };
    sentence.question && others.iter().any(asks) && others.iter().all(small)
}

/// "Fine, thanks": the answer is over.
fn is_closing_word(word: &str) -> bool {
    matches!(word, "fine" | "good" | "great" | "ok" | "okay" | "thanks" | "bien" | "gracias" | "igual")
}

fn relative(cues: &Cues, hit: &CueHit) -> Option<SubjectPerson> {
    let category = cues.get(hit).category;
    let person = matches!(category, CueCategory::Family | CueCategory::Other) && !cues.get(hit).header;
    person.then(|| (category, hit.words.clone()))
}

fn ends(cues: &Cues, hits: &[CueHit], word: usize) -> bool {
    hits.iter().any(|hit| hit.words.start == word && cues.get(hit).category == CueCategory::End)
}

fn close(scopes: &mut Vec<CueScope>, open: &mut Option<(usize, SubjectPerson)>, end: usize) {
    if let Some((from, (category, cue))) = open.take().filter(|(from, _)| *from < end) {
        scopes.push(CueScope { category, words: from..end, cue });
    }
}

/// The first word after a name at `from`: one that redaction left in brackets, or capitals.
pub(super) fn after_name(reading: &TokenizedText<'_>, from: usize, end: usize) -> usize {
    if reading.word(from) == "[" {
        let closing = (from..end.min(from + LONGEST_NAME + 2)).find(|word| reading.word(*word) == "]");
        return closing.map_or(from, |closing| closing + 1);
    }
    let capital = |word: &usize| {
        let source = reading.words[*word].source.slice(reading.text);
        source.chars().next().is_some_and(char::is_uppercase) && source.chars().skip(1).any(char::is_lowercase)
    };
    (from..end.min(from + LONGEST_NAME)).take_while(capital).last().map_or(from, |last| last + 1)
}
