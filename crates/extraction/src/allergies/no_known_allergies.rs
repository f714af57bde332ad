//! That there are no allergies, and the substance that no list knows.

use std::ops::Range;

use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyRules};
use crate::analysis::AnalyzedDocument;
use crate::dialogue::Polarity;
use crate::lexicon::word_lists::{self, WordList};
use crate::{Experiencer, Statement, StatementKind, Temporality};
use anamnesis_text::Span;

/// Words between an allergy and the label that says it.
const LABEL: usize = 3;
/// Words of an answer that denies all: "no, a ninguno".
const BARE: usize = 4;
/// Words of a question that asks about another person, or about what an allergy did.
const OTHERS: &[&str] = &[
    "familia", "family", "sibling", "hermano", "hermana", "hijo", "hija", "reaccion", "reaction", "alguien", "anyone",
    "mother", "father", "madre", "padre",
];
/// Longest list of allergies that only states that there are none.
const NONE_WORDS: usize = 9;
/// Words after the sign in which what an unknown substance does begins.
const NEAR: usize = 6;

impl AllergyRules {
    /// "Sin AMC", "no RAMC", "RAMs negadas", "AMC (-)", "no alergias": the trade's abbreviations of Spanish.
    fn no_amc(&self, doc: &AnalyzedDocument<'_>, at: usize) -> bool {
        let word = |at: usize| doc.reading.word(at);
        let abbreviation = matches!(word(at), "amc" | "ramc" | "ram" | "rams" | "ramcs" | "ams");
        let before = at.checked_sub(1).map_or("", word);
        let after = (at + 1..at + 4)
            .find(|next| !matches!(word(*next), ":" | "conocidas" | "medicamentosas" | "-" | "("))
            .map_or("", word);
        abbreviation
            && (matches!(before, "sin" | "no" | "niega")
                || matches!(
                    after,
                    "negadas" | "negadas," | "no" | "negativas" | "negativo" | "niega" | "ninguna" | "desconocidas"
                ))
    }

    /// A single word right after "allergic to" that the lists do not know: missing an allergy harms more than a
    /// strange name does.
    pub(super) fn unknown_substance(&self, doc: &AnalyzedDocument<'_>, cue: &Range<usize>) -> Option<AllergenMention> {
        let says_to = matches!(doc.reading.word(cue.end - 1), "to" | "a" | "al" | "la" | "los" | "las");
        let mut word = cue.end;
        while matches!(doc.reading.word(word), "the" | "la" | "el" | "los" | "las") {
            word += 1;
        }
        let name = doc.reading.word(word);
        let plain = name.len() >= 4
            && name.chars().all(char::is_alphabetic)
            && self.not_substance.at(doc.reading, word).is_none();
        (says_to && plain).then(|| AllergenMention {
            words: word..word + 1,
            name: name.to_owned(),
            class: false,
            drug: false,
        })
    }

    /// "Septabene – rash", "mentol: rinitis", "mussels (lips swell)": under a title of allergies, an unlisted name with
    /// a sign and its reaction.
    pub(super) fn unlisted(
        &self,
        doc: &AnalyzedDocument<'_>,
        words: Range<usize>,
        known: &[AllergenMention],
    ) -> Vec<AllergenMention> {
        let reading = doc.reading;
        let mut out = Vec::new();
        let begins = |word: usize| {
            word == words.start
                || matches!(
                    reading.word(word - 1),
                    "," | ";" | "." | ":" | "•" | "*" | "/" | "and" | "y" | "-" | ")" | "]"
                )
        };
        for start in words.clone().filter(|word| begins(*word)) {
            let sign =
                |word: &usize| matches!(reading.word(*word), "-" | "–" | "—" | ":" | "(" | "→" | "=" | ">" | "->");
            let Some(end) = (start + 1..words.end.min(start + 4)).find(sign) else { continue };
            let plain = |word: usize| {
                let said = reading.word(word);
                said.len() >= 3
                    && said.chars().all(char::is_alphabetic)
                    && self.not_substance.at(reading, word).is_none()
                    && self.asks.at(reading, word).is_none()
                    && self.reaction_title.at(reading, word).is_none()
            };
            let free = !known.iter().any(|s| s.words.start < end + 1 && start < s.words.end);
            let mentioned = || {
                let found = self.reactions.find(reading, end..words.end.min(end + NEAR)).into_iter().next()?;
                let apart = (end + 1..found.words.start).any(|word| reading.words[word].punctuation);
                (!apart && !doc.scopes.denied_but_by(reading, &found.words, &found.words)).then_some(())
            };
            let is_reaction = !self.reactions.find(reading, start..end).is_empty();
            if free
                && (start..end).all(plain)
                && !is_reaction
                && !super::experiencer::is_relative(reading.word(start))
                && mentioned().is_some()
            {
                let name = (start..end).map(|word| reading.word(word)).collect::<Vec<_>>().join(" ");
                out.push(AllergenMention { words: start..end, name, class: false, drug: false });
            }
        }
        out
    }

