//! How a document is laid out: the section of each sentence and the answers of the boxes of a form. Decided once, from
//! titles, lines and turns, and read by every family of rules, so that no family guesses where a title's scope ends.

mod answer_columns;
mod checkboxes;
mod section_titles;

pub(crate) use checkboxes::{BoxMark, CheckboxAnswer};
pub(crate) use section_titles::{FILE as TITLES, SectionTitles};

use super::tokenized::TokenizedText;
use anamnesis_core::coded_enum::codes;

codes!(
    /// The subject of a section, by its title.
    Section {
        Allergies = "allergies", Intolerances = "intolerances", Medications = "medications", Started = "started",
        Stopped = "stopped", Held = "held", Changed = "changed", Unchanged = "unchanged", Tried = "tried",
        History = "history", Surgical = "surgical", Family = "family", Social = "social", Exam = "exam", Labs = "labs",
        Assessment = "assessment", Differential = "differential", Plan = "plan", Warnings = "warnings",
        Vaccines = "vaccines", Antibiogram = "antibiogram", Presentation = "presentation", Risk = "risk",
    }
);

/// The layout of one document.
#[derive(Debug, Default)]
pub(crate) struct DocumentStructure {
    sections: Vec<Option<SectionPosition>>,
    boxes: Vec<Vec<CheckboxAnswer>>,
}

/// The section of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SectionPosition {
    pub(crate) section: Section,
    /// The first word of this sentence that belongs to the section: after the title where this sentence holds it.
    pub(crate) from: usize,
    /// This sentence holds the title, or is the rest of its line.
    pub(crate) on_title_line: bool,
    /// The title shared its line with its content: further lines belong to it only as items of a list.
    pub(crate) items_only: bool,
    /// The number before the title, in a form that numbers its questions.
    pub(crate) number: Option<u32>,
}

impl DocumentStructure {
    pub(crate) fn new(reading: &TokenizedText<'_>, titles: &SectionTitles) -> Self {
        // Once for the document, so that all families of rules see the same sections.
        Self { sections: titles.places(reading), boxes: checkboxes::of_all(reading) }
    }

    /// The section of a sentence.
    pub(crate) fn place(&self, sentence: usize) -> Option<SectionPosition> {
        self.sections.get(sentence).copied().flatten()
    }

    /// The section of a word, which a title's own words have not.
    pub(crate) fn section_of(&self, reading: &TokenizedText<'_>, word: usize) -> Option<Section> {
        // The words of a title are no content: "Allergies:" names none.
        self.place(reading.sentence_of(word)).filter(|place| word >= place.from).map(|place| place.section)
    }

    /// The answers of boxes to the words of a sentence.
    pub(crate) fn boxes(&self, sentence: usize) -> &[CheckboxAnswer] {
        self.boxes.get(sentence).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests;
