//! "No medicines": asked and answered, or said in so many words.

use std::ops::Range;

use super::allergies::says_none;
use super::analysis::AnalyzedDocument;
use super::dialogue::Polarity;
use super::lexicon::{SPEECH, label};
use super::matcher::PhraseMatcher;
use super::medication::{MedicationRules, SentenceDrugs};
use super::phrase_trie::TrieBuilder;
use super::structure::Section;
use super::{Entity, EntityType, Experiencer, Statement, StatementKind, Temporality};

pub(crate) struct NegativeStatementRules {
    generic: PhraseMatcher,
    other: PhraseMatcher,
    allergy: PhraseMatcher,
    nothing_now: PhraseMatcher,
}

/// Turns after a medicine was named in which "now nothing" speaks of medicines.
const TOPIC_TURNS: usize = 3;

/// Medicines in general, as one denies or reports to take them.
const GENERIC: &str = "medication{,s} | medicine{,s} | meds | prescription{,s} | medicamento{,s} | medicacion | medicinas | \
     pastillas | farmacos | tratamiento{, habitual, farmacologico, medico} | drugs | pills";

impl NegativeStatementRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let phrases = GENERIC.split('|').map(|phrase| (phrase.trim(), 0));
        Self {
            generic: PhraseMatcher::new(trie, phrases),
            other: label(trie, SPEECH, "other"),
            allergy: label(trie, SPEECH, "ask_allergy"),
            nothing_now: label(trie, SPEECH, "nothing_now"),
        }
    }

    pub(crate) fn find(
        &self,
        doc: &AnalyzedDocument<'_>,
        medication: &MedicationRules,
        drugs: &[SentenceDrugs],
        found: &[Entity],
    ) -> Vec<Statement> {
        let mut out = Vec::new();
        for (index, sentence) in doc.sentences() {
            let named = drugs.binary_search_by_key(&index, |drugs| drugs.sentence).is_ok();
            let about_allergy = sentence.words.clone().any(|w| self.allergy.at(doc.reading, w).is_some());
            let other = sentence.words.clone().any(|w| self.other.at(doc.reading, w).is_some());
            if named || about_allergy || (other && !sentence.question) {
                continue;
            }
            let asked = doc.is_dialogue() && doc.question_answers.asks(index);
            let kind = StatementKind::NoMedications;
            let listed = doc.structure.place(index).filter(|place| place.section == Section::Medications);
            if listed.is_some_and(|place| {
                sentence.turn.is_none() && says_none(doc, place.from..sentence.words.end).is_some()
            }) {
                out.push(Statement { kind, span: sentence.span });
                continue;
            }
            if !asked && self.nothing_now(doc, index, drugs) {
                out.push(Statement { kind, span: sentence.span });
                continue;
            }
            if asked && medication.asks(doc, &sentence.words) && !has_purpose(doc, &sentence.words) {
                let answer = doc.question_answers.answer(index).filter(|answer| answer.polarity == Polarity::No);
                out.extend(answer.map(|answer| Statement { kind, span: doc.reading.sentences[answer.sentence].span }));
            } else if !asked && self.denied(doc, index) {
                out.push(Statement { kind, span: sentence.span });
            }
        }
        if found.iter().any(is_current) {
            out.clear();
        }
        out
    }

    /// "Antes tomaba Prozac." — "¿Y ahora?" — "Ahora nada."
    fn nothing_now(&self, doc: &AnalyzedDocument<'_>, index: usize, drugs: &[SentenceDrugs]) -> bool {
        let sentence = &doc.reading.sentences[index];
        if self.nothing_now.first(doc.reading, sentence.words.clone()).is_none() || sentence.words.len() > 8 {
            return false;
        }
        let before = drugs.partition_point(|found| found.sentence < index).checked_sub(1).map(|slot| &drugs[slot]);
        let named = before.and_then(|found| doc.reading.sentences[found.sentence].turn);
        named.zip(sentence.turn).is_some_and(|(named, here)| here <= named + TOPIC_TURNS)
    }

    fn denied(&self, doc: &AnalyzedDocument<'_>, index: usize) -> bool {
        let words = doc.reading.sentences[index].words.clone();
        words.clone().find_map(|word| self.generic.at(doc.reading, word)).is_some_and(|hit| {
            let context = doc.scopes.mention_context(doc.reading, &hit.words);
            let plain = !context.uncertain && context.temporality == Temporality::Recent;
            // "No quiere medicación" and "no mejora con la medicación" deny other things.
            let takes = words.clone().take(8).any(|w| {
                matches!(
                    doc.reading.word(w),
                    "take"
                        | "takes"
                        | "taking"
                        | "on"
                        | "toma"
                        | "tomo"
                        | "tomando"
                        | "sin"
                        | "no"
                        | "none"
                        | "ninguna"
                        | "ninguno"
                        | "niega"
                        | "denies"
                        | ":"
                )
            });
            let wants = words.clone().any(|w| {
                matches!(
                    doc.reading.word(w),
                    "quiere"
                        | "quiero"
                        | "want"
                        | "wants"
                        | "mejora"
                        | "need"
                        | "needs"
                        | "gusta"
                        | "like"
                        | "afford"
                        | "works"
                        | "funciona"
                        | "desea"
                        | "acepta"
                        | "olvida"
                        | "changes"
                        | "cambios"
                        | "respuesta"
                        | "efectos"
                        | "adherencia"
                )
            });
            context.negated && plain && context.experiencer == Experiencer::Patient && takes && !wants
        })
    }
}

/// "Do you take anything for sleep?" asks about one purpose: "nothing" leaves all other medicines open.
fn has_purpose(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    words.clone().any(|word| matches!(doc.reading.word(word), "para" | "for" | "contra" | "against"))
}

/// A medicine that the patient takes now.
pub(crate) fn is_current(entity: &Entity) -> bool {
    entity.kind == EntityType::Medication
        && !entity.context.negated
        && !entity.context.uncertain
        && entity.context.temporality == Temporality::Recent
        && entity.context.experiencer == Experiencer::Patient
        && !matches!(entity.status.as_deref(), Some("stopped" | "suggested" | "not_taken" | "declined"))
}
