//! The reason not to take a medicine, or the possible cause of a denied complaint, is a finding itself: "avoid
//! ibuprofen because of her ulcer", "no toma aspirina por su gastritis", "niega dolor por la fractura". A denial ends
//! where a reason is given for it.

use std::ops::Range;

use super::analysis::AnalyzedDocument;
use super::{Entity, EntityType};
use crate::lexicon::word_lists::{self, WordList};

const FARTHEST: usize = 7;
static LINKS: WordList = WordList::listed(word_lists::GENERAL, "reason_clauses.links");
static STRETCH: WordList = WordList::listed(word_lists::GENERAL, "reason_clauses.stretch");
/// Words after which something may be named in general: "avoid metformin in renal failure".
const IN_GENERAL: &[&str] = &["in", "en"];
static GOES_ON: WordList = WordList::listed(word_lists::GENERAL, "reason_clauses.goes_on");

/// Removes a denial from the words after a reason.
pub(crate) fn lift_denials_of_reasons(doc: &AnalyzedDocument<'_>, entities: &mut [Entity]) {
    let complaint = |kind| matches!(kind, EntityType::Condition | EntityType::Symptom);
    let denied: Vec<(Range<usize>, bool)> = entities
        .iter()
        .filter(|entity| entity.context.negated && (complaint(entity.kind) || entity.kind == EntityType::Medication))
        .map(|entity| (doc.reading.words_at(entity.span), entity.kind == EntityType::Medication))
        .collect();
    for entity in entities.iter_mut().filter(|entity| entity.context.negated && complaint(entity.kind)) {
        let here = doc.reading.words_at(entity.span);
        if is_excepted(doc, &here) {
            entity.context.negated = false;
            continue;
        }
        let given = denied.iter().find_map(|(before, medicine)| reason(doc, before, &here, *medicine));
        match given.or_else(|| decided_for(doc, &here)) {
            Some(ReasonKind::Given) => entity.context.negated = false,
            Some(ReasonKind::InGeneral) => {
                entity.context.negated = false;
                entity.context.uncertain = true;
            }
            None => {}
        }
    }
}

enum ReasonKind {
    Given,
    InGeneral,
}

/// How the denied thing leads to the finding at `here`: by a reason, and nothing that goes on denying.
fn reason(
    doc: &AnalyzedDocument<'_>,
    denied: &Range<usize>,
    here: &Range<usize>,
    medicine: bool,
) -> Option<ReasonKind> {
    let between = denied.end..here.start;
    if denied.end > here.start || between.is_empty() || between.len() > FARTHEST {
        return None;
    }
    let has = |list: &[&str]| between.clone().any(|word| list.contains(&doc.reading.word(word)));
    // "No tos por la noche ni fiebre": the words after the reason are denied again.
    if has(&GOES_ON) || has(&STRETCH) || doc.reading.sentence_of(denied.start) != doc.reading.sentence_of(here.start) {
        return None;
    }
    // "No pain for years, no fever": a stretch of time is no reason.
    let last = doc.reading.word(here.start.checked_sub(1)?);
    match () {
        () if last == "," => None,
        () if has(&LINKS) => Some(ReasonKind::Given),
        () if medicine && IN_GENERAL.contains(&last) => Some(ReasonKind::InGeneral),
        () => None,
    }
}

/// "No chest pain except with exertion", "no seizures except one in June": the exception is present.
fn is_excepted(doc: &AnalyzedDocument<'_>, here: &Range<usize>) -> bool {
    let word = |at: usize| doc.reading.word(here.end + at);
    let from = usize::from(word(0) == ",");
    matches!(word(from), "except" | "salvo" | "excepto" | "unless")
        || matches!((word(from), word(from + 1)), ("other", "than") | ("apart", "from") | ("a", "excepcion"))
        || word(from) == "menos" && matches!(word(from + 1), "al" | "cuando" | "con" | "por")
}

const DECISION: usize = 6;
static TREATMENTS: WordList = WordList::listed(word_lists::GENERAL, "reason_clauses.treatments");
static CONTACTS: WordList = WordList::listed(word_lists::GENERAL, "reason_clauses.contacts");

/// "No betabloqueantes por asma", "no se opera por cardiopatía": a reason for a treatment that is not given. Where the
/// words between name no treatment, the finding stays uncertain.
fn decided_for(doc: &AnalyzedDocument<'_>, here: &Range<usize>) -> Option<ReasonKind> {
    let reading = doc.reading;
    let sentence = &reading.sentences[reading.sentence_of(here.start)].words;
    let article = |word: &usize| matches!(reading.word(*word), "su" | "la" | "el" | "una" | "un" | "sus");
    let link = (sentence.start..here.start).rev().find(|word| !article(word))?;
    if reading.word(link) != "por" {
        return None;
    }
    let from = sentence.start.max(link.saturating_sub(DECISION));
    let denial = (from..link).rev().find(|word| matches!(reading.word(*word), "no" | "sin" | "evitar" | "tampoco"))?;
    let between: Vec<&str> = (denial + 1..link).map(|word| reading.word(word)).collect();
    let any = |stems: &[&str]| between.iter().any(|word| stems.iter().any(|stem| word.starts_with(stem)));
    let parted = (denial + 1..link).any(|word| reading.words[word].punctuation);
    match () {
        () if between.is_empty() || parted || any(&CONTACTS) && !any(&TREATMENTS) => None,
        () if any(&TREATMENTS) => Some(ReasonKind::Given),
        () => Some(ReasonKind::InGeneral),
    }
}

#[cfg(test)]
mod tests {
    use crate::{ExtractionInput, Extractor};
    use anamnesis_text::{Document, Language};

    static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);

    /// Whether a condition or symptom is denied, and whether it is certain.
    fn said(text: &str, name: &str) -> (bool, bool) {
        let found = EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown))).entities;
        let one = found.iter().find(|entity| entity.value == name).unwrap_or_else(|| panic!("{text}: {found:?}"));
        (one.context.negated, !one.context.uncertain)
    }

    #[test]
    fn what_a_medicine_is_not_taken_for_is_there() {
        for (text, name) in [
            ("Evitar naproxeno por úlcera gástrica.", "peptic ulcer"),
            ("No toma clopidogrel por su gastritis.", "gastritis"),
            ("No metformin given renal failure.", "chronic kidney disease"),
            ("Sin anticonceptivos por migraña con aura.", "migraine with aura"),
            ("Niega cefalea por la sinusitis.", "sinusitis"),
        ] {
            assert_eq!(said(text, name), (false, true), "{text}");
        }
        assert_eq!(said("Evitar metformina en insuficiencia renal.", "chronic kidney disease"), (false, false));
    }

    #[test]
    fn what_is_denied_with_an_exception_is_there() {
        for (text, name) in [
            ("No palpitations except on stairs.", "palpitations"),
            ("Sin cefalea salvo al toser.", "headache"),
            ("No seizures other than one in May.", "seizures"),
        ] {
            assert_eq!(said(text, name), (false, true), "{text}");
        }
    }

    #[test]
    fn a_list_after_one_denial_is_denied_whatever_lies_between() {
        for (text, name) in [
            ("No chest pain for three weeks or dyspnoea.", "shortness of breath"),
            ("Niega fiebre por la noche ni tos.", "cough"),
            ("No fever, cough, headache.", "headache"),
            ("No aspirin, no asthma.", "asthma"),
        ] {
            assert!(said(text, name).0, "{text}");
        }
    }
}
