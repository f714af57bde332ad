//! Allergies and intolerances in so many words: "allergic to penicillin", "penicillin allergy", "intolerante a la lactosa".

use std::ops::Range;

use super::none::says_none_known;
use super::{Allergies, AllergyRules, Frame, LONGEST_ANSWER, Substance};
use crate::Temporality;
use crate::scene::Scene;
use anamnesis_text::Speaker;

/// Words between a substance that is named first and the word that says what it does.
const FRONTED: usize = 4;
/// Words between what is not given and the reason for it.
const REASON: usize = 4;

impl AllergyRules {
    /// "Allergic to penicillin", "penicillin allergy", "Alergias: penicilina", "intolerante a la lactosa", "sin alergias".
    pub(super) fn stated(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let words = scene.reading.sentences[index].words.clone();
        if scene.is_dialogue()
            && scene.exchanges.asks(index)
            && scene.reading.sentences[index].speaker != Speaker::Patient
        {
            return;
        }
        let mut cues: Vec<(Range<usize>, Frame)> = Vec::new();
        let mut word = words.start;
        while word < words.end {
            let allergic = self.allergic.at(scene.reading, word).map(|hit| (hit.words, Frame::Allergy));
            let hit =
                allergic.or_else(|| self.intolerant.at(scene.reading, word).map(|hit| (hit.words, Frame::Intolerance)));
            word = hit.as_ref().map_or(word + 1, |(cue, _)| cue.end);
            cues.extend(hit);
        }
        let mut found = false;
        for (nth, (cue, frame)) in cues.iter().enumerate() {
            let end = cues.get(nth + 1).map_or(words.end, |(next, _)| next.start);
            let from = nth.checked_sub(1).map_or(words.start, |before| cues[before].0.end);
            if self.given_as_reason(scene, index, cue, *frame, (from..end, substances), out) {
                found = true;
                continue;
            }
            found |= self.named_with(scene, index, cue, *frame, (from..end, substances), out);
        }
        if !found || says_none_known(scene, &words) {
            self.none_in_words(scene, index, out);
        }
    }

    /// "No penicilina por alergia", "no contraste por alergia al yodo": a denial ends where the allergy is given as its reason.
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn given_as_reason(
        &self,
        scene: &Scene<'_>,
        index: usize,
        cue: &Range<usize>,
        frame: Frame,
        (within, substances): (Range<usize>, &[Substance]),
        out: &mut Allergies,
    ) -> bool {
        let reading = scene.reading;
        let first = scene.reading.sentences[index].words.start;
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
        let after: Vec<Substance> = substances.iter().filter(|s| s.words.start >= cue.start).cloned().collect();
        let mut named = self.governed(scene, cue.end..within.end, &after);
        // What is denied is what causes it, unless that is named behind.
        let denied = |s: &&Substance| {
            s.words.end <= link && link - s.words.end <= REASON && scene.contexts.of(reading, &s.words).negated
        };
        if named.is_empty() {
            named.extend(substances.iter().rfind(denied).cloned());
        } else if !scene.contexts.of(reading, &named[0].words).negated {
            return false;
        }
        for substance in named.iter().filter(|_| gives) {
            let Some(mut stance) = scene.stance(index, &substance.words) else { continue };
            stance.context.negated = false;
            self.push(scene, substance, &stance, frame, out);
        }
        gives && !named.is_empty()
    }

    /// The substances that one cue governs; whether there are any.
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn named_with(
        &self,
        scene: &Scene<'_>,
        index: usize,
        cue: &Range<usize>,
        frame: Frame,
        (within, substances): (Range<usize>, &[Substance]),
        out: &mut Allergies,
    ) -> bool {
        let here: Vec<Substance> =
            substances.iter().filter(|s| s.words.start >= within.start && s.words.end <= within.end).cloned().collect();
        let mut compound = before_cue(scene, &here, cue);
        let after: Vec<Substance> = here.iter().filter(|s| s.words.start >= cue.start).cloned().collect();
        let mut governed = self.governed(scene, cue.end..within.end, &after);
        // "No alergia a metamizol alergia a aspirina": a head that names its object does not take the name before it.
        if !governed.is_empty() && matches!(scene.reading.word(cue.end - 1), "a" | "al" | "to" | "la" | "las" | "los") {
            compound.clear();
        }
        // "Statin intolerance (myalgia on …)": what follows is another matter.
        if !compound.is_empty() && !matches!(scene.reading.word(cue.end), ":" | "," | "and" | "y" | ";") {
            governed.clear();
        }
        // "Penicillin allergy": the substance stands right before.
        governed.extend(compound);
        if governed.is_empty() {
            // "A la aspirina soy alérgico": named first.
            let fronted = |s: &&Substance| {
                let to = |offset: usize| matches!(scene.reading.word(s.words.start.wrapping_sub(offset)), "a" | "al");
                s.words.end <= cue.start && cue.start - s.words.end <= FRONTED && (to(1) || to(2))
            };
            governed.extend(here.iter().filter(fronted).cloned());
        }
        if governed.is_empty() {
            governed.extend(self.unknown_substance(scene, cue));
        }
        if governed.is_empty() {
            return false;
        }
        self.take_beside(scene, index, &governed, cue, frame, out);
        true
    }

    /// "I have no allergies. The penicillin thing was when I was little.": the sentence after one about allergies, which
    /// names a substance and tells of nothing that is taken.
    pub(super) fn goes_on(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let previous = index.checked_sub(1).map(|before| &scene.reading.sentences[before]);
        let Some(previous) = previous.filter(|previous| previous.turn.is_some() && previous.turn == sentence.turn)
        else {
            return;
        };
        let about = |words: &Range<usize>| self.first(&self.asks, scene, words).is_some();
        let dosed = sentence.words.clone().any(|word| scene.reading.word(word).bytes().any(|b| b.is_ascii_digit()));
        let brief = sentence.words.len() <= LONGEST_ANSWER && !dosed && !sentence.question;
        let word = |offset: usize| scene.reading.word(sentence.words.start + offset);
        let refers = matches!((word(0), word(1)), ("lo" | "eso" | "la" | "esa", "de" | "del")) || word(2) == "thing";
        let past = |s: &Substance| scene.contexts.of(scene.reading, &s.words).temporality == Temporality::Historical;
        if brief
            && (refers || substances.iter().any(past))
            && about(&previous.words)
            && !about(&sentence.words)
            && !self.tells_of_taking(scene, index)
        {
            self.take(scene, index, substances, Frame::Allergy, out);
        }
    }
}

/// "Penicillin allergy", "nut allergies", "lactose and gluten intolerant", "alergia alimentaria a": what stands right before
/// the word, and what is joined to that by "and".
fn before_cue(scene: &Scene<'_>, substances: &[Substance], cue: &Range<usize>) -> Vec<Substance> {
    let mut out: Vec<Substance> = Vec::new();
    let mut end = cue.start;
    for substance in substances.iter().rev().filter(|s| s.words.end <= cue.start) {
        let between = substance.words.end..end;
        let joined =
            between.clone().all(|word| matches!(scene.reading.word(word), "and" | "or" | "/" | "&" | "," | "y" | "\""));
        if !joined || (end == cue.start && between.clone().any(|word| scene.reading.word(word) != "\"")) {
            break;
        }
        end = substance.words.start;
        out.push(substance.clone());
    }
    out
}
