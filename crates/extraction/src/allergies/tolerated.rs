//! Substances that were taken or eaten and did no harm, where a text speaks of allergies: "de niña decían que sí; en
//! 2021 me pusieron Benzetacil y no me pasó nada", "she ate prawns last week, no bother". They are no allergens, and no
//! current medicines.

use super::retracted::{is_related, takes};
use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyRules, is_dosed};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::structure::Section;
use crate::{Experiencer, Temporality};
use anamnesis_text::Speaker;

/// Words between the name of a substance and the statement that it did no harm.
const REACH: usize = 9;
/// Past forms of taking and of giving.
static PAST: WordList = WordList::listed(word_lists::ALLERGIES, "tolerated.past");

impl AllergyRules {
    /// Denies the allergy to a substance of a sentence that says that it was tolerated.
    pub(super) fn borne_in_talk(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let reading = doc.reading;
        let sentence = &reading.sentences[index];
        let words = sentence.words.clone();
        if sentence.question || sentence.speaker == Speaker::Agent || !is_about_allergies(doc, index) {
            return;
        }
        if !self.reactions.find(reading, words.clone()).is_empty() {
            return;
        }
        for (nth, substance) in substances.iter().enumerate() {
            let free = !out.taken.contains(&substance.words.start) && !substance.class;
            if !free || is_dosed(doc, substance.words.end) {
                continue;
            }
            let from = nth.checked_sub(1).map_or(words.start, |before| substances[before].words.end);
            let to = substances.get(nth + 1).map_or(words.end, |next| next.words.start);
            let past = |at: usize| PAST.contains(reading.word(at)) || is_accented_past(doc, at);
            let taken =
                (from..to).find(|at| if substance.drug { past(*at) } else { past(*at) || takes(reading.word(*at)) });
            let Some(verb) = taken else { continue };
            let denied = (from.max(verb.saturating_sub(3))..verb)
                .any(|at| matches!(reading.word(at), "no" | "not" | "n't" | "never" | "nunca" | "cannot"));
            let after = verb.max(substance.words.end)..to.min(verb.max(substance.words.end) + REACH);
            if denied || !after.clone().any(|at| self.did_no_harm(doc, at)) {
                continue;
            }
            // "Penicillin allergy; has had flucloxacillin since, no bother": taken back there, and no separate row.
            let kin = |said: &str| substance.words.clone().any(|at| is_related(said, reading.word(at)));
            if out.placed.iter().any(|placed| kin(&placed.entity.value)) {
                out.touched.extend(substance.words.clone());
                continue;
            }
            let Some(mut assertion) = doc.assertion(index, &substance.words) else { continue };
            let context = &mut assertion.context;
            if context.experiencer != Experiencer::Patient || context.temporality == Temporality::Hypothetical {
                continue;
            }
            context.negated = true;
            context.uncertain = false;
            context.temporality = Temporality::Recent;
            self.push(doc, substance, &assertion, AllergyFrame::Allergy, out);
        }
    }

    /// "Sin problema", "no bother", "y no le pasó nada".
    fn did_no_harm(&self, doc: &AnalyzedDocument<'_>, at: usize) -> bool {
        let word = |by: usize| doc.reading.word(at + by);
        let said = match word(0) {
            "no" => matches!(word(1), "bother" | "drama" | "hassle") || word(2) == "paso" && word(3) == "nada",
            "0" | "cero" => matches!(word(1), "drama" | "problema" | "problemas" | "problem"),
            "y" => matches!(word(1), "joya" | "perfecto" | "nada"),
            _ => false,
        };
        said || self.harmless(doc, at)
    }
}

/// "Tomó", "tomé": past forms that without their accent are those of now.
fn is_accented_past(doc: &AnalyzedDocument<'_>, at: usize) -> bool {
    let reading = doc.reading;
    matches!(reading.word(at), "tomo" | "tome" | "comio" | "comi" | "uso" | "use")
        && reading.source(&(at..at + 1)).slice(reading.text).to_lowercase().ends_with(['ó', 'é', 'í'])
}

/// Under a title of allergies, or in or right after a sentence that speaks of them.
fn is_about_allergies(doc: &AnalyzedDocument<'_>, index: usize) -> bool {
    let reading = doc.reading;
    let sentences = &reading.sentences;
    let here = &sentences[index];
    let speaks = |index: usize| {
        sentences[index].words.clone().any(|word| {
            let said = reading.word(word);
            said.starts_with("alerg") || said.starts_with("allerg")
        })
    };
    let titled = matches!(doc.section(here.words.start), Some(Section::Allergies | Section::Intolerances));
    let before = index.checked_sub(1).is_some_and(|before| {
        let gap = doc.text().get(sentences[before].span.end..here.span.start).unwrap_or("");
        let near = sentences[before].turn.is_some() || !gap.contains('\n');
        near && speaks(before)
    });
    titled || speaks(index) || before
}
