//! The words of [`super::cues`]: what announces a name, and what never is a part of one.

use crate::word_tables::{self, WordList};

pub(crate) static TITLES: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.titles");
/// Words before a name that is said or written as one.
pub(crate) static CUES: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.cues");
/// Relations, whose word stays and whose name goes.
pub(crate) static RELATIONS: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.relations");
/// Roles with respect to a patient, before a colon or a bracket: "Interpreter (Farida)".
pub(crate) static ROLES: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.roles");
/// Verbs with a person whose name follows: two words, or one with a direct object. The name is capitalised or a first
/// name.
pub(crate) static MEETINGS: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.meetings");
pub(crate) static PARTICLES: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.particles");
/// Never a part of a name in lower case, whatever the lists contain.
pub(crate) static FUNCTION: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.function");

/// Verbs that open a sentence of a note, in the third person, and words that open speech. They are no name, even where
/// they are capitalised. Own list.
pub(crate) static OPENERS: WordList = WordList::listed(word_tables::ENTITIES, "cue_lists.openers");
