//! Arguments and rows: what becomes of a value on its way into a statement and out of a row.

use chrono::{DateTime, Utc};

use super::*;

fn row(cells: Vec<SqlValue>) -> Row {
    Row(cells)
}

const WRONG: DbError = DbError::Decode { index: 0 };

#[test]
fn values_of_the_program_become_arguments() {
    let at: DateTime<Utc> = "2026-01-02T03:04:05.000006Z".parse().unwrap();
    for (found, expected) in [
        (Arg::from(5i64), Arg::I64(5)),
        (Arg::from(-5i32), Arg::I64(-5)),
        (Arg::from(u32::MAX), Arg::I64(4_294_967_295)),
        (Arg::from(0.5f64), Arg::F64(0.5)),
        (Arg::from(true), Arg::Bool(true)),
        (Arg::from("é"), Arg::Text("é".to_owned())),
        (Arg::from([1u8, 2]), Arg::Blob(vec![1, 2])),
        (Arg::from([3u8].as_slice()), Arg::Blob(vec![3])),
        (Arg::from(Uuid::from_u128(7)), Arg::Uuid(Uuid::from_u128(7))),
        (Arg::from(Some(5i64)), Arg::I64(5)),
        (Arg::from(None::<String>), Arg::Null),
        (Arg::from(at), Arg::I64(1_767_323_045_000_006)),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn each_reader_takes_its_own_kind_of_cell_and_refuses_every_other() {
    let cells = [SqlValue::I64(7), SqlValue::F64(0.5), SqlValue::Text("t".to_owned()), SqlValue::Blob(vec![9; 16])];
    // The cells that a reader accepts: integer, float, text, bytes.
    let takes = |read: &dyn Fn(&Row) -> bool| cells.clone().map(|cell| read(&row(vec![cell])));
    assert_eq!(takes(&|row| row.i64(0).is_ok()), [true, false, false, false]);
    assert_eq!(takes(&|row| row.bool(0).is_ok()), [true, false, false, false]);
    assert_eq!(takes(&|row| row.time(0).is_ok()), [true, false, false, false]);
    assert_eq!(takes(&|row| row.opt_time(0).is_ok()), [true, false, false, false]);
    assert_eq!(takes(&|row| row.f64(0).is_ok()), [true, true, false, false], "a whole number is a number too");
    assert_eq!(takes(&|row| row.text(0).is_ok()), [false, false, true, false]);
    assert_eq!(takes(&|row| row.blob(0).is_ok()), [false, false, false, true]);
    assert_eq!(takes(&|row| row.uuid(0).is_ok()), [false, false, false, true]);
    assert_eq!(takes(&|row| row.bytes::<16>(0).is_ok()), [false, false, false, true]);
    assert_eq!(takes(&|row| row.ints(0).is_ok()), [false, false, false, true]);
}

#[test]
fn what_was_stored_is_what_is_read() {
    let id = Uuid::from_u128(0x0102_0304);
    let mixed = row(vec![
        SqlValue::I64(-3),
        SqlValue::I64(0),
        SqlValue::Text("ñ".to_owned()),
        SqlValue::Blob(id.as_bytes().to_vec()),
        SqlValue::F64(0.25),
    ]);
    assert_eq!(mixed.i64(0), Ok(-3));
    assert_eq!(mixed.f64(0), Ok(-3.0));
    assert_eq!((mixed.bool(0), mixed.bool(1)), (Ok(true), Ok(false)));
    assert_eq!(mixed.text(2).as_deref(), Ok("ñ"));
    assert_eq!(mixed.uuid(3), Ok(id));
    assert_eq!(mixed.bytes::<16>(3), Ok(id.into_bytes()));
    assert_eq!(mixed.f64(4), Ok(0.25));
    let at: DateTime<Utc> = "1969-12-31T23:59:59.999997Z".parse().unwrap();
    assert_eq!((mixed.time(0), mixed.opt_time(0)), (Ok(at), Ok(Some(at))));
}

#[test]
fn nothing_is_an_answer_only_where_it_may_be_one() {
    let none = row(vec![SqlValue::Null]);
    assert_eq!(none.opt_i64(0), Ok(None));
    assert_eq!(none.opt_f64(0), Ok(None));
    assert_eq!(none.opt_text(0), Ok(None));
    assert_eq!(none.opt_blob(0), Ok(None));
    assert_eq!(none.opt_uuid(0), Ok(None));
    assert_eq!(none.opt_time(0), Ok(None));
    assert_eq!(none.i64(0), Err(WRONG));
    assert_eq!(none.bool(0), Err(WRONG), "no value is not false");
    assert_eq!(none.text(0), Err(WRONG));
    assert_eq!(none.uuid(0), Err(WRONG));
    assert_eq!(none.time(0), Err(WRONG));
    assert_eq!(none.ints(0), Err(WRONG));
    assert_eq!(none.bytes::<0>(0), Err(WRONG));
}

#[test]
fn a_column_that_is_not_there_is_an_error_that_names_it() {
    let two = row(vec![SqlValue::Null, SqlValue::Null]);
    assert_eq!(two.opt_i64(2), Err(DbError::Decode { index: 2 }));
    assert_eq!(two.opt_uuid(3), Err(DbError::Decode { index: 3 }));
    assert_eq!(two.ints(4), Err(DbError::Decode { index: 4 }));
    assert_eq!(two.similarity(5, None), Err(DbError::Decode { index: 5 }));
}

#[test]
fn bytes_of_another_length_are_no_id_no_hash_and_no_list() {
    for length in [0usize, 15, 17] {
        let wrong = row(vec![SqlValue::Blob(vec![1; length])]);
        assert_eq!(wrong.uuid(0), Err(WRONG), "{length}");
        assert_eq!(wrong.opt_uuid(0), Err(WRONG), "{length}");
        assert_eq!(wrong.bytes::<16>(0), Err(WRONG), "{length}");
    }
    assert_eq!(row(vec![SqlValue::Blob(vec![0; 9])]).ints(0), Err(WRONG));
    assert_eq!(row(vec![SqlValue::Blob(Vec::new())]).ints(0), Ok(Vec::new()));
}

#[test]
fn a_list_of_integers_reads_back_from_what_it_was_packed_to() {
    for list in [vec![], vec![0], vec![i64::MIN, -1, 0, 1, i64::MAX]] {
        let bytes = packed(&list);
        assert_eq!(bytes.len(), 8 * list.len());
        assert_eq!(row(vec![SqlValue::Blob(bytes)]).ints(0), Ok(list));
    }
    assert_eq!(packed(&[1, -1]), [0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 255]);
}

#[test]
fn a_similarity_is_clamped_and_needs_a_query_of_the_same_length() {
    for (found, expected) in [(0.5, 0.5), (1.000_1, 1.0), (-1.2, -1.0)] {
        assert_eq!(row(vec![SqlValue::F64(found)]).similarity(0, None), Ok(Some(expected)));
    }
    // 1.0 and 0.0 as 16-bit floats, little endian.
    let stored = row(vec![SqlValue::Blob(vec![0x00, 0x3C, 0x00, 0x00])]);
    assert_eq!(stored.similarity(0, Some(&[1.0, 0.0])), Ok(Some(1.0)));
    assert_eq!(stored.similarity(0, Some(&[0.0, 1.0])), Ok(Some(0.0)));
    assert_eq!(stored.similarity(0, Some(&[1.0])), Ok(None), "another dimension");
    assert_eq!(stored.similarity(0, None), Ok(None), "nothing was asked");
    assert_eq!(row(vec![SqlValue::Null]).similarity(0, Some(&[1.0])), Ok(None));
    assert_eq!(row(vec![SqlValue::Text("1".to_owned())]).similarity(0, None), Err(WRONG));
}

#[test]
fn rows_travel_as_json_that_reads_back() {
    let id = Uuid::from_u128(0xAB);
    let rows = vec![
        vec![Arg::Null, Arg::I64(i64::MIN), Arg::F64(0.1), Arg::Bool(true), Arg::Text("a\"\\\n\u{1}ñ".to_owned())],
        vec![Arg::Blob(vec![0, 255]), Arg::Uuid(id), Arg::Ints(vec![1, -1]), Arg::Vector(vec![0x3C]), Arg::Bool(false)],
    ];
    let read: serde_json::Value = serde_json::from_str(&rows_as_json(&rows)).unwrap();
    let hex = "00000000000000000000000000".to_owned() + "0000ab";
    let expected = serde_json::json!([
        [null, i64::MIN, 0.1, 1, "a\"\\\n\u{1}ñ"],
        ["00ff", hex, "0000000000000001ffffffffffffffff", "3c", 0],
    ]);
    assert_eq!(read, expected);
    assert_eq!(rows_as_json(&[]), "[]");
    assert_eq!(rows_as_json(&[vec![], vec![]]), "[[],[]]");
}

#[test]
fn lists_travel_as_json() {
    assert_eq!(list_as_json(std::iter::empty()), "[]");
    assert_eq!(list_as_json([Arg::I64(1), Arg::I64(-2)].into_iter()), "[1,-2]");
    assert_eq!(list_as_json([Arg::Text("a,b".to_owned())].into_iter()), "[\"a,b\"]");
    let pairs = pairs_as_json(vec![(Uuid::from_u128(1), vec![0xFE]), (Uuid::from_u128(2), Vec::new())]);
    let read: serde_json::Value = serde_json::from_str(&pairs).unwrap();
    let id = |n: u8| format!("{n:032x}");
    assert_eq!(read, serde_json::json!([[id(1), "fe"], [id(2), ""]]));
}
