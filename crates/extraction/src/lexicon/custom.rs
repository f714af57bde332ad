//! Lexicon files of a deployment: the rows of a built-in list, checked line by line before anything is read with them.
//! A fault is reported by file, line and column, never by its content.

use std::collections::HashMap;
use std::path::Path;

use super::check::{RowFault, checked};
use super::list::{LexiconList, RowShape};
use super::sizes::ListSize;
use crate::matcher::expand;
use crate::tokenized::layout;

/// Bytes of one file.
const LARGEST: usize = 4 << 20;
/// Characters of a version.
const LONGEST_VERSION: usize = 32;

/// Why a lexicon file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LexiconError {
    #[error("{file}: the file cannot be read")]
    Unreadable { file: String },
    #[error("{file}: is larger than 4 MiB")]
    TooLarge { file: String },
    /// Lines and columns are counted from 1, columns in characters.
    #[error("{file}:{line}:{column}: {problem}")]
    Wrong { file: String, line: usize, column: usize, problem: &'static str },
}

/// One file: the list that it extends, and its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomLexicon {
    pub name: String,
    pub list: LexiconList,
    pub version: String,
    /// Of its bytes, eight hexadecimal digits.
    pub hash: String,
    /// Its rows with their numbers. They live as long as the process, as the built-in lists do: rules refer to their
    /// words.
    rows: Vec<(usize, &'static str)>,
}

/// The files of a deployment or an organisation, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LexiconExtension {
    files: Vec<CustomLexicon>,
}

impl LexiconExtension {
    /// # Errors
    /// The first file, line and column that cannot be used, or a phrase that two rows give different meanings.
    pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Self, LexiconError> {
        let mut extension = Self::default();
        for path in paths {
            let name = path.as_ref().display().to_string();
            let bytes = std::fs::read(path).map_err(|_| LexiconError::Unreadable { file: name.clone() })?;
            extension.files.push(CustomLexicon::read(name, &bytes)?);
        }
        extension.one_meaning_each()?;
        Ok(extension)
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn files(&self) -> &[CustomLexicon] {
        &self.files
    }

    /// The rows that extend a list, in their order.
    pub(crate) fn rows(&self, list: LexiconList) -> impl Iterator<Item = &'static str> {
        self.files.iter().filter(move |file| file.list == list).flat_map(|file| file.rows.iter().map(|(_, row)| *row))
    }

    /// The suffix of the version of the rules: `+version.hash` for each file.
    pub(crate) fn version(&self) -> String {
        self.files.iter().map(|file| format!("+{}.{}", file.version, file.hash)).collect()
    }

    /// Two rows that give one phrase two meanings: which of them counted would be chance.
    fn one_meaning_each(&self) -> Result<(), LexiconError> {
        let mut seen: HashMap<(LexiconList, String), &str> = HashMap::new();
        for file in &self.files {
            for (line, row) in &file.rows {
                let (meaning, phrases) = row.rsplit_once('\t').unwrap_or_default();
                for phrase in phrases.split('|').flat_map(|phrase| expand(phrase.trim())) {
                    let other = seen.insert((file.list, layout(&phrase)), meaning);
                    if other.is_some_and(|other| other != meaning) {
                        let fault = (meaning.chars().count() + 2, "a phrase of this row has another meaning elsewhere");
                        return Err(wrong(&file.name, *line, fault));
                    }
                }
            }
        }
        Ok(())
    }
}

impl CustomLexicon {
    fn read(name: String, bytes: &[u8]) -> Result<Self, LexiconError> {
        if bytes.len() > LARGEST {
            return Err(LexiconError::TooLarge { file: name });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            wrong(&name, line, (column, "is not UTF-8"))
        })?;
        let text: &'static str = Box::leak(text.trim_start_matches('\u{feff}').to_owned().into_boxed_str());
        let (mut list, mut version, mut rows) = (None, None, Vec::new());
        for (at, line) in text.lines().enumerate() {
            let at = at + 1;
            let fail = |fault| wrong(&name, at, fault);
            if let Some(comment) = line.strip_prefix('#') {
                match comment.trim().split_once(':') {
                    Some(("list", said)) if rows.is_empty() => list = Some(known_list(said.trim()).map_err(fail)?),
                    Some(("version", said)) if rows.is_empty() => {
                        version = Some(sound_version(said.trim()).map_err(fail)?);
                    }
                    _ => {}
                }
            } else if !line.trim().is_empty() {
                let list = list.ok_or_else(|| fail((1, "a line `# list: NAME` must stand before the rows")))?;
                version.as_ref().ok_or_else(|| fail((1, "a line `# version: …` must stand before the rows")))?;
                checked(list, line).map_err(fail)?;
                rows.push((at, line));
            }
        }
        let list = list.ok_or_else(|| wrong(&name, 1, (1, "a line `# list: NAME` is missing")))?;
        let version = version.ok_or_else(|| wrong(&name, 1, (1, "a line `# version: …` is missing")))?;
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
        Ok(Self { name, list, version, hash: hex::encode(&digest.as_ref()[..4]), rows })
    }

    pub fn size(&self) -> ListSize {
        ListSize::from_rows(self.rows.iter().map(|(_, row)| *row), self.list.shape() == RowShape::Concepts)
    }
}

/// Column of the value of a line `# list: NAME`: after the words that every such line has.
const SAID: usize = 9;

fn known_list(said: &str) -> Result<LexiconList, RowFault> {
    LexiconList::from_code(said).ok_or((SAID, "there is no such list (anamnesis extract lexicon shows them)"))
}

fn sound_version(said: &str) -> Result<String, RowFault> {
    let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match (1..=LONGEST_VERSION).contains(&said.len()) && said.chars().all(sound) {
        true => Ok(said.to_owned()),
        false => Err((1, "a version has 1 to 32 letters, digits, full stops, hyphens or underscores")),
    }
}

fn wrong(file: &str, line: usize, (column, problem): RowFault) -> LexiconError {
    LexiconError::Wrong { file: file.to_owned(), line, column, problem }
}

#[cfg(test)]
#[path = "custom_tests.rs"]
mod tests;
