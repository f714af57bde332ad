//! The lists that a deployment may extend, by the names under which their files say so.

use super::{ALLERGENS, CLINICAL, DRUGS, REACTIONS};
use crate::assertion::Cues;
use crate::{events, facts, hypotheses, measurements, sentiment};
use anamnesis_core::coded_enum::codes;

codes!(
    LexiconList {
        Clinical = "clinical", Drugs = "drugs", Allergens = "allergens", Reactions = "reactions", Facts = "facts",
        Measurements = "measurements", Events = "events", Appointments = "appointments",
        Cues = "cues", Themes = "themes", Sentiment = "sentiment", Patterns = "patterns",
    }
);

/// How the rows of a list are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowShape {
    /// `group TAB name TAB code-or-dash TAB phrases`.
    Concepts,
    /// `label TAB phrases`.
    Labels,
    /// `category TAB direction TAB reach TAB flags TAB phrases`.
    Cues,
}

impl LexiconList {
    /// The rows that are built into the program.
    pub(crate) fn files(self) -> &'static [&'static str] {
        match self {
            Self::Clinical => CLINICAL,
            Self::Drugs => DRUGS,
            Self::Allergens => ALLERGENS,
            Self::Reactions => REACTIONS,
            Self::Facts => &[facts::FILE],
            Self::Measurements => &[measurements::FILE],
            Self::Events => events::FILES,
            Self::Appointments => &[events::APPOINTMENTS],
            Self::Cues => Cues::FILES,
            Self::Themes => &[sentiment::THEMES],
            Self::Sentiment => &[sentiment::FEELINGS],
            Self::Patterns => &[hypotheses::FILE],
        }
    }

    pub(crate) fn shape(self) -> RowShape {
        match self {
            Self::Clinical | Self::Drugs | Self::Allergens | Self::Reactions | Self::Facts => RowShape::Concepts,
            Self::Measurements | Self::Events | Self::Appointments => RowShape::Concepts,
            Self::Themes | Self::Sentiment | Self::Patterns => RowShape::Labels,
            Self::Cues => RowShape::Cues,
        }
    }

    /// Whether a row of an extension may begin with this. The vocabularies are closed: an extension adds words for
    /// known concepts. Classes of medicines are compared by the built-in list alone.
    pub(crate) fn knows(self, first: &str) -> bool {
        let lines = self.files().iter().flat_map(|file| file.lines()).filter(|line| !line.starts_with('#'));
        let known = lines.filter_map(|line| line.split_once('\t')).any(|(field, _)| field == first);
        known && !(self == Self::Drugs && first == "class")
    }
}
