//! Lists of allergens under a title ("Allergies:", "ALERGIAS" on a line alone), and where they are left.

use super::{AllergenMention, AllergyFrame, AllergyRules};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::structure::Section;

/// Words between a label inside the list ("Foods:", "Otras:") and its items.
const LABELLED: usize = 5;

fn is_label(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "lists.is_label");
    WORDS.contains(word)
}

/// The list that is open.
#[derive(Default)]
pub(super) struct OpenList {
    /// The frame of its title.
    frame: Option<AllergyFrame>,
    /// A sentence listed current medicines: the rest of its line goes on with them.
    pub(super) left: bool,
    /// Where the sentence before ended.
    end: usize,
}

/// A list of allergens under a title.
pub(super) struct AllergenList {
    /// The first word after the title.
    pub(crate) from: usize,
    pub(crate) frame: AllergyFrame,
}

impl AllergyRules {
    /// Whether a sentence lists allergens under a title, and from which word. A sentence that says what someone takes
    /// has left the list, and so has the rest of its line. A line that begins with a substance goes on with the list,
    /// although it looks like a title ("Penicillin: rash").
    pub(super) fn listed(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        open: &mut OpenList,
    ) -> Option<AllergenList> {
        let sentence = &doc.reading.sentences[index];
        let feeds = doc.text().get(open.end..sentence.span.start).map_or(0, |gap| gap.matches('\n').count());
        open.end = sentence.span.end;
        let frame = doc.structure.place(index).and_then(|place| match place.section {
            Section::Allergies => Some((AllergyFrame::Allergy, place.from)),
            Section::Intolerances => Some((AllergyFrame::Intolerance, place.from)),
            _ => None,
        });
        let goes_on = || {
            let first = substances.first()?.words.clone();
            // "Kiwi y melocotón: prurito": the sign comes after the last of those that are joined.
            let sign = |end: usize| matches!(doc.reading.word(end), ":" | "-" | "–" | "(" | "→");
            let joined = |s: &&AllergenMention| s.words.start <= first.end + 1 || s.words.start == first.start;
            let leads = first.start <= sentence.words.start + 2
                && substances.iter().take_while(joined).any(|s| sign(s.words.end));
            let labelled =
                is_label(doc.reading.word(sentence.words.start)) && first.start <= sentence.words.start + LABELLED;
            (feeds <= 1 && (leads || labelled)).then_some((open.frame?, sentence.words.start))
        };
        let titled = frame.is_some();
        let found = frame.or_else(goes_on);
        open.frame = found.map(|(frame, _)| frame);
        let (frame, from) = found?;
        if feeds > 0 || (titled && from > sentence.words.start) {
            open.left = false;
        }
        open.left |= self.speaks_of_dose(doc, index, from);
        let in_list = sentence.turn.is_none() && !open.left && from < sentence.words.end;
        in_list.then_some(AllergenList { from, frame })
    }

    /// A sentence after the title that begins with what someone takes.
    fn speaks_of_dose(&self, doc: &AnalyzedDocument<'_>, index: usize, from: usize) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "lists.speaks_of_dose");
        let sentence = &doc.reading.sentences[index];
        let first = from.max(sentence.words.start);
        (first..sentence.words.end.min(first + 3)).any(|word| WORDS.contains(doc.reading.word(word)))
    }
}
