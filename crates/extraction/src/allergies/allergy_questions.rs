//! Questions about allergies, and what answers them.

use super::topic::AllergyTopic;
use super::{
    AllergenMention, AllergyFindings, AllergyFrame, AllergyRules, ELLIPSIS, LONGEST_ANSWER, SHORT_QUESTION, TOPIC_TURNS,
};
use crate::analysis::AnalyzedDocument;
use crate::dialogue::{DialogueRules, Polarity};
use crate::medication::SentenceDrugs;
use crate::structure::Section;
use crate::tokenized::TextSentence;
use anamnesis_text::Speaker;

impl AllergyRules {
    /// Questions about allergies and what answers them.
    #[allow(clippy::too_many_arguments)] // one sentence and all that is known of it
    pub(super) fn asked(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        dialogue: &DialogueRules,
        (substances, names_more): (&[AllergenMention], bool),
        asks_allergy: bool,
        topic: &mut AllergyTopic,
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        let Some(turn) = sentence.turn else {
            if sentence.question && asks_allergy {
                topic.line = Some(topic.here);
            } else if topic.answers_line() && !self.speaks_of_taking(doc, index) && !is_of_medicines(doc, index) {
                let frame = AllergyFrame::Allergy;
                let near = self.governed(doc, sentence.words.clone(), substances);
                if sentence.words.len() <= LONGEST_ANSWER {
                    self.take(doc, index, &near, frame, out);
                }
            }
            return;
        };
        let asked = doc.question_answers.asks(index);
        let asker = topic.asked.filter(|(since, _)| turn <= since + TOPIC_TURNS).map(|(_, asker)| asker);
        if asked && asks_allergy && sentence.speaker != Speaker::Patient {
            let named = substances.is_empty() && names_more;
            let none = !named && self.none_answered(doc, index, substances, out);
            self.put_to(doc, index, dialogue, substances, out);
            topic.asked = (!none).then_some((turn, sentence.speaker));
        } else if !asked && asker == Some(sentence.speaker) && sentence.speaker != Speaker::Patient {
            self.put_to(doc, index, dialogue, substances, out);
        } else if asked && asker == Some(sentence.speaker) {
            let about = self.still_about(doc, index, substances);
            if about {
                self.confirmed(doc, index, substances, out);
                self.put_to(doc, index, dialogue, substances, out);
            }
            topic.asked = topic.asked.filter(|_| about);
        } else if !asked && asker.is_some_and(|asker| asker != sentence.speaker) && !self.speaks_of_taking(doc, index) {
            let denies = dialogue.polarity(doc.reading, sentence) == Polarity::No && substances.len() != 1;
            let brief = sentence.words.len() <= LONGEST_ANSWER || asks_allergy;
            // "No, a la aspirina no, al Nolotil": the denied substance was asked about, the next one is the answer.
            if brief && (!denies || substances.len() == 2) {
                let near = self.governed(doc, sentence.words.clone(), substances);
                self.take(doc, index, &near, AllergyFrame::Allergy, out);
            } else if !denies {
                self.find_in_long_answer(doc, index, substances, out);
            }
        }
    }

    /// Whether the asker's next question stays with allergies: a short one that names a substance or asks for more of them
    /// ("Ciprofloxacin?", "Are you sure?", "Anything else?"), or one about the reaction. "Are you still taking Zoloft?" and
    /// "And for sleep?" have left them.
    fn still_about(&self, doc: &AnalyzedDocument<'_>, index: usize, substances: &[AllergenMention]) -> bool {
        const MORE: &[&str] = &[
            "sure", "segur", "else", "mas", "otr", "other", "anything", "any", "cual", "which", "alerg", "allerg",
            "food", "aliment", "comida", "medic", "drug", "farmac", "latex", "insect", "animal", "polen", "pollen",
            "picad", "sting", "happen", "pasa", "paso", "ocurr", "reacc", "react", "symptom", "sintom",
        ];
        /// "To what?", "¿A qué?", "¿Desde cuándo?"
        const QUESTION: usize = 4;
        let words = &doc.reading.sentences[index].words;
        let said = |at: usize| doc.reading.word(at);
        let reaction = self.first(&self.what_happens, doc, words).is_some();
        let more = words.clone().any(|at| MORE.iter().any(|stem| said(at).starts_with(stem)));
        let asks = |word: &str| matches!(word, "what" | "que" | "when" | "cuando" | "how" | "como" | "who" | "quien");
        let plain = words.clone().filter(|at| !doc.reading.words[*at].punctuation).count();
        let brief = plain < QUESTION && words.clone().any(|at| asks(said(at)));
        let named = !substances.is_empty() || more || brief;
        reaction || (words.len() <= SHORT_QUESTION && named && !self.speaks_of_taking(doc, index))
    }

