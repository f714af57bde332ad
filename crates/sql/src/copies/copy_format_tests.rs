//! Files in PostgreSQL's copy format that are whole, torn, or of something else.

use super::super::TableCopy;
use super::*;

type Field<'a> = Option<&'a [u8]>;

const ORG: [u8; 16] = [1; 16];
const DOCUMENT: [u8; 16] = [3; 16];

fn patient(n: u8) -> [u8; 16] {
    [n; 16]
}

/// A whole file with these rows.
fn file(rows: &[&[Field<'_>]]) -> Vec<u8> {
    let mut bytes = HEAD.to_vec();
    for row in rows {
        bytes.extend_from_slice(&(row.len() as i16).to_be_bytes());
        for field in *row {
            let length = field.map_or(-1, |field| field.len() as i32);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(field.unwrap_or_default());
        }
    }
    bytes.extend_from_slice(&END);
    bytes
}

fn snapshot(tables: &[(&str, u64, &[&str])]) -> Snapshot {
    let table = |(name, rows, columns): &(&str, u64, &[&str])| {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        ((*name).to_owned(), TableCopy { rows: *rows, columns })
    };
    Snapshot { engine: "postgres".to_owned(), schema: 1, tables: tables.iter().map(table).collect() }
}

/// Reads one table whose file contains these bytes.
fn looked(name: &str, rows: u64, columns: &[&str], bytes: &[u8]) -> Result<Patients, CopyError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(table_file(name)), bytes).unwrap();
    verify(&snapshot(&[(name, rows, columns)]), folder.path(), 1)
}

fn damaged(table: &str) -> CopyError {
    CopyError::Damaged(format!("{table}.copy"))
}

const PROFILE: [&str; 3] = ["org_id", "patient_id", "words"];

#[test]
fn every_patient_of_a_whole_file_is_found() {
    let (one, two) = (patient(2), patient(4));
    let bytes = file(&[&[Some(&ORG), Some(&one), None], &[Some(&ORG), Some(&two), Some(b"text")]]);
    let found = looked("patient_profile", 2, &PROFILE, &bytes).unwrap();
    assert_eq!(found.all, [scope(&ORG, &one).unwrap(), scope(&ORG, &two).unwrap()]);
    assert!(found.samples.is_empty() && found.binding.is_none());
    assert!(looked("patient_profile", 0, &PROFILE, &file(&[])).unwrap().all.is_empty());
}

#[test]
fn a_file_that_was_cut_anywhere_is_damaged() {
    let one = patient(2);
    let whole = file(&[&[Some(&ORG), Some(&one), None], &[Some(&ORG), Some(&one), Some(b"text")]]);
    for length in 0..whole.len() {
        let error = looked("patient_profile", 2, &PROFILE, &whole[..length]).unwrap_err();
        let expected = if length < HEAD.len() {
            CopyError::File(std::io::ErrorKind::UnexpectedEof)
        } else {
            damaged("patient_profile")
        };
        assert_eq!(error, expected, "{length}");
    }
}

#[test]
fn a_file_that_continues_after_its_end_or_has_another_header_is_damaged() {
    let one = patient(2);
    let whole = file(&[&[Some(&ORG), Some(&one), None]]);
    let longer = [whole.as_slice(), &[0]].concat();
    assert_eq!(looked("patient_profile", 1, &PROFILE, &longer).unwrap_err(), damaged("patient_profile"));
    for place in 0..HEAD.len() {
        let mut other = whole.clone();
        other[place] ^= 1;
        assert_eq!(looked("patient_profile", 1, &PROFILE, &other).unwrap_err(), damaged("patient_profile"), "{place}");
    }
}

#[test]
fn another_number_of_rows_or_of_columns_is_damage() {
    let one = patient(2);
    let bytes = file(&[&[Some(&ORG), Some(&one), None]]);
    for rows in [0, 2] {
        assert_eq!(
            looked("patient_profile", rows, &PROFILE, &bytes).unwrap_err(),
            damaged("patient_profile"),
            "{rows}"
        );
    }
    for columns in [&PROFILE[..2], &["org_id", "patient_id", "words", "more"]] {
        assert_eq!(looked("patient_profile", 1, columns, &bytes).unwrap_err(), damaged("patient_profile"));
    }
}

#[test]
fn a_row_that_says_another_number_of_fields_than_follow_is_damage() {
    let one = patient(2);
    let whole = file(&[&[Some(&ORG), Some(&one), None]]);
    for count in [0i16, 2, 4, -2, i16::MAX] {
        let mut changed = whole.clone();
        changed[HEAD.len()..HEAD.len() + 2].copy_from_slice(&count.to_be_bytes());
        assert_eq!(
            looked("patient_profile", 1, &PROFILE, &changed).unwrap_err(),
            damaged("patient_profile"),
            "{count}"
        );
    }
}

