//! How large the lists are, as `anamnesis extract lexicon` prints it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::list::{LexiconList, RowShape};
use super::{SPEECH, written};
use crate::assertion::{CLAUSES, DENIED_VERBS, SUBJECTS};
use crate::{medication, risk};

/// The size of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ListSize {
    pub rows: usize,
    /// Concepts, or labels: the number of distinct ones.
    pub names: usize,
    /// With every choice and every form of a verb written out.
    pub phrases: u64,
}

impl ListSize {
    /// Counts rows whose last column holds the phrases; the name of a concept is the second column, a label the first.
    pub(super) fn from_rows<'a>(rows: impl Iterator<Item = &'a str>, concepts: bool) -> Self {
        let (mut size, mut names) = (Self::default(), BTreeSet::new());
        for row in rows.filter(|row| !row.starts_with('#') && !row.trim().is_empty()) {
            let mut fields = row.split('\t');
            names.insert(fields.nth(usize::from(concepts)));
            let phrases = row.rsplit('\t').next().unwrap_or_default();
            size.rows += 1;
            size.phrases += phrases.split('|').map(|phrase| written(phrase) as u64).sum::<u64>();
        }
        Self { names: names.len(), ..size }
    }
}

/// The built-in lists by name. Those of risk are combined with one another: their phrases are parts of sentences.
pub fn sizes() -> Vec<(&'static str, ListSize)> {
    let extendable = LexiconList::ALL.iter().map(|list| {
        let rows = list.files().iter().flat_map(|file| file.lines());
        (list.code(), ListSize::from_rows(rows, list.shape() == RowShape::Concepts))
    });
    let of = |files: &[&'static str]| ListSize::from_rows(files.iter().flat_map(|file| file.lines()), false);
    let others = [
        ("risk", of(&risk::FILES)),
        ("speech", of(&[SPEECH])),
        ("regimen", of(&[medication::REGIMEN])),
        ("clauses", of(&[CLAUSES, DENIED_VERBS, SUBJECTS])),
    ];
    extendable.chain(others).collect()
}
