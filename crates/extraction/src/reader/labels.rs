//! The labels of the reader's heads, as the file's metadata names them. Nothing here knows a label by name.

use std::collections::HashSet;
use std::sync::Arc;

use super::ReaderError;
use anamnesis_neural::file::TensorFile;

/// One head of the reader: each tags every token on its own, so that spans of two layers may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LabelLayer {
    /// Findings named by a word or a few: conditions, medicines …
    Names,
    /// Findings that take a clause: risks, goals …
    Clauses,
    /// Details of a name: doses, dates …
    Details,
    /// Identifiers of a person.
    Identifiers,
}

impl LabelLayer {
    /// Every layer, in the order of their heads.
    pub(crate) const ALL: [Self; 4] = [Self::Names, Self::Clauses, Self::Details, Self::Identifiers];

    /// The entry of the metadata that lists the layer's kinds.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Clauses => "clauses",
            Self::Details => "details",
            Self::Identifiers => "identifiers",
        }
    }

    /// The letter of the layer's head in the file.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Names => 'A',
            Self::Clauses => 'B',
            Self::Details => 'C',
            Self::Identifiers => 'D',
        }
    }

    /// Whether each span of the layer has attributes.
    pub(crate) fn has_attributes(self) -> bool {
        matches!(self, Self::Names | Self::Clauses)
    }
}

/// An attribute and the values it can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributeGroup {
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
}

/// Names of all that the heads distinguish.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReaderLabels {
    kinds: [Vec<Arc<str>>; 4],
    pub(super) groups: Arc<[AttributeGroup]>,
}

/// Most labels of one list: beyond it the metadata is no list of labels.
const MOST: usize = 256;

impl ReaderLabels {
    pub(super) fn load(file: &TensorFile) -> Result<Self, ReaderError> {
        let mut kinds: [Vec<Arc<str>>; 4] = Default::default();
        for (layer, kinds) in LabelLayer::ALL.into_iter().zip(&mut kinds) {
            let listed = file.metadata(layer.key()).ok_or(ReaderError::Metadata(layer.key()))?;
            *kinds = names(listed, ' ').ok_or(ReaderError::Metadata(layer.key()))?.map(Arc::from).collect();
        }
        let groups = file.metadata("attributes").and_then(groups).ok_or(ReaderError::Metadata("attributes"))?;
        Ok(Self { kinds, groups })
    }

    /// The kinds that a layer distinguishes.
    pub(crate) fn kinds(&self, layer: LabelLayer) -> &[Arc<str>] {
        &self.kinds[layer as usize]
    }

    /// The attributes of a name or a clause.
    pub(crate) fn groups(&self) -> &[AttributeGroup] {
        &self.groups
    }

    /// How many numbers all groups take together.
    pub(super) fn attribute_values(&self) -> usize {
        self.groups.iter().map(|group| group.values.len()).sum()
    }
}

/// Names between separators: some, distinct, of small letters, digits and `_`.
fn names(listed: &str, separator: char) -> Option<impl Iterator<Item = &str>> {
    let sound = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let mut known = HashSet::new();
    let fine = listed.split(separator).all(|name| sound(name) && known.insert(name)) && known.len() <= MOST;
    fine.then(|| listed.split(separator))
}

/// `name=value,value;name=value,value`
fn groups(listed: &str) -> Option<Arc<[AttributeGroup]>> {
    let mut groups = Vec::new();
    for part in listed.split(';') {
        let (name, values) = part.split_once('=')?;
        let name = names(name, ' ')?.next()?.to_owned();
        let values = names(values, ',')?.map(str::to_owned).collect();
        groups.push(AttributeGroup { name, values });
    }
    let distinct: HashSet<&str> = groups.iter().map(|group: &AttributeGroup| group.name.as_str()).collect();
    let fine = distinct.len() == groups.len() && groups.len() <= MOST;
    fine.then(|| groups.into())
}

/// How probable each value of each attribute is, for one span: the mean over its tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AttributeScores {
    pub(super) groups: Arc<[AttributeGroup]>,
    /// The values of all groups, one group after the other; each group's sum is 1.
    pub(super) shares: Vec<f32>,
}

impl AttributeScores {
    /// Each group with the probabilities of its values, in the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&AttributeGroup, &[f32])> {
        self.groups.iter().scan(0, move |start, group| {
            let from = *start;
            *start += group.values.len();
            Some((group, &self.shares[from..*start]))
        })
    }

    /// The probabilities of a group's values; `None` for a group that this reader does not have.
    #[cfg(test)]
    pub(crate) fn get(&self, group: &str) -> Option<&[f32]> {
        self.iter().find(|(found, _)| found.name == group).map(|(_, shares)| shares)
    }

    /// The most probable value of a group and its probability (0.0–1.0); on a tie the first.
    pub(crate) fn best(&self, group: &str) -> Option<(&str, f32)> {
        let (group, shares) = self.iter().find(|(found, _)| found.name == group)?;
        let at = super::spans::first_greatest(shares);
        Some((group.values.get(at)?, shares[at]))
    }

    /// The probability of one value (0.0–1.0); `None` for a group or a value that this reader does not have.
    pub(crate) fn probability(&self, group: &str, value: &str) -> Option<f32> {
        let (group, shares) = self.iter().find(|(found, _)| found.name == group)?;
        Some(shares[group.values.iter().position(|known| known == value)?])
    }
}
