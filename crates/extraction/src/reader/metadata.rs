//! The numbers of the file's metadata.

use std::str::FromStr;

use super::{ReaderError, ReaderLabels};
use anamnesis_neural::file::TensorFile;

/// Most of anything that metadata counts: more is a broken file, not a larger model.
const MOST: usize = 1 << 16;

/// The metadata of a reader's file.
pub(super) struct ReaderMetadata {
    pub(crate) layers: usize,
    /// Attention heads of a layer.
    pub(crate) heads: usize,
    /// Tokens that see each other, begin and end among them.
    pub(crate) window: usize,
    /// Tokens of a window that were labelled before and are there to be seen only.
    pub(crate) context: usize,
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) unknown: u32,
    pub(crate) pad: u32,
    /// Log probability of a character that no piece holds.
    pub(crate) unknown_score: f64,
    pub(crate) labels: ReaderLabels,
}

impl ReaderMetadata {
    pub(super) fn load(file: &TensorFile) -> Result<Self, ReaderError> {
        let form = Self {
            layers: count(file, "layers")?,
            heads: count(file, "heads")?,
            window: count(file, "window")?,
            context: number(file, "context")?,
            begin: number(file, "bos")?,
            end: number(file, "eos")?,
            unknown: number(file, "unknown")?,
            pad: number(file, "pad")?,
            unknown_score: number(file, "unknown_score")?,
            labels: ReaderLabels::load(file)?,
        };
        // A window must hold at least one token that is labelled in it.
        if form.window.checked_sub(form.context).is_none_or(|rest| rest <= 2) {
            return Err(ReaderError::Metadata("context"));
        }
        if !form.unknown_score.is_finite() {
            return Err(ReaderError::Metadata("unknown_score"));
        }
        Ok(form)
    }
}

fn number<T: FromStr>(file: &TensorFile, key: &'static str) -> Result<T, ReaderError> {
    file.metadata(key).and_then(|value| value.parse().ok()).ok_or(ReaderError::Metadata(key))
}

fn count(file: &TensorFile, key: &'static str) -> Result<usize, ReaderError> {
    let value: usize = number(file, key)?;
    if (1..=MOST).contains(&value) { Ok(value) } else { Err(ReaderError::Metadata(key)) }
}
