//! The keyed search terms of a batch. The documents of one patient repeat words: each word is folded, stemmed and hashed
//! once. The cache lives as long as the batch.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_text::stems::Stemming;
use anamnesis_text::{Language, TokenKind, tokens};

/// Asked for every word of every document, under a seed of the process: a hash that is quick.
type FastMap<K, V> = HashMap<K, V, RandomState>;

/// The stem of a word is the same for all patients; its stored term is keyed per patient.
#[derive(Default)]
pub(super) struct TermCache {
    /// The number of a stem, by the written word; `None` for words that are no term.
    words: HashMap<Language, FastMap<String, Option<u32>>>,
    /// Words with the same stem share its number, in any language.
    numbers: FastMap<String, u32>,
    stems: Vec<String>,
    /// By number of the stem.
    terms: HashMap<Scope, FastMap<u32, i64>>,
}

impl TermCache {
    /// The terms of a text under its patient's key, in order, with repetitions.
    pub(crate) fn hash_terms(&mut self, text: &str, language: Language, scope: Scope, keys: &PatientKeys) -> Vec<i64> {
        let stemming = Stemming::for_text(text, language);
        let words = self.words.entry(stemming.language).or_default();
        let known = self.terms.entry(scope).or_default();
        let tokens = tokens(text);
        let mut found = Vec::with_capacity(tokens.len());
        for token in tokens.iter().filter(|token| token.kind != TokenKind::Punctuation) {
            let word = token.span.slice(text);
            let number = match words.get(word) {
                Some(number) => *number,
                None => {
                    let stem = stemming.stem(token, text);
                    let number = stem.map(|stem| numbered(stem, &mut self.numbers, &mut self.stems));
                    words.insert(word.to_owned(), number);
                    number
                }
            };
            let Some(number) = number else { continue };
            let term = known.entry(number).or_insert_with(|| keys.term(&self.stems[number as usize]));
            found.push(*term);
        }
        found
    }
}

/// The number of a stem, the next one where it has none.
fn numbered(stem: String, numbers: &mut FastMap<String, u32>, stems: &mut Vec<String>) -> u32 {
    let next = stems.len() as u32;
    *numbers.entry(stem).or_insert_with_key(|stem| {
        stems.push(stem.clone());
        next
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use anamnesis_core::ids::{OrgId, PatientId};
    use anamnesis_text::stems;

    #[test]
    fn a_word_said_before_has_the_term_that_it_has_alone_and_each_patient_has_terms_of_their_own() {
        let scope = |n| Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(n))).unwrap();
        let keys = |n: u8| PatientKeys::derive(scope(n.into()), &[n; 32]);
        let mut terms = TermCache::default();
        for (who, text, language) in [
            (1, "Duerme mal y duerme poco: 50 mg, a@b.es", Language::Spanish),
            (1, "Duerme mal. The dream, y no duerme.", Language::Spanish),
            (2, "Duerme mal y duerme poco", Language::Spanish),
            (1, "the dreams he dreamt, mal", Language::English),
            (1, "tiene las pastillas de la noche", Language::Unknown),
            (1, "una pastilla, las pastillas; no more", Language::Spanish),
            (1, "one pastilla no more", Language::English),
        ] {
            let keys = keys(who);
            let alone: Vec<i64> = stems(text, language).iter().map(|stem| keys.term(stem)).collect();
            assert_eq!(terms.hash_terms(text, language, scope(who.into()), &keys), alone, "{text}");
        }
    }
}
