//! Allergens that a title or a value refutes: "ALERGIAS DESCARTADAS: penicilina, látex", "latex (-)", "penicilina, niega".

use std::ops::Range;

use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyMention, AllergyRules};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::medication::SentenceDrugs;
use crate::{Experiencer, Temporality};

/// Words of a title before its colon.
const TITLE: usize = 8;

impl AllergyRules {
    /// "Látex (-)", "penicilina, niega", "latex: denied": the value of the one before it.
    pub(super) fn is_denied_value(&self, doc: &AnalyzedDocument<'_>, placed: &AllergyMention) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "refuted_lists.is_denied_value");
        let reading = doc.reading;
        let word = |at: usize| reading.word(at);
        let quoted = word(placed.words.end) == "\"" && matches!(word(placed.words.end + 1), "-" | "–" | "—" | ":");
        let at = placed.words.end + usize::from(quoted);
        let denies = |word: &str| WORDS.contains(word);
        let sign = |word: &str| matches!(word, "-" | "–" | "—");
        if word(at) == "(-)" || word(at) == "(" && word(at + 2) == ")" && (denies(word(at + 1)) || sign(word(at + 1))) {
            return true;
        }
        let sentence = &reading.sentences[reading.sentence_of(placed.words.start)].words;
        let after = |at: usize| {
            let gap = match (reading.words.get(at), reading.words.get(at + 1)) {
                (Some(here), Some(next)) => doc.text().get(here.source.end..next.source.start).unwrap_or(""),
                _ => "\n",
            };
            at + 1 >= sentence.end || gap.contains('\n') || matches!(word(at + 1), "," | "." | ";" | "/")
        };
        let value = at + 1 + usize::from(matches!(word(at + 1), "also" | "tambien"));
        let said = value < sentence.end && denies(word(value)) && after(value);
        let refuted = at + 1 < sentence.end && is_refuted(word(at + 1)) && after(at + 1);
        match word(at) {
            ":" | "-" | "–" | "—" | "(" if refuted => true,
            // "Mariscos bien", "bee stings fine".
            "bien" | "fine" | "ok" | "okay" if after(at) => true,
            "," => said && word(at + 1).len() > 4,
            ":" | "-" | "–" | "—" | "=" => said,
            _ => false,
        }
    }

    /// "ALERGIAS DESCARTADAS: penicilina, látex", "De-labelled: penicillin": all that such a title lists is denied.
    pub(super) fn refuted_lists(&self, doc: &AnalyzedDocument<'_>, drugs: &[SentenceDrugs], out: &mut AllergyFindings) {
        let sentences = &doc.reading.sentences;
        let mut open: Option<usize> = None;
        for (index, sentence) in doc.sentences() {
            if sentence.turn.is_some() {
                continue;
            }
            let (substances, _) = self.substances(doc, index, drugs);
            let title = self.refuting_title(doc, &sentence.words);
            let from = match (title, open) {
                (Some(end), _) => end,
                (None, Some(before)) => {
                    let gap = doc.text().get(sentences[before].span.end..sentence.span.start).unwrap_or("");
                    let first = substances.first().map(|s| s.words.start);
                    let leads = first.is_some_and(|first| first <= sentence.words.start + 2);
                    let titled = (sentence.words.start..sentence.words.end.min(sentence.words.start + TITLE))
                        .any(|word| doc.reading.word(word) == ":");
                    if gap.matches('\n').count() != 1 || !leads || titled {
                        open = None;
                        continue;
                    }
                    sentence.words.start
                }
                (None, None) => continue,
            };
            let listed: Vec<AllergenMention> = substances.into_iter().filter(|s| s.words.start >= from).collect();
            // A title with nothing after it has its list below.
            let below = title.is_some() && listed.is_empty() || title.is_none();
            open = below.then_some(index);
            for substance in &listed {
                self.refute(doc, index, substance, out);
            }
            if title.is_some() {
                out.statements.retain(|statement| !statement.span.overlaps(&sentence.span));
            }
        }
    }

    fn refute(&self, doc: &AnalyzedDocument<'_>, index: usize, substance: &AllergenMention, out: &mut AllergyFindings) {
        let Some(mut assertion) = doc.assertion(index, &substance.words) else { return };
        assertion.context.negated = true;
        assertion.context.uncertain = false;
        assertion.context.temporality = Temporality::Recent;
        assertion.context.experiencer = Experiencer::Patient;
        out.taken.retain(|taken| !substance.words.contains(taken));
        out.placed.retain(|placed| placed.words != substance.words);
        self.push(doc, substance, &assertion, AllergyFrame::Allergy, out);
    }

    /// The word after the colon of a title over substances that are no allergens.
    fn refuting_title(&self, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> Option<usize> {
        let reading = doc.reading;
        let colon = (words.start..words.end.min(words.start + TITLE)).find(|word| reading.word(*word) == ":")?;
        let title = words.start..colon;
        let any = |is: &dyn Fn(&str) -> bool| title.clone().any(|word| is(reading.word(word)));
        let allergy =
            any(&|word| word.starts_with("alerg") || word.starts_with("allerg") || word.starts_with("intoler"));
        let refuted = any(&|word| REFUTED.iter().any(|stem| word.starts_with(stem)));
        let denied = title.clone().any(|word| {
            matches!(reading.word(word), "no" | "not" | "non" | "sin")
                && (word + 1..colon.min(word + 4)).any(|at| {
                    let said = reading.word(at);
                    ["alerg", "allerg", "confirm", "verdader", "true", "real"].iter().any(|stem| said.starts_with(stem))
                })
        });
        let labelled = title.clone().any(|word| {
            let said = reading.word(word);
            said.starts_with("delabel")
                || said.starts_with("desetiquetad")
                || said == "de" && reading.word(word + 1).starts_with("label")
        });
        let known = any(&|word| word.starts_with("known") || word.starts_with("conocid"));
        (allergy && (refuted || denied) && !known || labelled).then_some(colon + 1)
    }
}

/// Words of a title over refuted allergies.
static REFUTED: WordList = WordList::listed(word_lists::ALLERGIES, "refuted_lists.refuted");

/// "Latex – removed", "penicilina: descartada".
fn is_refuted(word: &str) -> bool {
    let ends = |stem: &str| word.strip_prefix(stem).is_some_and(|end| matches!(end, "o" | "a" | "os" | "as"));
    ["retirad", "descartad", "refutad", "superad", "desmentid", "anulad", "eliminad"].iter().any(|stem| ends(stem))
        || matches!(word, "removed" | "refuted" | "outgrown" | "delabelled" | "delabeled" | "disproved" | "disproven")
}
