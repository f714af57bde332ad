//! The keyed search terms of a batch. The documents of one patient say the same words again and again: each is folded,
//! stemmed and hashed once. What was found is forgotten with the batch.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::crypto::PatientKeys;
use crate::domain::scope::Scope;
use crate::text::stems::Stemming;
use crate::text::{Language, tokens};

/// By word as it is written; `None` for what is no term. Asked for every word of every document, under a seed of the
/// process: a hash that is quick.
type Words<T> = HashMap<String, Option<T>, RandomState>;

/// What words come to is the same for all patients; what stands for it in the store is each one's own.
#[derive(Default)]
pub(super) struct Terms {
    stems: HashMap<Language, Words<String>>,
    terms: HashMap<(Scope, Language), Words<i64>>,
}

impl Terms {
    /// The terms of a text under its patient's key, in order, with repetitions.
    pub fn of(&mut self, text: &str, language: Language, scope: Scope, keys: &PatientKeys) -> Vec<i64> {
        let stemming = Stemming::of(text, language);
        let stems = self.stems.entry(stemming.language).or_default();
        let known = self.terms.entry((scope, stemming.language)).or_default();
        let mut found = Vec::new();
        for token in tokens(text) {
            let word = token.span.of(text);
            let term = match known.get(word) {
                Some(term) => *term,
                None => {
                    let stem = match stems.get(word) {
                        Some(stem) => stem,
                        None => &*stems.entry(word.to_owned()).or_insert_with(|| stemming.stem(&token, text)),
                    };
                    let term = stem.as_deref().map(|stem| keys.term(stem));
                    known.insert(word.to_owned(), term);
                    term
                }
            };
            found.extend(term);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::ids::{OrgId, PatientId};
    use crate::text::stems;

    #[test]
    fn a_word_said_before_has_the_term_that_it_has_alone_and_each_patient_has_terms_of_their_own() {
        let scope = |n| Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(n))).unwrap();
        let keys = |n: u8| PatientKeys::derive(scope(n.into()), &[n; 32]);
        let mut terms = Terms::default();
        for (who, text, language) in [
            (1, "Duerme mal y duerme poco: 50 mg, a@b.es", Language::Spanish),
            (1, "Duerme mal. The dream, y no duerme.", Language::Spanish),
            (2, "Duerme mal y duerme poco", Language::Spanish),
            (1, "the dreams he dreamt, mal", Language::English),
            (1, "tiene las pastillas de la noche", Language::Unknown),
        ] {
            let keys = keys(who);
            let alone: Vec<i64> = stems(text, language).iter().map(|stem| keys.term(stem)).collect();
            assert_eq!(terms.of(text, language, scope(who.into()), &keys), alone, "{text}");
        }
    }
}
