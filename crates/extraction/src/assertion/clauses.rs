//! Clauses that assert nothing: "they ask me if I am allergic", "I don't know whether I am", "if I were". What opens the
//! clause ("if", "si") is distinguished by the words before it: a verb of asking, of not knowing, or neither.

use std::ops::Range;

use super::cues::{Cue, CueCategory, CueDirection};
use crate::dialogue::Polarity;
use crate::lexicon::label;
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(crate) const FILE: &str = include_str!("../lexicon/clauses.tsv");
/// Words before an opening in which its verb is looked for: "preguntó la enfermera de la mañana si".
const VERB_REACH: usize = 6;

/// Words after a reported question in which its answer is looked for: "…, and I told her that I never did".
const ANSWER_REACH: usize = 9;

/// Openings of clauses, and the verbs that decide their kind.
pub(crate) struct ClauseOpeners {
    opens: PhraseMatcher,
    opens_asked: PhraseMatcher,
    opens_not: PhraseMatcher,
    asks: PhraseMatcher,
    asks_accented: PhraseMatcher,
    doubts: PhraseMatcher,
    resumes: PhraseMatcher,
    resumes_taking: PhraseMatcher,
}

/// A clause found: the place of its opening, and its kind.
pub(super) struct UnassertedClause {
    pub(crate) opening: Range<usize>,
    pub(crate) cue: Cue,
}

impl ClauseOpeners {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut list = |name| label(trie, FILE, name);
        Self {
            opens: list("opens"),
            opens_asked: list("opens_asked"),
            opens_not: list("opens_not"),
            asks: list("asks"),
            asks_accented: list("asks_accented"),
            doubts: list("doubts"),
            resumes: list("resumes"),
            resumes_taking: list("resumes_taking"),
        }
    }

    /// The clauses of a sentence, from left to right. `answers`: the sentence answers a question, so that a first "si"
    /// without its accent is a yes.
    pub(super) fn find(
        &self,
        reading: &TokenizedText<'_>,
        within: &Range<usize>,
        answers: bool,
    ) -> Vec<UnassertedClause> {
        let mut out = Vec::new();
        let place = reading.sentence_of(within.start);
        if within.is_empty() || !self.opens.may_stand(reading, place) && !self.asks.may_stand(reading, place) {
            return out;
        }
        for word in within.clone() {
            if (answers && word == within.start) || self.opens_not.at(reading, word).is_some() {
                continue;
            }
            let plain = self.opens.at(reading, word).filter(|hit| !is_yes(reading, &hit.words));
            // "Qué" asks; "que" reports.
            let hands_on = reading.word(word) == "que" && !source(reading, &(word..word + 1)).contains(['é', 'É']);
            let asked = self.opens_asked.at(reading, word).filter(|_| !hands_on);
            let Some(hit) = plain.as_ref().or(asked.as_ref()) else { continue };
            let category = match self.verb_before(reading, within.start, word) {
                Some(CueCategory::Asked) if plain.is_some() || !names_own(reading, hit.words.end) => CueCategory::Asked,
                _ if plain.is_none() => continue,
                Some(verb) => verb,
                // "If this is so, or if that is": the second clause has the kind of the first.
                None if matches!(reading.word(word.wrapping_sub(1)), "or" | "and" | "o" | "y" | "ni") => {
                    out.last().map_or(CueCategory::Hypothetical, |before: &UnassertedClause| before.cue.category)
                }
                None => CueCategory::Hypothetical,
            };
            out.push(UnassertedClause { opening: hit.words.clone(), cue: cue(category) });
        }
        out
    }

    /// The verb nearest before an opening.
    fn verb_before(&self, reading: &TokenizedText<'_>, from: usize, opening: usize) -> Option<CueCategory> {
        let start = opening.saturating_sub(VERB_REACH).max(from);
        let mut best: Option<(usize, usize, CueCategory)> = None;
        for word in start..opening {
            if matches!(reading.word(word), ";" | "." | "?" | "!" | "pero" | "but") {
                best = None;
            }
            let accented = self.asks_accented.at(reading, word).filter(|hit| source(reading, &hit.words).contains('ó'));
            let asks = self.asks.at(reading, word).or(accented).map(|hit| (hit, CueCategory::Asked));
            // "Me pregunto si" wonders; "me preguntó si" speaks of a question.
            let doubts = self.doubts.at(reading, word).filter(|hit| !source(reading, &hit.words).contains('ó'));
            let doubts = doubts.map(|hit| (hit, CueCategory::Uncertain));
            for (hit, category) in asks.into_iter().chain(doubts).filter(|(hit, _)| hit.words.end <= opening) {
                let rank = (hit.words.end, hit.words.len());
                if best.is_none_or(|(end, len, _)| rank > (end, len)) {
                    best = Some((rank.0, rank.1, category));
                }
            }
        }
        best.map(|(_, _, category)| category)
    }

    /// Where the speaker goes on with a statement: "…, and yes, I am"; after a condition also a medicine taken then
    /// ("if I cannot sleep I take …").
    pub(super) fn resumes(
        &self,
        reading: &TokenizedText<'_>,
        within: Range<usize>,
        category: CueCategory,
    ) -> Option<usize> {
        let condition = category == CueCategory::Hypothetical;
        let taking = |word: usize| condition && self.resumes_taking.at(reading, word).is_some();
        within.into_iter().find(|word| self.resumes.at(reading, *word).is_some() || taking(*word))
    }
}

