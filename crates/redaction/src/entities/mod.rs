//! Layer three: names, places, organisations, addresses, dates, ages — structural rules and dictionaries. A learned
//! recogniser joins here as one more `find`.

mod addresses;
mod ages;
mod called;
mod cue_lists;
pub(super) mod cues;
mod dates;
pub(super) mod deeds;
mod demographics;
mod eponym_lists;
pub(super) mod eponyms;
pub(super) mod gates;
pub mod gazetteer;
mod headers;
mod informal;
pub mod lexicon;
mod lower_case;
mod named_houses;
pub(super) mod organisation_lists;
mod organisations;
mod persons;
mod place_lists;
mod places;
pub(super) mod propagate;
mod said_days;
pub(crate) mod set_phrases;
mod spoken_of;
mod towns;
pub(super) mod trade;
pub mod traits;
mod vicinity;
pub(crate) mod words;

pub(super) use dates::{FIGURES, ROUND_THE_CLOCK};
pub use place_lists::is_country_name as is_country;

use super::context::Context;
use super::finding::Finding;
use crate::deadline;

/// The compiled recognisers of this layer.
pub(crate) struct Entities {
    places: places::Places,
    headers: headers::Headers,
}

impl Entities {
    pub(crate) fn builtin() -> Self {
        Self { places: places::Places::builtin(), headers: headers::Headers::builtin() }
    }

    pub(crate) fn find(&self, context: &Context<'_>, found: &mut Vec<Finding>) {
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
        called::find(context, found);
        deadline::check();
        towns::find(context, found);
        deadline::check();
        named_houses::find(context, found);
        deadline::check();
        vicinity::find(context, found);
        deadline::check();
        self.places.find(context, found);
        deadline::check();
    }
}

#[cfg(test)]
mod tests;
