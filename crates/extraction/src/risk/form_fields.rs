//! Short lines of notes and forms: "SI: yes, HI: no", "SI (+)", "+SI, -HI", "SI less frequent", "Suicidal thoughts
//! (Y/N): N", "Ideas de suicidio ........ NO". The words after the name, or the sign before it, say whether the risk is
//! present.

use std::ops::Range;

use super::candidates::{ResolvedWords, RiskCandidate};
use super::topics::{RiskTopic, RiskTopics};
use crate::Experiencer;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Words that say when, between a name and its value: "SI since Monday: yes".
const WHEN: usize = 3;
/// Dots that lead from a name to its value.
const LEADERS: usize = 3;

/// Adds what the fields of each sentence say and settles their names.
pub(super) fn find(
    doc: &AnalyzedDocument<'_>,
    topics: &RiskTopics,
    spoken_of: &[bool],
    out: &mut Vec<RiskCandidate>,
    settled: &mut ResolvedWords,
) {
    for (index, sentence) in doc.sentences() {
        if settled.sentences.contains(&index) {
            continue;
        }
        let mut names = Vec::new();
        for topic in topics.find(doc.reading, sentence.words.clone(), spoken_of) {
            if topic.is_safe() || settled.holds(&topic.words) {
                continue;
            }
            let Some((denied, words)) = field(doc.reading, index, &topic) else { continue };
            names.push(words.start..words.end.min(sentence.words.end));
            let (class, core, experiencer) = (topic.class, topic.words.clone(), Experiencer::Patient);
            out.push(RiskCandidate { class, denied, words, core, experiencer, confirmed: None });
        }
        names.into_iter().for_each(|words| settled.words.push(words));
    }
}

/// Whether a field denies, and its words.
fn field(reading: &TokenizedText<'_>, index: usize, topic: &RiskTopic) -> Option<(bool, Range<usize>)> {
    let sentence = &reading.sentences[index].words;
    // "PLAN - …" heads a list.
    let short = is_short(reading, &topic.words) && reading.word(topic.words.start) != "plan";
    if let Some(denied) = signed(reading, sentence, &topic.words).filter(|_| short) {
        return Some((denied, topic.words.start.max(sentence.start + 1) - 1..topic.words.end));
    }
    if short && states(reading.word(topic.words.end)) {
        return Some((false, topic.words.start..sentence.end.min(topic.words.end + 4)));
    }
    let mut at = topic.words.end;
    let timed = (at..sentence.end.min(at + WHEN + 1)).find(|word| reading.word(*word) == ":");
    let when = |word: usize| {
        matches!(
            reading.word(word),
            "today" | "currently" | "now" | "since" | "this" | "last" | "recent" | "hoy" | "actual" | "ahora"
        )
    };
    if let Some(colon) = timed.filter(|colon| *colon > at && when(at)) {
        at = colon;
    }
    let choice = choice_at(reading, at);
    at += choice;
    let dots = (at..sentence.end).take_while(|word| matches!(reading.word(*word), "." | "…" | "_")).count();
    at += dots;
    let led = dots >= LEADERS || reading.word(at.saturating_sub(1)) == "…" || led_on(reading, index, at);
    if !(short || choice > 0 || led) {
        return None;
    }
    while matches!(reading.word(at), ":" | "=" | "?")
        || reading.word(at) == "-" && value(reading.word(at + 1)).is_some()
    {
        at += 1;
    }
    let framed = usize::from(reading.word(at) == "(");
    let denied = match reading.word(at + framed) {
        "+" => false,
        "-" | "–" | "−" => true,
        word => value(word)?,
    };
    let end = at + framed + 1;
    let closes = |word: &str| matches!(word, "" | "hi" | "si" | "plan" | "intent" | "today" | "x");
    let within = end < sentence.end || reading.sentence_of(end.min(reading.words.len().saturating_sub(1))) == index;
    let closed = !within || reading.words.get(end).is_none_or(|next| next.punctuation) || closes(reading.word(end));
    // "SI / NO": the choices, of which none is marked.
    (closed && reading.word(end) != "/").then_some((denied, topic.words.start..end))
}

/// "+SI, -HI": a sign without a space before the name.
fn signed(reading: &TokenizedText<'_>, sentence: &Range<usize>, name: &Range<usize>) -> Option<bool> {
    let sign = name.start.checked_sub(1).filter(|sign| *sign >= sentence.start)?;
    let joined = reading.words[sign].source.end == reading.words[name.start].source.start;
    let opens = sign == sentence.start || reading.words[sign - 1].punctuation;
    match reading.word(sign) {
        "+" if joined && opens => Some(false),
        "-" | "–" | "−" if joined && opens => Some(true),
        _ => None,
    }
}

/// The words of "(Y/N)" at a place.
fn choice_at(reading: &TokenizedText<'_>, at: usize) -> usize {
    let word = |after: usize| reading.word(at + after);
    // Written tight it is one word.
    let tight = matches!(word(1), "y/n" | "yes/no" | "s/n" | "si/no") && matches!(word(2), ")" | "]");
    if matches!(word(0), "(" | "[") && tight {
        return 3;
    }
    let yes = matches!(word(1), "y" | "yes" | "s" | "si");
    let no = matches!(word(3), "n" | "no");
    let choice = matches!(word(0), "(" | "[") && yes && word(2) == "/" && no && matches!(word(4), ")" | "]");
    if choice { 5 } else { 0 }
}

/// Dots that end a sentence and lead to the next words of the same line.
fn led_on(reading: &TokenizedText<'_>, index: usize, at: usize) -> bool {
    let (Some(here), Some(next)) = (reading.sentences.get(index), reading.sentences.get(index + 1)) else {
        return false;
    };
    let from = at.checked_sub(1).and_then(|last| reading.words.get(last)).map_or(here.span.end, |word| word.source.end);
    let gap = reading.text.get(from.min(next.span.start)..next.span.start).unwrap_or("");
    let start = reading.source(&(here.words.clone())).start;
    let before = reading.text.get(start..next.span.start).unwrap_or("");
    next.words.start == at && !gap.contains('\n') && before.trim_end().ends_with("...")
}

/// Names in capitals of two to four letters.
fn is_short(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let source = reading.source(words).slice(reading.text);
    source.len() <= 6 && source.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase)
}

fn value(word: &str) -> Option<bool> {
    match word {
        "yes" | "y" | "present" | "positive" | "pos" | "si" | "s" | "presente" | "positivo" | "endorsed" => Some(false),
        "no" | "n" | "absent" | "negative" | "neg" | "none" | "nil" | "denied" | "denies" | "ausente" | "negativo" => {
            Some(true)
        }
        _ => None,
    }
}

fn states(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "form_fields.states");
    WORDS.contains(word)
}
