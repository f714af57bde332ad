//! Allergies and intolerances in so many words: "allergic to penicillin", "penicillin allergy", "intolerante a la lactosa".

use std::ops::Range;

use super::no_known_allergies::says_none_known;
use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyRules, LONGEST_ANSWER};
use crate::Temporality;
use crate::analysis::AnalyzedDocument;
use anamnesis_text::Speaker;

/// Words between a substance that is named first and the word for its effect.
const FRONTED: usize = 4;
/// Words between a substance that is not given and the reason for it.
const REASON: usize = 4;

impl AllergyRules {
    /// "Allergic to penicillin", "penicillin allergy", "Alergias: penicilina", "intolerante a la lactosa", "sin alergias".
    pub(super) fn stated(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let words = doc.reading.sentences[index].words.clone();
        if doc.is_dialogue()
            && doc.question_answers.asks(index)
            && doc.reading.sentences[index].speaker != Speaker::Patient
        {
            return;
        }
        let mut cues: Vec<(Range<usize>, AllergyFrame)> = Vec::new();
        let mut word = words.start;
        while word < words.end {
            let allergic = self.allergic.at(doc.reading, word).map(|hit| (hit.words, AllergyFrame::Allergy));
            let hit = allergic
                .or_else(|| self.intolerant.at(doc.reading, word).map(|hit| (hit.words, AllergyFrame::Intolerance)));
            word = hit.as_ref().map_or(word + 1, |(cue, _)| cue.end);
            cues.extend(hit);
        }
        let mut found = false;
        for (nth, (cue, frame)) in cues.iter().enumerate() {
            let end = cues.get(nth + 1).map_or(words.end, |(next, _)| next.start);
            let from = nth.checked_sub(1).map_or(words.start, |before| cues[before].0.end);
            if self.given_as_reason(doc, index, cue, *frame, (from..end, substances), out) {
                found = true;
                continue;
            }
            found |= self.named_with(doc, index, cue, *frame, (from..end, substances), out);
        }
        if !found || says_none_known(doc, &words) {
            self.none_in_words(doc, index, out);
        }
    }

    /// "No penicilina por alergia", "no contraste por alergia al yodo": a denial ends where the allergy is given as its reason.
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn given_as_reason(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        cue: &Range<usize>,
        frame: AllergyFrame,
        (within, substances): (Range<usize>, &[AllergenMention]),
        out: &mut AllergyFindings,
    ) -> bool {
        let reading = doc.reading;
        let first = doc.reading.sentences[index].words.start;
        let article =
            |word: &usize| matches!(reading.word(*word), "su" | "una" | "an" | "a" | "the" | "her" | "his" | "la");
        let Some(link) = (first..cue.start).rev().find(|word| !article(word)) else { return false };
        let gives = match reading.word(link) {
            "por" | "given" => true,
            "to" => link > first && matches!(reading.word(link - 1), "due" | "owing"),
            "of" => link > first && reading.word(link - 1) == "because",
            "a" => link > first && reading.word(link - 1) == "debido",
            _ => false,
        };
        let after: Vec<AllergenMention> = substances.iter().filter(|s| s.words.start >= cue.start).cloned().collect();
        let mut named = self.governed(doc, cue.end..within.end, &after);
        // The denied substance is the cause, unless a cause is named after.
        let denied = |s: &&AllergenMention| {
            s.words.end <= link && link - s.words.end <= REASON && doc.scopes.mention_context(reading, &s.words).negated
        };
        if named.is_empty() {
            named.extend(substances.iter().rfind(denied).cloned());
        } else if !doc.scopes.mention_context(reading, &named[0].words).negated {
            return false;
        }
        for substance in named.iter().filter(|_| gives) {
            let Some(mut assertion) = doc.assertion(index, &substance.words) else { continue };
            assertion.context.negated = false;
            self.push(doc, substance, &assertion, frame, out);
        }
        gives && !named.is_empty()
    }

