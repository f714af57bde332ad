//! The tables of the store: each column once, with its type.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::Error;

/// Types as `tables.tsv` writes them, and the variant of `ColumnType` for each.
const TYPES: [(&str, &str); 8] = [
    ("uuid", "Uuid"),
    ("int", "Int"),
    ("float", "Float"),
    ("bool", "Bool"),
    ("text", "Text"),
    ("bytes", "Bytes"),
    ("ints", "Ints"),
    ("vector", "Vector"),
];

/// The variant of `ColumnType` for a type.
pub(crate) fn variant(name: &str) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, variant)| *variant)
}

/// Columns by table and name.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    columns: HashMap<(String, String), &'static str>,
}

impl Tables {
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// Lines of table, column and type, separated by tabulators; comments begin with `#`.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let mut columns = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let wrong = |what: &str| Error::Text { path: PathBuf::from(path), line: number + 1, what: what.to_owned() };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fields: Vec<&str> = line.split('\t').collect();
            let [table, column, kind] = fields[..] else { return Err(wrong("needs table, column and type")) };
            let kind = variant(kind).ok_or_else(|| wrong("an unknown type of column"))?;
            if columns.insert((table.to_owned(), column.to_owned()), kind).is_some() {
                return Err(wrong("the column is defined twice"));
            }
        }
        Ok(Self { columns })
    }

    /// The variant of `ColumnType` for a column.
    pub(crate) fn variant(&self, table: &str, column: &str) -> Option<&'static str> {
        self.columns.get(&(table.to_owned(), column.to_owned())).copied()
    }
}
