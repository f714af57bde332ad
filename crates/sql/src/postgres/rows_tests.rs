//! Arrays as the server sends them, and what becomes of its errors.

use super::*;
use crate::fake_error_tests::FakeDatabaseError;

fn database_error(
    code: Option<&'static str>,
    table: Option<&'static str>,
    constraint: Option<&'static str>,
) -> DbError {
    error(&sqlx::Error::Database(Box::new(FakeDatabaseError { code, message: "SECRET", table, constraint })))
}

#[test]
fn each_state_of_the_server_is_one_decision() {
    for (codes, expected) in [
        (["40001", "40P01"].as_slice(), DbError::Transient("conflict")),
        (&["55P03"], DbError::Transient("lock")),
        (&["25006"], DbError::Transient("read_only")),
        (&["57014", "25P03", "25P04"], DbError::Transient("timeout")),
        (&["42P01", "42703", "3F000"], DbError::Schema),
        (&["42501"], DbError::Denied),
        (&["26000", "42P05", "08P01"], DbError::Pooler),
        (&["08006", "08001", "57P01", "57P03"], DbError::Transient("connection")),
        (&["53100", "53300", "58030"], DbError::Transient("resources")),
        (&["28P01", "28000"], DbError::Login),
    ] {
        for code in codes {
            assert_eq!(database_error(Some(code), None, None), expected, "{code}");
        }
    }
}

#[test]
fn any_other_state_is_passed_on_as_its_code_and_held_against_rows_only_where_it_is_about_values() {
    use crate::Fault;
    for (code, fault) in [
        ("22001", Fault::Rows),
        ("22P02", Fault::Rows),
        ("54000", Fault::Rows),
        ("42601", Fault::Unclear),
        ("XX000", Fault::Unclear),
        ("0", Fault::Unclear),
    ] {
        let error = database_error(Some(code), None, None);
        assert_eq!(error, DbError::Other { code: code.to_owned() });
        assert_eq!(error.fault(), fault, "{code}");
        assert!(!error.is_transient(), "{code}");
    }
    assert_eq!(database_error(None, None, None), DbError::Other { code: String::new() });
}

#[test]
fn a_refused_row_names_table_and_constraint_and_nothing_that_the_server_says_of_the_row() {
    for (table, constraint, name) in [
        (Some("memory"), Some("memory_pkey"), "memory.memory_pkey"),
        (Some("memory"), None, "memory"),
        (None, Some("memory_pkey"), "memory_pkey"),
        (None, None, ""),
    ] {
        let error = database_error(Some("23505"), table, constraint);
        assert_eq!(error, DbError::Constraint { constraint: name.to_owned() });
        assert!(!format!("{error} {error:?}").contains("SECRET"));
    }
}

#[test]
fn errors_of_the_connection_are_tried_again_and_those_of_encryption_are_not() {
    let io = |kind| error(&sqlx::Error::Io(std::io::Error::from(kind)));
    assert_eq!(io(std::io::ErrorKind::ConnectionRefused), DbError::Transient("io"));
    assert_eq!(io(std::io::ErrorKind::UnexpectedEof), DbError::Transient("io"));
    assert_eq!(io(std::io::ErrorKind::InvalidData), DbError::Tls, "a certificate of another host");
    assert_eq!(error(&sqlx::Error::Tls("SECRET".into())), DbError::Tls);
    assert_eq!(error(&sqlx::Error::Protocol("SECRET".into())), DbError::Transient("io"));
    assert_eq!(error(&sqlx::Error::BeginFailed), DbError::Transient("io"));
    assert_eq!(error(&sqlx::Error::PoolTimedOut), DbError::Transient("pool"));
    assert_eq!(error(&sqlx::Error::PoolClosed), DbError::Transient("closed"));
    assert_eq!(error(&sqlx::Error::RowNotFound), DbError::Other { code: "client".to_owned() });
}

/// A one-dimensional array: its header, then each value after its length.
fn array(values: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0; ARRAY_HEAD];
    for value in values {
        bytes.extend_from_slice(&(value.len() as i32).to_be_bytes());
        bytes.extend_from_slice(value);
    }
    bytes
}

#[test]
fn an_array_is_its_concatenated_values() {
    let (one, two) = (7i64.to_be_bytes(), (-1i64).to_be_bytes());
    assert_eq!(packed::<8>(&array(&[&one, &two])).unwrap(), [one, two].concat());
    assert_eq!(packed::<16>(&array(&[&[5; 16]])).unwrap(), [5; 16]);
    assert_eq!(packed::<8>(&array(&[])).unwrap(), Vec::<u8>::new());
}

#[test]
fn an_array_with_a_null_with_a_value_of_another_size_or_cut_short_is_refused() {
    let one = 7i64.to_be_bytes();
    assert_eq!(packed::<8>(&array(&[&one, &[1; 4]])), None, "a shorter value");
    let second = [8i32.to_be_bytes().as_slice(), &one].concat();
    assert_eq!(packed::<8>(&array(&[&[1; 4], &second])), None, "two that make two by their bytes alone");
    let mut with_null = array(&[&one]);
    with_null.extend_from_slice(&(-1i32).to_be_bytes());
    assert_eq!(packed::<8>(&with_null), None, "a NULL at the end");
    with_null.extend_from_slice(&[0; 8]);
    assert_eq!(packed::<8>(&with_null), None, "a NULL in front of eight other bytes");
    let whole = array(&[&one, &one]);
    for length in 0..whole.len() {
        let cut = packed::<8>(&whole[..length]);
        let between = length == ARRAY_HEAD || length == ARRAY_HEAD + 12;
        assert_eq!(cut.is_some(), between, "{length}");
    }
}