    /// "Allergies: none known", "AMC: niega", "Alergias: ninguna conocida", "Allergies: nil": the whole of a list is a denial.
    /// Whether it is: then its line lists nothing any more.
    pub(super) fn none_listed(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        from: usize,
        out: &mut AllergyFindings,
    ) -> bool {
        let sentence = &doc.reading.sentences[index];
        let first = says_none(doc, from..sentence.words.end);
        let other = |first: usize| self.first(&self.other, doc, &(first..sentence.words.end)).is_some();
        let none = first.is_some_and(|first| !other(first));
        if none {
            out.statements.push(Statement { kind: StatementKind::NoKnownAllergies, span: sentence.span });
        }
        none
    }

    /// "Sin alergias conocidas", "NKDA", "no soy alérgico a nada", "Allergies: none".
    pub(super) fn none_in_words(&self, doc: &AnalyzedDocument<'_>, index: usize, out: &mut AllergyFindings) {
        let sentence = &doc.reading.sentences[index];
        let abbreviated = sentence.words.clone().any(|w| {
            matches!(doc.reading.word(w), "nkda" | "nka" | "namc" | "nkma" | "nkfa" | "nkdas" | "nkas" | "napnkda")
                || self.no_amc(doc, w)
        });
        let other = self.first(&self.other, doc, &sentence.words).is_some();
        // A title ("ALERGIAS: sin alergias conocidas") says it twice: one denial is enough.
        let denied = sentence.words.clone().filter_map(|word| self.asks.at(doc.reading, word)).any(|cue| {
            // "That's not an allergy", "no es alergia": the denial concerns one substance.
            let noun = matches!(doc.reading.word(cue.words.start), "allergy" | "alergia");
            let before = doc.reading.word(cue.words.start.wrapping_sub(1));
            if noun
                && matches!(before, "an" | "a" | "es" | "era" | "fue" | "una" | "true" | "real" | "'s" | "is" | "was")
            {
                return false;
            }
            let context = doc.scopes.mention_context(doc.reading, &(cue.words.start..cue.words.start + 1));
            let own = context.experiencer == Experiencer::Patient && context.temporality != Temporality::Hypothetical;
            // "Se retira la etiqueta de alergia": of one thing it is said that it is over.
            let label =
                |word: usize| matches!(doc.reading.word(word), "etiqueta" | "rotulo" | "label" | "entry" | "sticker");
            let near = cue.words.start.saturating_sub(LABEL).max(sentence.words.start)
                ..sentence.words.end.min(cue.words.end + LABEL);
            let denied = context.negated && !near.clone().any(label);
            let all = denied && is_of_all(doc, &sentence.words, cue.words.start)
                || is_none_known(doc, &sentence.words, cue.words.start);
            all && !context.uncertain && own
        });
        if abbreviated || (denied && !other) {
            out.statements.push(Statement { kind: StatementKind::NoKnownAllergies, span: sentence.span });
        }
    }

    /// "¿Es alérgico a algún medicamento? No, a ninguno": a question of a form that its own line answers.
    pub(super) fn none_in_form(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let reading = doc.reading;
        let sentence = &reading.sentences[index];
        let Some(next) = reading.sentences.get(index + 1).filter(|_| sentence.question && !doc.is_dialogue()) else {
            return;
        };
        let asks = self.first(&self.asks, doc, &sentence.words).is_some();
        let specific = substances.iter().any(|substance| !substance.class)
            || self.first(&self.other, doc, &sentence.words).is_some();
        let same_line = !doc.text().get(sentence.span.end..next.span.start).unwrap_or("\n").contains('\n');
        let plain = next.words.clone().filter(|word| !reading.words[*word].punctuation);
        let said: Vec<&str> = plain.map(|word| reading.word(word)).collect();
        // "No sabe", "no, todavía" are no denial of all.
        let bare = |word: &&str| {
            matches!(*word, "no" | "none" | "nope" | "ninguna" | "ninguno" | "a" | "any" | "known" | "conocidas")
        };
        let none = said.first().is_some_and(|first| matches!(*first, "no" | "none" | "nope" | "ninguna" | "ninguno"));
        let none = none && said.len() <= BARE && said.iter().all(bare);
        let word = |any_of: &[&str]| sentence.words.clone().any(|at| any_of.contains(&reading.word(at)));
        let of_all = word(&["algun", "alguna", "algunas", "algunos", "any", "known", "medicamentos"]) && !word(OTHERS);
        if asks && of_all && !specific && same_line && none {
            out.statements.push(Statement {
                kind: StatementKind::NoKnownAllergies,
                span: Span::new(sentence.span.start, next.span.end),
            });
        }
    }

