//! The pages of an uploaded document. Its producer states page starts in the original text, and findings have positions
//! in the redacted one (contract.md, "Messages in").

use anamnesis_messages::contract::DocumentSubmitted;
use anamnesis_redaction::Redacted;
use anamnesis_store::records::FilePlace;
use anamnesis_text::CodePoints;

/// A file, and the bytes of the redacted text at which its pages begin.
pub(crate) struct PageIndex {
    sha256: String,
    starts: Vec<usize>,
}

impl PageIndex {
    /// `None` for a document that is no file.
    pub(crate) fn from_document(document: &DocumentSubmitted, redacted: &Redacted) -> Option<Self> {
        let file = document.file.as_ref()?;
        let source = document.to_document();
        let places = CodePoints::new(&source.text);
        let pages = file.pages.iter().flatten();
        let bytes = pages.filter_map(|page| usize::try_from(*page).ok().and_then(|page| places.to_byte(page)));
        let starts = bytes.map(|byte| redacted.border_of(byte)).collect();
        // One spelling: hashes of the same file are equal.
        Some(Self { sha256: file.sha256.as_str().to_lowercase(), starts })
    }

    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The position in the file of a byte of the redacted text.
    pub(crate) fn place(&self, byte: usize) -> FilePlace {
        FilePlace::at(&self.sha256, &self.starts, byte)
    }
}

#[cfg(test)]
#[path = "page_index_tests.rs"]
mod tests;
