//! The binary format of PostgreSQL arguments, and values that no column accepts.

use super::*;

fn refused_argument() -> DbError {
    DbError::Other { code: "argument".to_owned() }
}

fn bytes<'q, T: Encode<'q, Postgres>>(value: &T) -> Vec<u8> {
    let mut buffer = PgArgumentBuffer::default();
    assert!(matches!(value.encode_by_ref(&mut buffer).unwrap(), IsNull::No));
    buffer.to_vec()
}

#[test]
fn a_vector_travels_as_its_dimension_and_its_floats_biggest_byte_first() {
    // 1.0, -2.0 and 0.5 as 16-bit floats, little endian.
    let stored = [0x00, 0x3C, 0x00, 0xC0, 0x00, 0x38];
    assert_eq!(bytes(&HalfVector(&stored)), [0, 3, 0, 0, 0x3C, 0x00, 0xC0, 0x00, 0x38, 0x00]);
    assert_eq!(bytes(&HalfVector(&[])), [0, 0, 0, 0]);
    let mut buffer = PgArgumentBuffer::default();
    let most = vec![0u8; 2 * usize::from(u16::MAX)];
    assert!(HalfVector(&most).encode_by_ref(&mut buffer).is_ok());
    let longer = vec![0u8; most.len() + 2];
    assert!(HalfVector(&longer).encode_by_ref(&mut buffer).is_err(), "a dimension that does not fit is never cut");
}

#[test]
fn a_vector_after_other_bytes_leaves_those_as_they_are() {
    let mut buffer = PgArgumentBuffer::default();
    buffer.extend_from_slice(&[1, 2, 3, 4]);
    let _ = HalfVector(&[5, 6]).encode_by_ref(&mut buffer).unwrap();
    assert_eq!(buffer.to_vec(), [1, 2, 3, 4, 0, 1, 0, 0, 6, 5]);
}

#[test]
fn a_list_of_integers_is_the_same_bytes_packed_already_or_not_yet() {
    let list = [1i64, -2, i64::MAX];
    let packed: Vec<u8> = list.iter().flat_map(|n| n.to_be_bytes()).collect();
    assert_eq!(bytes(&Ints::List(&list)), packed);
    assert_eq!(bytes(&Ints::Packed(&packed)), packed);
}

#[test]
fn a_null_has_no_bytes() {
    let mut buffer = PgArgumentBuffer::default();
    assert!(matches!(Null.encode_by_ref(&mut buffer).unwrap(), IsNull::Yes));
    assert!(buffer.is_empty());
}

#[test]
fn each_argument_is_one() {
    let all = vec![
        Arg::Null,
        Arg::I64(1),
        Arg::F64(0.5),
        Arg::Bool(true),
        Arg::Text("t".to_owned()),
        Arg::Blob(vec![1]),
        Arg::Uuid(Uuid::nil()),
        Arg::Uuids(vec![Uuid::nil(); 3]),
        Arg::Ints(vec![1, 2]),
        Arg::Vector(vec![0, 0x3C]),
        Arg::Blobs(vec![vec![1], vec![2]]),
        Arg::Texts(Vec::new()),
        Arg::Pairs(vec![(Uuid::nil(), vec![1])]),
    ];
    let count = all.len();
    assert_eq!(arguments(all).unwrap().len(), count);
    let longer = Arg::Vector(vec![0; 2 * (usize::from(u16::MAX) + 1)]);
    assert_eq!(arguments(vec![Arg::Null, longer]).map(drop), Err(refused_argument()));
}

/// The values that a column of a kind accepts: text, bytes, sixteen bytes, integer, large integer, float, truth, id,
/// integers, nothing.
fn taken(kind: ColumnType) -> String {
    let args = [
        Arg::Text("t".to_owned()),
        Arg::Blob(vec![1, 2]),
        Arg::Blob(vec![1; 16]),
        Arg::I64(1),
        Arg::I64(40_000),
        Arg::F64(0.5),
        Arg::Bool(true),
        Arg::Uuid(Uuid::nil()),
        Arg::Ints(vec![1]),
        Arg::Null,
    ];
    let takes = |arg: Arg| match columns(&[kind], Vec::new(), &[vec![arg]]) {
        Ok(one) => {
            assert_eq!(one.len(), 1);
            'x'
        }
        Err(error) => {
            assert_eq!(error, refused_argument());
            '.'
        }
    };
    args.into_iter().map(takes).collect()
}

#[test]
fn a_column_takes_its_own_kind_and_nothing_and_refuses_the_rest() {
    for (kind, expected) in [
        (ColumnType::Text, "x........x"),
        (ColumnType::Bytes, ".xx......x"),
        (ColumnType::Vector, ".xx......x"),
        (ColumnType::Uuid, "..x....x.x"),
        (ColumnType::Int, "...xx....x"),
        (ColumnType::Float, ".....x...x"),
        (ColumnType::Bool, "...x..x..x"),
        (ColumnType::Ints, ".xx.....xx"),
    ] {
        assert_eq!(taken(kind), expected, "{kind:?}");
    }
}

#[test]
fn rows_become_one_array_for_each_column_after_shared_values() {
    let kinds = [ColumnType::Uuid, ColumnType::Text, ColumnType::Int];
    let row = |n: u128| vec![Arg::Uuid(Uuid::from_u128(n)), Arg::Text("t".to_owned()), Arg::I64(1)];
    let shared = vec![Arg::I64(7), Arg::Null];
    assert_eq!(columns(&kinds, shared, &[row(1), row(2), row(3)]).unwrap().len(), 5);
    assert_eq!(columns(&kinds, Vec::new(), &[]).unwrap().len(), 3, "empty arrays");
    let short = vec![Arg::Uuid(Uuid::nil())];
    assert_eq!(columns(&kinds, Vec::new(), &[short]).unwrap().len(), 3, "what a row lacks is nothing");
    let wrong = vec![Arg::Uuid(Uuid::nil()), Arg::I64(1), Arg::I64(1)];
    assert_eq!(columns(&kinds, Vec::new(), &[row(1), wrong]).map(drop), Err(refused_argument()), "one row of many");
}

#[test]
fn the_room_of_an_argument_is_never_less_than_what_it_takes() {
    for (arg, least) in [
        (Arg::Null, 4),
        (Arg::Text("four".to_owned()), 8),
        (Arg::Blob(vec![0; 5]), 9),
        (Arg::Vector(vec![0; 6]), 14),
        (Arg::Ints(vec![1, 2, 3]), 28),
        (Arg::I64(1), 12),
        (Arg::Uuid(Uuid::nil()), 20),
    ] {
        assert!(room(&arg) >= least, "{arg:?}: {}", room(&arg));
    }
}
