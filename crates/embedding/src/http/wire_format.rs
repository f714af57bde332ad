//! The abstraction over providers' wire formats.

use reqwest::Url;

use crate::{EmbedError, Purpose};
use anamnesis_config::embedding::Provider;

/// Vectors as they came, in the order of the texts, not yet checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedResponse {
    pub(crate) vectors: Vec<Vec<f32>>,
    /// Tokens that the provider counted, when it says.
    pub(crate) tokens: Option<u64>,
    /// Texts that the provider cut.
    pub(crate) truncated: usize,
}

/// One provider's request and answer.
pub(crate) trait WireFormat: Send + Sync {
    fn provider(&self) -> Provider;

    fn url(&self) -> &Url;

    /// The request's body. `plain` leaves out what a server may refuse (`encoding_format`).
    fn body(&self, purpose: Purpose, texts: &[&str], plain: bool) -> Vec<u8>;

    /// # Errors
    /// [`EmbedError::BadAnswer`] when the body is not of the contract, [`EmbedError::NotFinite`] when only a number that JSON
    /// does not have stands in the way.
    fn answer(&self, body: &[u8]) -> Result<ParsedResponse, EmbedError>;

    /// Might a refusal be about what `plain` leaves out?
    fn may_try_plain(&self) -> bool {
        false
    }

    /// A plain request passed where the other was refused: stay with plain.
    fn stay_plain(&self) {}

    /// Where a server may tell its batch limits.
    fn info_url(&self) -> Option<Url> {
        None
    }
}

/// Parses JSON; the library's error quotes values and is dropped. Python servers write `NaN` and `Infinity`, which JSON
/// does not have: that is a number that is not finite, not a server gone mad.
pub(super) fn parsed<'b, T: serde::Deserialize<'b>>(body: &'b [u8]) -> Result<T, EmbedError> {
    serde_json::from_slice(body).map_err(|error| {
        let holds = |word: &[u8]| body.windows(word.len()).any(|window| window == word);
        let not_json = error.is_syntax() && (holds(b"NaN") || holds(b"Infinity"));
        if not_json { EmbedError::NotFinite } else { EmbedError::BadAnswer }
    })
}

/// Numbers of a vector: `null` is how NaN is written by most servers, and a double beyond `f32` becomes infinite.
pub(super) fn numbers(values: Vec<Option<f64>>) -> Vec<f32> {
    values.into_iter().map(|value| value.map_or(f32::NAN, |value| value as f32)).collect()
}