    /// A question about allergies that was answered; whether the answer was "none".
    pub(super) fn none_answered(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) -> bool {
        let Some(answer) = doc.question_answers.answer(index) else { return false };
        let words = &doc.reading.sentences[index].words;
        let other = self.first(&self.other, doc, words).is_some();
        match (answer.polarity, substances) {
            (Polarity::No, []) if !other => {
                let given = &doc.reading.sentences[answer.sentence];
                let goes_on =
                    given.span.slice(doc.text()).contains(" but ") || given.span.slice(doc.text()).contains(" pero ");
                if !goes_on {
                    out.statements.push(Statement { kind: StatementKind::NoKnownAllergies, span: given.span });
                }
                !goes_on
            }
            (Polarity::Yes | Polarity::No, [_, ..]) => {
                self.take(doc, index, substances, AllergyFrame::Allergy, out);
                false
            }
            _ => false,
        }
    }
}

/// "No known drug allergies": only kinds of allergy come between the denial and the word.
fn is_none_known(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>, cue: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "no_known_allergies.is_none_known");
    let word = |at: usize| doc.reading.word(at);
    let kind = |at: &usize| WORDS.contains(word(*at));
    let Some(no) = (sentence.start..cue).rev().find(|at| !kind(at)).filter(|at| word(*at) == "no") else {
        return false;
    };
    let said = |any_of: &[&str]| (no + 1..cue).any(|at| any_of.contains(&word(at)));
    // "No known food allergies" leaves medicines open.
    let all = said(&["drug", "medication", "medicine", "medical"]) || !said(&["food", "environmental", "seasonal"]);
    said(&["known"]) && all
}

/// Whether a sentence says so of any word of allergy.
pub(super) fn says_none_known(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>) -> bool {
    let allergy = |at: &usize| doc.reading.word(*at).starts_with("allerg");
    sentence.clone().filter(allergy).any(|at| is_none_known(doc, sentence, at))
}

/// Words by which a denial speaks of all allergies.
static ALL: WordList = WordList::listed(word_lists::ALLERGIES, "no_known_allergies.all");
/// A denial of so many words that names nothing speaks of all.
const SHORT: usize = 6;

/// Whether the denial around a word of allergy speaks of all of them: "not allergic any more", "(no alergia)" and "I have not
/// got your allergies here" speak of one, or of none.
fn is_of_all(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>, cue: usize) -> bool {
    let word = |at: usize| doc.reading.word(at);
    let said = sentence.clone().filter(|at| !doc.reading.words[*at].punctuation).count();
    let back = matches!(word(cue), "allergies" | "alergias");
    let near = cue.saturating_sub(3).max(sentence.start)..cue;
    let owned = near.clone().any(|at| matches!(word(at), "your" | "his" | "her" | "their" | "sus" | "tus" | "las"));
    let plain = back && !owned && near.clone().any(|at| crate::assertion::denies(word(at)));
    let ended = sentence.clone().any(|at| matches!(word(at), "anymore" | "more" | "longer" | "ya" | "think"));
    plain || sentence.clone().any(|at| ALL.contains(word(at))) || (said <= SHORT && !ended)
}

/// Whether a list says no more than that there is nothing, and from which word on.
pub(crate) fn says_none(doc: &AnalyzedDocument<'_>, words: Range<usize>) -> Option<usize> {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "no_known_allergies.says_none");
    let first = words.clone().find(|word| !doc.reading.words[*word].punctuation)?;
    let word = |offset: usize| doc.reading.word(first + offset);
    let none = WORDS.contains(word(0));
    let known = word(1) == "to" && word(0) == "no";
    (none && !known && words.end - first <= NONE_WORDS).then_some(first)
}
