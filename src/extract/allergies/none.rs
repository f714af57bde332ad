//! That there are no allergies, and the substance that no list knows.

use std::ops::Range;

use super::{Allergies, AllergyRules, Substance};
use crate::extract::dialogue::Polarity;
use crate::extract::scene::Scene;
use crate::extract::{Experiencer, Statement, StatementKind, Temporality};

impl AllergyRules {
    /// A single word right after "allergic to" that the lists do not know: missing an allergy harms more than a
    /// strange name does.
    pub(super) fn unknown_substance(&self, scene: &Scene<'_>, cue: &Range<usize>) -> Option<Substance> {
        let says_to = matches!(scene.reading.word(cue.end - 1), "to" | "a" | "al" | "la" | "los" | "las");
        let mut word = cue.end;
        while matches!(scene.reading.word(word), "the" | "la" | "el" | "los" | "las") {
            word += 1;
        }
        let name = scene.reading.word(word);
        let plain = name.len() >= 4
            && name.chars().all(char::is_alphabetic)
            && self.not_substance.at(scene.reading, word).is_none();
        (says_to && plain).then(|| Substance { words: word..word + 1, name: name.to_owned(), class: false })
    }

    /// "Sin alergias conocidas", "NKDA", "no soy alérgico a nada", "Allergies: none".
    pub(super) fn none_in_words(&self, scene: &Scene<'_>, index: usize, out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let abbreviated =
            sentence.words.clone().any(|w| matches!(scene.reading.word(w), "nkda" | "nka" | "namc" | "nkma"));
        let other = self.first(&self.other, scene, &sentence.words).is_some();
        // A title ("ALERGIAS: sin alergias conocidas") says it twice: one denial is enough.
        let denied = sentence.words.clone().filter_map(|word| self.asks.at(scene.reading, word)).any(|cue| {
            let context = scene.contexts.of(scene.reading, &(cue.words.start..cue.words.start + 1));
            let own = context.experiencer == Experiencer::Patient && context.temporality != Temporality::Hypothetical;
            context.negated && !context.uncertain && own
        });
        if abbreviated || (denied && !other) {
            out.statements.push(Statement { kind: StatementKind::NoKnownAllergies, span: sentence.span });
        }
    }

    /// A question about allergies that was answered; whether the answer was that there are none.
    pub(super) fn none_answered(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        out: &mut Allergies,
    ) -> bool {
        let Some(answer) = scene.exchanges.answer(index) else { return false };
        let words = &scene.reading.sentences[index].words;
        let other = self.first(&self.other, scene, words).is_some();
        match (answer.polarity, substances) {
            (Polarity::No, []) if !other => {
                let given = &scene.reading.sentences[answer.sentence];
                let goes_on =
                    given.span.of(scene.text()).contains(" but ") || given.span.of(scene.text()).contains(" pero ");
                if !goes_on {
                    out.statements.push(Statement { kind: StatementKind::NoKnownAllergies, span: given.span });
                }
                !goes_on
            }
            (Polarity::Yes | Polarity::No, [_, ..]) => {
                self.take(scene, index, substances, None, out);
                false
            }
            _ => false,
        }
    }
}