    /// The substances that one cue governs; whether there are any.
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn named_with(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        cue: &Range<usize>,
        frame: AllergyFrame,
        (within, substances): (Range<usize>, &[AllergenMention]),
        out: &mut AllergyFindings,
    ) -> bool {
        let here: Vec<AllergenMention> =
            substances.iter().filter(|s| s.words.start >= within.start && s.words.end <= within.end).cloned().collect();
        let mut compound = before_cue(doc, &here, cue);
        let after: Vec<AllergenMention> = here.iter().filter(|s| s.words.start >= cue.start).cloned().collect();
        let mut governed = self.governed(doc, cue.end..within.end, &after);
        // "No alergia a metamizol alergia a aspirina": a head that names its object does not take the name before it.
        if !governed.is_empty() && matches!(doc.reading.word(cue.end - 1), "a" | "al" | "to" | "la" | "las" | "los") {
            compound.clear();
        }
        // "Statin intolerance (myalgia on …)": another statement follows.
        if !compound.is_empty() && !matches!(doc.reading.word(cue.end), ":" | "," | "and" | "y" | ";") {
            governed.clear();
        }
        // "Penicillin allergy": the substance comes right before.
        governed.extend(compound);
        if governed.is_empty() {
            // "A la aspirina soy alérgico": named first.
            let fronted = |s: &&AllergenMention| {
                let to = |offset: usize| matches!(doc.reading.word(s.words.start.wrapping_sub(offset)), "a" | "al");
                s.words.end <= cue.start && cue.start - s.words.end <= FRONTED && (to(1) || to(2))
            };
            governed.extend(here.iter().filter(fronted).cloned());
        }
        if governed.is_empty() {
            governed.extend(self.unknown_substance(doc, cue));
        }
        if governed.is_empty() {
            return false;
        }
        self.take_alongside(doc, index, &governed, cue, frame, out);
        true
    }

    /// "I have no allergies. The penicillin thing was when I was little.": the sentence after one about allergies, which
    /// names a substance and speaks of nothing that is taken.
    pub(super) fn goes_on(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        let previous = index.checked_sub(1).map(|before| &doc.reading.sentences[before]);
        let Some(previous) = previous.filter(|previous| previous.turn.is_some() && previous.turn == sentence.turn)
        else {
            return;
        };
        let about = |words: &Range<usize>| self.first(&self.asks, doc, words).is_some();
        let dosed = sentence.words.clone().any(|word| doc.reading.word(word).bytes().any(|b| b.is_ascii_digit()));
        let brief = sentence.words.len() <= LONGEST_ANSWER && !dosed && !sentence.question;
        let word = |offset: usize| doc.reading.word(sentence.words.start + offset);
        let refers = matches!((word(0), word(1)), ("lo" | "eso" | "la" | "esa", "de" | "del")) || word(2) == "thing";
        let past = |s: &AllergenMention| {
            doc.scopes.mention_context(doc.reading, &s.words).temporality == Temporality::Historical
        };
        if brief
            && (refers || substances.iter().any(past))
            && about(&previous.words)
            && !about(&sentence.words)
            && !self.speaks_of_taking(doc, index)
        {
            self.take(doc, index, substances, AllergyFrame::Allergy, out);
        }
    }
}

/// "Penicillin allergy", "nut allergies", "lactose and gluten intolerant", "alergia alimentaria a": the substance right
/// before the word, and what is joined to it by "and".
fn before_cue(doc: &AnalyzedDocument<'_>, substances: &[AllergenMention], cue: &Range<usize>) -> Vec<AllergenMention> {
    let mut out: Vec<AllergenMention> = Vec::new();
    let mut end = cue.start;
    for substance in substances.iter().rev().filter(|s| s.words.end <= cue.start) {
        let between = substance.words.end..end;
        let joined =
            between.clone().all(|word| matches!(doc.reading.word(word), "and" | "or" | "/" | "&" | "," | "y" | "\""));
        if !joined || (end == cue.start && between.clone().any(|word| doc.reading.word(word) != "\"")) {
            break;
        }
        end = substance.words.start;
        out.push(substance.clone());
    }
    out
}