/// Where the answer to a reported question begins: after a sign, with a word that answers. "Asked about mood: wants to
/// die."; a list after a colon still belongs to the question.
pub(super) fn answered_at(reading: &TokenizedText<'_>, within: Range<usize>, category: CueCategory) -> Option<usize> {
    let answers = |word: &usize| {
        word.checked_sub(1).is_some_and(|before| matches!(reading.word(before), ":" | "-" | "–" | "—"))
            && introduces_answer(reading.word(*word))
    };
    if category == CueCategory::Asked { within.skip(1).find(answers) } else { None }
}

/// Words that introduce an answer: its speaker, or the speaker's verb.
fn introduces_answer(word: &str) -> bool {
    let english = matches!(
        word,
        "i" | "he"
            | "she"
            | "they"
            | "pt"
            | "patient"
            | "client"
            | "wants"
            | "wishes"
            | "says"
            | "said"
            | "states"
            | "stated"
            | "reports"
            | "reported"
            | "endorses"
            | "endorsed"
            | "feels"
            | "felt"
            | "has"
            | "had"
            | "is"
            | "was"
            | "thinks"
            | "hears"
            | "would"
            | "still"
            | "replied"
            | "replies"
            | "answers"
            | "answered"
    );
    english
        || matches!(
            word,
            "yo" | "paciente"
                | "quiere"
                | "desea"
                | "dice"
                | "dijo"
                | "refiere"
                | "refirio"
                | "responde"
                | "respondio"
                | "contesta"
                | "contesto"
                | "manifiesta"
                | "verbaliza"
                | "siente"
                | "tiene"
                | "tuvo"
                | "esta"
                | "piensa"
                | "sigue"
                | "oye"
                | "preferiria"
                | "quisiera"
                | "querria"
        )
}

/// How a reported question that ends at a word was answered, there or in the next sentence of the same speaker.
pub(crate) fn reported_answer(reading: &TokenizedText<'_>, end: usize) -> Option<Polarity> {
    let here = reading.sentence_of(end.checked_sub(1)?);
    let next = reading.sentences.get(here + 1).filter(|next| next.turn == reading.sentences[here].turn);
    let limit =
        if end < reading.sentences[here].words.end { reading.sentences[here].words.end } else { next?.words.end };
    let closes = |word: usize| word >= limit || reading.words[word].punctuation;
    (end..limit.min(end + ANSWER_REACH)).find_map(|word| match reading.word(word) {
        "yes" | "yeah" | "yep" => Some(Polarity::Yes),
        "si" if is_yes(reading, &(word..word + 1)) || closes(word + 1) => Some(Polarity::Yes),
        "soy" | "am" | "do" | "did" | "have" | "was" if closes(word + 1) => Some(Polarity::Yes),
        "no" | "nope" | "never" | "nunca" | "jamas" | "nada" if closes(word + 1) => Some(Polarity::No),
        _ => None,
    })
}

fn cue(category: CueCategory) -> Cue {
    Cue {
        category,
        direction: CueDirection::Forward,
        reach: if category == CueCategory::Asked { 40 } else { 14 },
        list: true,
        header: false,
        opening: false,
        closing: false,
        last: false,
        inner: false,
        either: false,
        intransitive: false,
        far: category == CueCategory::Asked,
        gone: false,
        cause: false,
    }
}

/// "Sí", whose accent the folded form has lost.
fn is_yes(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    words.len() == 1 && source(reading, words).contains('í')
}

/// "She asked about my anxiety" presupposes the anxiety.
fn names_own(reading: &TokenizedText<'_>, word: usize) -> bool {
    matches!(reading.word(word), "my" | "mi" | "mis" | "his" | "her" | "your" | "su" | "sus" | "tu" | "tus")
}

fn source<'a>(reading: &TokenizedText<'a>, words: &Range<usize>) -> &'a str {
    reading.source(words).slice(reading.text)
}
