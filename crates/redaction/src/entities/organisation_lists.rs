//! Head words of organisations, and words that name none.

use crate::word_tables::{self, WordList};

/// Spanish: the head word comes first.
pub(crate) static FIRST: WordList = WordList::listed(word_tables::ENTITIES, "organisation_lists.first");

/// English: the head word comes last, as with [`TRADES`].
pub(crate) static LAST: WordList = WordList::listed(word_tables::ENTITIES, "organisation_lists.last");

/// Words that name nothing if they are alone with a head word: "Hospital General", "Clinic Note", "Hospital Course".
pub(crate) static GENERIC: WordList = WordList::listed(word_tables::ENTITIES, "organisation_lists.generic");

/// Head words that are also ordinary words: "Knee Surgery" is no organisation, "Larkhill Surgery" is one.
pub(crate) static TRADES: WordList = WordList::listed(word_tables::ENTITIES, "organisation_lists.trades");

/// Specialties: "Piedmont Endoscopy" is an organisation, "Pediatric Cardiology" is none.
pub(crate) static SPECIALTIES: WordList = WordList::listed(word_tables::ENTITIES, "organisation_lists.specialties");

/// Well-known initials of organisations.
pub(crate) static INITIALS: WordList = WordList::listed(word_tables::ENTITIES, "organisation_lists.initials");

/// Well-known chains and employers, by a word with no other meaning.
pub(crate) static CHAINS: WordList = WordList::listed(word_tables::ENTITIES, "organisation_lists.chains");
