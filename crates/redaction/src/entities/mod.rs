//! Layer three: names, places, organisations, addresses, dates, ages — structural rules and dictionaries. A learned
//! recogniser joins here as one more `find`.

mod addresses;
mod ages;
pub(crate) mod allowlist;
mod cue_lists;
pub(super) mod cues;
mod dates;
mod demographics;
mod eponym_lists;
pub(super) mod eponyms;
pub mod gazetteer;
mod headers;
mod informal;
pub mod lexicon;
mod name_context;
mod named_organisations;
pub(super) mod organisation_lists;
mod organisations;
pub(super) mod person_verbs;
mod persons;
mod place_lists;
mod places;
pub(super) mod post_filter;
pub(super) mod prefilter;
pub(super) mod propagate;
mod spoken_dates;
mod towns;
mod uncased_names;
mod vicinity;
mod vocatives;
pub mod word_classes;
pub(crate) mod words;

pub(super) use dates::{FIGURES, ROUND_THE_CLOCK};
pub use place_lists::is_country_name as is_country;

use super::document::DocumentContext;
use super::finding::PiiFinding;
use crate::deadline;

/// The compiled recognisers of this layer.
pub(crate) struct Entities {
    places: places::PlaceRecogniser,
    headers: headers::FormHeaders,
}

impl Entities {
    pub(crate) fn builtin() -> Self {
        // The other recognisers have no state: their tables are statics of their files.
        Self { places: places::PlaceRecogniser::builtin(), headers: headers::FormHeaders::builtin() }
    }

    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        // The limit is checked between recognisers. When it was read only after the work, one pathological text
        // occupied its thread for all of them.
        self.headers.find(context, found);
        deadline::check();
        dates::find(context, found);
        deadline::check();
        ages::find(context, found);
        deadline::check();
        demographics::find(context, found);
        deadline::check();
        addresses::find(context, found);
        deadline::check();
        organisations::find(context, found);
        deadline::check();
        persons::find(context, found);
        deadline::check();
        informal::find(context, found);
        deadline::check();
        vocatives::find(context, found);
        deadline::check();
        towns::find(context, found);
        deadline::check();
        named_organisations::find(context, found);
        deadline::check();
        vicinity::find(context, found);
        deadline::check();
        self.places.find(context, found);
        deadline::check();
    }
}

#[cfg(test)]
mod tests;
