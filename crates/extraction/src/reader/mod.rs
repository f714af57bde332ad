//! The reader: a small encoder, trained beforehand on text of many languages and then on clinical documents, whose
//! heads tag what lines speak of. Computed in this process on one thread; the same lines and file give the same spans.
//!
//! The file is safetensors. Its metadata says how many layers and heads there are, how much is read at once, and what
//! the labels are called; tensors are named in `network.rs` and `tokens.rs`.

mod error;
mod labels;
mod metadata;
mod network;
mod predictions;
mod spans;
mod tokens;
mod windows;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "builtin-reader")]
use std::sync::OnceLock;

use aws_lc_rs::digest;

pub use self::error::ReaderError;
pub(crate) use self::labels::{AttributeScores, LabelLayer, ReaderLabels};
use self::metadata::ReaderMetadata;
use self::network::{EncoderNetwork, NetworkBuffers};
pub(crate) use self::predictions::ReaderPredictions;
use self::tokens::PieceTokenizer;
use anamnesis_neural::file::TensorFile;
use anamnesis_text::Speaker;

/// Digits of a checksum that make a version.
const VERSION_DIGITS: usize = 12;

/// One line of a document, as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReaderLine<'a> {
    /// The speaker; `None` in a text without speakers.
    pub(crate) speaker: Option<Speaker>,
    pub(crate) text: &'a str,
}

/// A stretch of one line that the reader tagged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReaderMention {
    /// Index into the lines.
    pub(crate) line: usize,
    /// Bytes of the line's text, on borders of characters; `start` < `end`.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) layer: LabelLayer,
    /// One of [`ReaderLabels::kinds`] of the layer.
    pub(crate) kind: Arc<str>,
    /// Mean over its tokens of the probability of the chosen label (0.0–1.0).
    pub(crate) probability: f32,
    /// Of names and clauses.
    pub(crate) attributes: Option<AttributeScores>,
}

/// A loaded reader. Cheap to clone: the model is shared.
#[derive(Clone)]
pub struct ClinicalReader {
    inner: Arc<LoadedReader>,
}

struct LoadedReader {
    version: String,
    form: ReaderMetadata,
    tokenizer: PieceTokenizer,
    network: EncoderNetwork,
}

/// The reader of the program.
#[cfg(feature = "builtin-reader")]
static BUILTIN: &[u8] = include_bytes!("../../../../models/reader.safetensors");

impl ClinicalReader {
    /// The reader of the program (models/README.md): loaded once per process, shared by all who read.
    ///
    /// # Errors
    /// [`ReaderError::Absent`]: the program was built without the feature `builtin-reader`.
    pub fn builtin() -> Result<Self, ReaderError> {
        #[cfg(feature = "builtin-reader")]
        {
            static SHARED: OnceLock<Result<ClinicalReader, ReaderError>> = OnceLock::new();
            SHARED.get_or_init(|| Self::from_bytes(Cow::Borrowed(BUILTIN))).clone()
        }
        #[cfg(not(feature = "builtin-reader"))]
        Err(ReaderError::Absent)
    }

    /// Loads a reader from its file. Takes a fraction of a second: do it once, at start.
    ///
    /// # Errors
    /// [`ReaderError`]: the file cannot be read, lacks a tensor or an entry, or holds one that does not fit the others.
    pub fn open(path: &Path) -> Result<Self, ReaderError> {
        let bytes = std::fs::read(path).map_err(|error| ReaderError::Unreadable(error.kind()))?;
        Self::from_bytes(Cow::Owned(bytes))
    }

    fn from_bytes(bytes: Cow<'static, [u8]>) -> Result<Self, ReaderError> {
        // Of the bytes, not of a name: a changed file never passes for the old version.
        let mut version = hex::encode(digest::digest(&digest::SHA256, &bytes));
        version.truncate(VERSION_DIGITS);
        let file = TensorFile::parse(bytes)?;
        let form = ReaderMetadata::load(&file)?;
        let tokenizer = PieceTokenizer::load(&file, &form)?;
        let network = EncoderNetwork::load(&file, &form, tokenizer.len())?;
        Ok(Self { inner: Arc::new(LoadedReader { version, form, tokenizer, network }) })
    }

    /// What distinguishes it from another one: the beginning of its file's SHA-256.
    pub(crate) fn version(&self) -> &str {
        &self.inner.version
    }

    /// The names of the reader's labels.
    #[cfg(test)]
    pub(crate) fn labels(&self) -> &ReaderLabels {
        &self.inner.form.labels
    }

    /// Reads the lines of one document. Lines see those around them. Takes time in proportion to the number of words:
    /// give it a thread that may block.
    pub(crate) fn read(&self, lines: &[ReaderLine<'_>]) -> ReaderPredictions {
        let LoadedReader { form, tokenizer, network, .. } = &*self.inner;
        let (tokens, places) = tokenizer.tokens(lines);
        let (mut ids, mut room) = (Vec::with_capacity(form.window), NetworkBuffers::default());
        let mut predictions = ReaderPredictions::new(lines.len(), &form.labels, &network.columns);
        let mut line = 0;
        for window in windows::windows(&places, form.window, form.context) {
            ids.clear();
            ids.push(form.begin);
            ids.extend(tokens[window.seen.clone()].iter().map(|token| token.id));
            ids.push(form.end);
            let first = 1 + window.labelled.start - window.seen.start;
            let rows = first..first + window.labelled.len();
            let logits = network.logits(&ids, rows, &mut room);
            // Line by line: no span goes beyond its line, nor beyond what one window labels.
            let mut at = window.labelled.start;
            while at < window.labelled.end {
                while places[line].end <= at {
                    line += 1;
                }
                let end = places[line].end.min(window.labelled.end);
                let width = network.columns.width;
                let rows = &logits[(at - window.labelled.start) * width..(end - window.labelled.start) * width];
                predictions.add_window(line, &tokens[at..end], rows);
                at = end;
            }
        }
        predictions.finish()
    }
}
