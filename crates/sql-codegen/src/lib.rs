//! Rust for the statements of a folder: one file for each module, in it statements with a name each, in the manner of
//! `sqlc`. The folder is the registry: what is in it is generated, prepared and checked, and nothing else is.
//!
//! ```sql
//! -- name: of_patient
//! -- Consents of a patient, oldest first.
//! SELECT id, provision, coalesce(stated_at, created_at) AS stated_at
//! FROM consent WHERE org_id = $1 AND patient_id = $2 ORDER BY id;
//!
//! -- name: insert
//! -- rows: consent (org_id, patient_id, id, provision)
//! INSERT INTO consent {rows} ON CONFLICT (org_id, patient_id, id) DO NOTHING;
//! ```
//!
//! For the first, `OF_PATIENT` (an `anamnesis_sql::Sql`) and the places `of_patient::{ID, PROVISION, STATED_AT}` of its
//! columns are generated; for the second, `INSERT` (an `anamnesis_sql::Bulk`) and `insert::Row`, a struct with a field for
//! each column. Neither a row that is read nor one that is written has a place that a person counted.
//!
//! | line after the name | meaning |
//! |---|---|
//! | `-- rows: table (column, …)` | a statement over many rows, which takes the place of `{rows}`; `{updated}` behind `DO UPDATE SET` is every column but those of the key and `created_at` |
//! | `-- shared: column, …` | columns of which all rows have the same, before those of `rows` |
//! | `-- row: table (column, …)` | an insert of one row, which takes the place of `{row}` |
//! | `-- keys: column, … in {pairs $2}` | a look-up of rows by keys (`anamnesis_sql::Sql::per_key_lookup`) |
//! | `-- fragment: name` | in place of `-- name:`, text that others of the folder take in by `{fragment file/name}` |
//! | `-- …` | the comment that the item gets |
//!
//! The types of columns are those of `tables.tsv`, where each table is defined once; a column that is no column of the
//! table has its type behind its name (`-- rows: memory (id, wanted_state text)`).

mod emit;
mod outputs;
mod parse;
mod tables;

use std::path::{Path, PathBuf};

/// What is wrong with the folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: {what}")]
    Text { path: PathBuf, line: usize, what: String },
}

/// Rust for all statements below `folder`, with the types of columns from `tables`; files in the order of their names.
///
/// # Errors
/// When a file cannot be read, or is not in the form above.
pub(crate) fn generate(folder: &Path, tables: &Path) -> Result<String, Error> {
    let tables = tables::Tables::read(tables)?;
    let mut files = Vec::new();
    read_folder(folder, &mut Vec::new(), &mut files)?;
    let fragments = files.iter().flat_map(|file| file.fragments()).collect();
    for file in &mut files {
        file.take_in(&fragments)?;
    }
    emit::module(&files, &tables)
}

/// Of a build script: writes `statements.rs` into the folder of generated files, and has cargo watch the statements.
///
/// # Panics
/// When the folder is not as it must be: the build ends with the file and the line.
pub fn build(folder: &str, tables: &str) {
    println!("cargo::rerun-if-changed={folder}");
    println!("cargo::rerun-if-changed={tables}");
    let out = std::env::var_os("OUT_DIR").expect("cargo names the folder");
    let code = generate(Path::new(folder), Path::new(tables)).unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(Path::new(&out).join("statements.rs"), code).expect("generated files can be written");
}

fn read_folder(folder: &Path, module: &mut Vec<String>, files: &mut Vec<parse::File>) -> Result<(), Error> {
    let failed = |source| Error::Io { path: folder.to_owned(), source };
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort();
    for path in entries {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        module.push(stem);
        if path.is_dir() {
            read_folder(&path, module, files)?;
        } else if path.extension().is_some_and(|ending| ending == "sql") {
            let text = std::fs::read_to_string(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
            files.push(parse::File::parse(path, module.clone(), &text)?);
        }
        module.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
