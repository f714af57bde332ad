//! Clauses of a sentence. Risk is judged within its own clause, so that a dictation of two hundred words, or a message
//! without a full stop, is not one statement. A clause ends at a closing sign, and before a word that begins another
//! statement ("niega", "denies", "he says", "but").

use std::ops::Range;

use crate::tokenized::TokenizedText;

/// Longest clause: a longer one is evidence of nothing in particular.
const LONGEST: usize = 48;

const LABEL: usize = 5;

/// The clauses of a sentence, in order; together they hold every word of it.
pub(super) fn clauses(reading: &TokenizedText<'_>, sentence: &Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = sentence.start;
    let lines = LineLengths::measure(reading, sentence);
    for word in sentence.clone() {
        if word > start && (begins(reading, start, word) || lines.ends_before(reading, word) || word - start >= LONGEST)
        {
            out.push(start..word);
            start = word;
        }
    }
    if start < sentence.end {
        out.push(start..sentence.end);
    }
    out
}

/// The clause that holds a word.
pub(crate) fn clause_of(reading: &TokenizedText<'_>, sentence: &Range<usize>, word: usize) -> Range<usize> {
    let found = clauses(reading, sentence).into_iter().find(|clause| clause.contains(&word));
    found.unwrap_or_else(|| sentence.clone())
}

/// The lines of a sentence that runs over several. In wrapped text all but the last are about as long as the longest; a
/// shorter one was ended on purpose.
struct LineLengths {
    longest: usize,
}

/// Bytes by which a line that was only wrapped may be shorter than the longest.
const RAGGED: usize = 18;

impl LineLengths {
    fn measure(reading: &TokenizedText<'_>, sentence: &Range<usize>) -> Self {
        let text = reading.source(sentence).slice(reading.text);
        Self { longest: text.lines().map(str::len).max().unwrap_or(0) }
    }

    fn ends_before(&self, reading: &TokenizedText<'_>, word: usize) -> bool {
        let before = reading.words[word - 1].source.end;
        let broken = reading.begins_line(word);
        let line =
            || reading.text.get(..before).map_or(0, |text| text.len() - text.rfind('\n').map_or(0, |feed| feed + 1));
        broken && (line() + RAGGED < self.longest || self.longest > WRAPPED)
    }
}

/// Bytes beyond which no text is wrapped: each of its lines was ended on purpose.
const WRAPPED: usize = 140;

fn begins(reading: &TokenizedText<'_>, start: usize, word: usize) -> bool {
    let before = reading.word(word - 1);
    if ends(before) || before == "(" && !matches!(reading.word(word), "-" | "+" | "–" | "−") {
        return true;
    }
    let here = reading.word(word);
    if before == "," {
        return turns(here) || opens(reading, word) || denies(here) && !denies(reading.word(start));
    }
    // "IPV: denied", "ideación suicida: niega": the answer to the label before it.
    if before == ":" && word <= start + LABEL && denies(here) {
        return false;
    }
    // "Niega X niega Y no ha habido Z", "he denies wanting to die denies any past attempt".
    turns(here) || word > start + 1 && opens(reading, word) && !matches!(before, "que" | "q" | "that" | "and" | "y")
}

fn ends(word: &str) -> bool {
    matches!(word, "." | ";" | "?" | "!" | "¿" | "…" | "|" | ")" | "—" | "–" | "•" | "→") || word == "--"
}

fn turns(word: &str) -> bool {
    matches!(word, "but" | "however" | "although" | "though" | "pero" | "aunque" | "salvo" | "except")
}

fn denies(word: &str) -> bool {
    matches!(
        word,
        "no" | "denies" | "denied" | "niega" | "nego" | "sin" | "never" | "nunca" | "nil" | "without" | "not"
    )
}

fn opens(reading: &TokenizedText<'_>, word: usize) -> bool {
    let next = reading.word(word + 1);
    match reading.word(word) {
        "niega" | "niegan" | "nego" | "denies" | "denied" | "refiere" | "refirio" | "comenta" | "admite"
        | "reconoce" | "reports" | "reported" | "states" | "stated" | "endorses" | "endorsed" | "admits"
        | "admitted" | "asked" | "interrogado" | "interrogada" | "preguntado" | "preguntada" | "verbaliza"
        | "manifiesta" => true,
        // "No he pensado" holds a Spanish auxiliary; "said no he denies" holds the English pronoun.
        "no" if next == "he" => is_participle(reading.word(word + 2)),
        "no" => {
            matches!(next, "ha" | "han" | "hay" | "tiene" | "plan" | "evidence" | "history" | "prior" | "intent")
        }
        "has" | "have" | "had" => matches!(next, "never" | "not"),
        "he" | "she" | "they" | "pt" | "patient" => matches!(
            next,
            "says"
                | "said"
                | "denies"
                | "denied"
                | "reports"
                | "states"
                | "told"
                | "admits"
                | "has"
                | "does"
                | "is"
                | "was"
        ),
        _ => false,
    }
}

fn is_participle(word: &str) -> bool {
    ["ado", "ido", "cho", "sto", "rto", "lto"].iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrase_trie::TrieBuilder;
    use anamnesis_text::{Document, Language};

    fn cut(text: &str) -> Vec<String> {
        let document = Document::plain(text, Language::Unknown);
        let reading = TokenizedText::new(&document, &TrieBuilder::default().build());
        let sentences = reading.sentences.iter().flat_map(|sentence| clauses(&reading, &sentence.words));
        sentences.map(|clause| reading.source(&clause).slice(text).to_owned()).collect()
    }

    #[test]
    fn a_dictation_is_cut_where_another_statement_begins() {
        assert_eq!(
            cut("asked about voices he said no he denies wanting to die denies any past attempt"),
            ["asked about voices", "he said no", "he denies wanting to die", "denies any past attempt"]
        );
        assert_eq!(
            cut("niega ideas de quitarse la vida niega plan no ha habido intentos"),
            ["niega ideas de quitarse la vida", "niega plan", "no ha habido intentos"]
        );
    }

    #[test]
    fn a_label_holds_the_denial_that_answers_it() {
        assert_eq!(cut("IPV: denied, asked alone."), ["IPV: denied,", "asked alone."]);
        assert_eq!(cut("Ideación suicida: niega."), ["Ideación suicida: niega."]);
    }

    #[test]
    fn a_list_after_one_denial_stays_together() {
        assert_eq!(cut("Denies SI, HI, plan or intent."), ["Denies SI, HI, plan or intent."]);
        assert_eq!(cut("Denies SI, but has pills."), ["Denies SI,", "but has pills."]);
    }
}