    /// "Ciprofloxacin?" — "Yes!": the asker names it, the other confirms it.
    fn confirmed(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        // "Did they give you antibiotics?" speaks of something else; "Ciprofloxacin?" does not.
        let named: usize = substances.iter().map(|substance| substance.words.len()).sum();
        let elliptic = sentence.words.len() <= named + ELLIPSIS;
        let confirmed =
            elliptic && doc.question_answers.answer(index).is_some_and(|answer| answer.polarity != Polarity::Other);
        let reaction = self.first(&self.what_happens, doc, &sentence.words).is_some();
        if confirmed && !reaction {
            self.take(doc, index, substances, AllergyFrame::Allergy, out);
        }
    }
}

/// Words of a sentence that puts a substance to someone ("it says amoxicillin here").
const PUT: usize = 14;

impl AllergyRules {
    /// Whether the asker goes on in the same turn and names a substance: "any allergies? It says amoxicillin here".
    pub(super) fn names_more(&self, doc: &AnalyzedDocument<'_>, index: usize, drugs: &[SentenceDrugs]) -> bool {
        let here = &doc.reading.sentences[index];
        let more = doc.reading.sentences.iter().enumerate().skip(index + 1);
        let mut more = more.take_while(|(_, next)| next.turn == here.turn && next.turn.is_some());
        more.any(|(next, _)| !self.named_substances(doc, next, drugs).is_empty())
    }

    /// A substance that the asker names, and the reply: "it says amoxicillin here" — "no, that was my brother"; "and
    /// Ceclor, hives as a toddler" is complete.
    fn put_to(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        dialogue: &DialogueRules,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentences = &doc.reading.sentences;
        let here = &sentences[index];
        if substances.is_empty() || here.words.len() > PUT || self.speaks_of_taking(doc, index) {
            return;
        }
        let reply = sentences.iter().enumerate().skip(index + 1).find(|(_, next)| next.turn != here.turn);
        let near = |next: &TextSentence| next.turn.zip(here.turn).is_some_and(|(next, here)| next == here + 1);
        let Some((at, reply)) = reply.filter(|(_, next)| near(next) && next.speaker != here.speaker) else { return };
        let owned = sentences
            .iter()
            .skip(at)
            .take_while(|next| next.turn == reply.turn)
            .take(2)
            .any(|next| substances.iter().any(|s| self.owner(doc, &next.words, &s.words).is_some()));
        let polarity = dialogue.polarity(doc.reading, reply);
        for substance in substances {
            if out.taken.contains(&substance.words.start) {
                continue;
            }
            let mentioned = self.reactions.find(doc.reading, substance.words.end..here.words.end).into_iter().next();
            let mentioned = mentioned.is_some_and(|r| r.words.start <= substance.words.end + 4)
                && !doc.question_answers.asks(index);
            if !(owned || mentioned || polarity == Polarity::Yes && here.words.len() <= PUT) {
                continue;
            }
            let mut assertion = doc.answered(index, at, &substance.words);
            assertion.context.experiencer = crate::Experiencer::Patient;
            assertion.confidence = 0.75;
            self.push(doc, substance, &assertion, AllergyFrame::Allergy, out);
        }
    }
}

/// Whether a sentence is under a title of medicines: no answer to a question about allergies above.
fn is_of_medicines(doc: &AnalyzedDocument<'_>, index: usize) -> bool {
    doc.structure.place(index).is_some_and(|place| place.section == Section::Medications)
}