#[test]
fn a_field_of_an_impossible_length_is_damage_and_takes_no_memory() {
    for length in [-2i32, i32::MIN, (1 << 30) + 1, i32::MAX] {
        let mut bytes = HEAD.to_vec();
        bytes.extend_from_slice(&1i16.to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&[0; 64]);
        assert_eq!(looked("outbox", 1, &["id"], &bytes).unwrap_err(), damaged("outbox"), "{length}");
    }
}

#[test]
fn an_id_that_is_none_is_damage_where_patients_are_listed() {
    let nil = [0u8; 16];
    for id in [nil.as_slice(), &[2; 15]] {
        let bytes = file(&[&[Some(&ORG), Some(id), None]]);
        assert_eq!(looked("patient_profile", 1, &PROFILE, &bytes).unwrap_err(), damaged("patient_profile"));
        assert!(looked("outbox", 1, &PROFILE, &bytes).is_ok(), "elsewhere nothing depends on it");
    }
}

#[test]
fn a_table_without_its_file_is_an_error_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = verify(&snapshot(&[("outbox", 0, &["id"])]), folder.path(), 1).unwrap_err();
    assert_eq!(error, CopyError::File(std::io::ErrorKind::NotFound));
}

#[test]
fn the_binding_is_the_key_store_and_the_newest_generation() {
    let (id, generation) = ([9u8; 16], 258i64.to_be_bytes());
    let columns = ["key_store_id", "generation"];
    let bound = looked("key_binding", 1, &columns, &file(&[&[Some(&id), Some(&generation)]])).unwrap();
    assert_eq!(bound.binding, Some((Uuid::from_bytes(id), 258)));
    let unbound = looked("key_binding", 1, &columns, &file(&[&[None, Some(&generation)]])).unwrap();
    assert_eq!(unbound.binding, None);
}

const DOCUMENTS: [&str; 5] = ["org_id", "patient_id", "document_id", "revision", "content_sealed"];

fn samples(rows: &[(u8, i32, &[u8])], every: usize) -> Vec<(u8, u32, Vec<u8>)> {
    let numbers: Vec<[u8; 4]> = rows.iter().map(|(_, revision, _)| revision.to_be_bytes()).collect();
    let patients: Vec<[u8; 16]> = rows.iter().map(|(n, ..)| patient(*n)).collect();
    let fields: Vec<[Field<'_>; 5]> = (0..rows.len())
        .map(|n| [Some(&ORG[..]), Some(&patients[n][..]), Some(&DOCUMENT[..]), Some(&numbers[n][..]), Some(rows[n].2)])
        .collect();
    let fields: Vec<&[Field<'_>]> = fields.iter().map(|row| row.as_slice()).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("documents.copy"), file(&fields)).unwrap();
    let found = verify(&snapshot(&[("documents", rows.len() as u64, &DOCUMENTS)]), folder.path(), every).unwrap();
    let sample = |sample: Sample| {
        assert_eq!(sample.document, Uuid::from_bytes(DOCUMENT));
        (sample.scope.patient().0.as_bytes()[0], sample.revision, sample.sealed)
    };
    found.samples.into_iter().map(sample).collect()
}

#[test]
fn the_first_sealed_text_of_each_patient_is_a_sample() {
    let rows: [(u8, i32, &[u8]); 5] = [(2, 1, b""), (4, 7, b"a"), (2, 2, b"b"), (2, 3, b"c"), (6, 1, b"")];
    assert_eq!(samples(&rows, 1), [(2, 2, b"b".to_vec()), (4, 7, b"a".to_vec())], "empty ones are looked past");
    assert_eq!(samples(&rows, 0), samples(&rows, 1));
    assert_eq!(samples(&rows, 2), [(2, 2, b"b".to_vec())], "of every second patient");
}

#[test]
fn a_document_without_what_it_needs_is_damage() {
    let (one, revision) = (patient(2), 1i32.to_be_bytes());
    for missing in [2, 3, 4] {
        let mut row = [Some(&ORG[..]), Some(&one), Some(&DOCUMENT), Some(&revision), Some(b"x".as_slice())];
        row[missing] = None;
        let error = looked("documents", 1, &DOCUMENTS, &file(&[&row])).unwrap_err();
        assert_eq!(error, damaged("documents"), "{missing}");
    }
    let negative = (-1i64).to_be_bytes();
    let row = [Some(&ORG[..]), Some(&one), Some(&DOCUMENT), Some(&negative[..]), Some(b"x".as_slice())];
    assert_eq!(looked("documents", 1, &DOCUMENTS, &file(&[&row])).unwrap_err(), damaged("documents"));
}

#[test]
fn a_number_of_any_width_reads_the_same() {
    assert_eq!(number(&300i16.to_be_bytes()), 300);
    assert_eq!(number(&300i32.to_be_bytes()), 300);
    assert_eq!(number(&300i64.to_be_bytes()), 300);
    assert_eq!(number(&[]), 0);
}
