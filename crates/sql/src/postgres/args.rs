//! Arguments as PostgreSQL takes them: binary, typed, one array per column of a bulk statement.

use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgHasArrayType, PgTypeInfo};
use sqlx::{Arguments as _, Executor as _, PgConnection, Postgres, Type};
use uuid::Uuid;

use super::super::{Arg, ColumnType, DbError};

/// A vector of 16-bit floats, little endian, as the store keeps it.
struct HalfVector<'a>(&'a [u8]);

impl Type<Postgres> for HalfVector<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("halfvec")
    }
}

impl PgHasArrayType for HalfVector<'_> {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::array_of("halfvec")
    }
}

impl Encode<'_, Postgres> for HalfVector<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        // pgvector's binary form: dimension, nothing, then big-endian floats.
        buffer.extend_from_slice(&u16::try_from(self.0.len() / 2)?.to_be_bytes());
        buffer.extend_from_slice(&[0, 0]);
        let at = buffer.len();
        buffer.extend_from_slice(self.0);
        for pair in buffer[at..].as_chunks_mut::<2>().0 {
            pair.swap(0, 1);
        }
        Ok(IsNull::No)
    }
}

/// A list of integers as a column holds it, packed already or not yet.
enum Ints<'a> {
    List(&'a [i64]),
    Packed(&'a [u8]),
}

impl Type<Postgres> for Ints<'_> {
    fn type_info() -> PgTypeInfo {
        <&[u8] as Type<Postgres>>::type_info()
    }
}

impl PgHasArrayType for Ints<'_> {
    fn array_type_info() -> PgTypeInfo {
        <&[u8] as PgHasArrayType>::array_type_info()
    }
}

impl Encode<'_, Postgres> for Ints<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match self {
            Self::List(list) => list.iter().for_each(|value| buffer.extend_from_slice(&value.to_be_bytes())),
            Self::Packed(bytes) => buffer.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }
}

/// A NULL whose type the statement knows.
struct Null;

impl Type<Postgres> for Null {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, Postgres> for Null {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}

/// Loads the ids of extension types of this server. Otherwise sqlx loads them at the first use of such a type, between
/// preparing an unnamed statement and running it, and the server then forgets the statement.
pub(super) async fn load_type_oids(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql("BEGIN; SET LOCAL search_path = anamnesis, public")).await?;
    let asked = sqlx::query("SELECT $1::halfvec IS NULL").bind(None::<HalfVector<'_>>).persistent(false);
    connection.execute(asked).await?;
    connection.execute(sqlx::raw_sql("COMMIT")).await.map(drop)
}

fn refused(_: BoxDynError) -> DbError {
    DbError::Other { code: "argument".to_owned() }
}

pub(super) fn arguments(args: Vec<Arg>) -> Result<PgArguments, DbError> {
    let mut out = PgArguments::default();
    add_all(&mut out, args)?;
    Ok(out)
}

fn add_all(out: &mut PgArguments, args: Vec<Arg>) -> Result<(), DbError> {
    for arg in args {
        let added = match arg {
            Arg::Null => out.add(Null),
            Arg::I64(v) => out.add(v),
            Arg::F64(v) => out.add(v),
            Arg::Bool(v) => out.add(i16::from(v)),
            Arg::Text(v) => out.add(v),
            Arg::Blob(v) => out.add(v),
            Arg::Uuid(v) => out.add(v),
            Arg::Uuids(v) => out.add(v),
            Arg::Ints(v) => out.add(v),
            Arg::Vector(v) => out.add(HalfVector(&v)),
            Arg::Blobs(v) => out.add(v),
            Arg::Texts(v) => out.add(v),
            Arg::Pairs(v) => {
                out.add(v.into_iter().map(|(id, rest)| [id.as_bytes(), rest.as_slice()].concat()).collect::<Vec<_>>())
            }
        };
        added.map_err(refused)?;
    }
    Ok(())
}

/// Shared values, then rows as columns: one array each.
pub(super) fn columns(kinds: &[ColumnType], shared: Vec<Arg>, rows: &[Vec<Arg>]) -> Result<PgArguments, DbError> {
    let mut out = PgArguments::default();
    // A batch is megabytes: a buffer that grows by doubling copies each of them once more.
    let room_for_rows = kinds.len() * ARRAY_HEAD + rows.iter().flatten().map(room).sum::<usize>();
    out.reserve(shared.len() + kinds.len(), shared.iter().map(room).sum::<usize>() + room_for_rows);
    add_all(&mut out, shared)?;
    for (at, kind) in kinds.iter().enumerate() {
        let column = rows.iter().map(|row| row.get(at).unwrap_or(&Arg::Null));
        let added = match kind {
            ColumnType::Uuid => out.add(list(column, |arg| match arg {
                Arg::Uuid(v) => Some(*v),
                Arg::Blob(v) => Uuid::from_slice(v).ok(),
                _ => None,
            })?),
            ColumnType::Int => out.add(list(column, |arg| match arg {
                Arg::I64(v) => Some(*v),
                _ => None,
            })?),
            ColumnType::Float => out.add(list(column, |arg| match arg {
                Arg::F64(v) => Some(*v),
                _ => None,
            })?),
            ColumnType::Bool => out.add(list(column, |arg| match arg {
                Arg::Bool(v) => Some(i16::from(*v)),
                Arg::I64(v) => i16::try_from(*v).ok(),
                _ => None,
            })?),
            ColumnType::Text => out.add(list(column, |arg| match arg {
                Arg::Text(v) => Some(v.as_str()),
                _ => None,
            })?),
            ColumnType::Bytes => out.add(list(column, |arg| match arg {
                Arg::Blob(v) => Some(v.as_slice()),
                _ => None,
            })?),
            ColumnType::Ints => out.add(list(column, |arg| match arg {
                Arg::Ints(v) => Some(Ints::List(v)),
                Arg::Blob(v) => Some(Ints::Packed(v)),
                _ => None,
            })?),
            ColumnType::Vector => out.add(list(column, |arg| match arg {
                Arg::Blob(v) => Some(HalfVector(v)),
                _ => None,
            })?),
        };
        added.map_err(refused)?;
    }
    Ok(out)
}

/// The header of an array, and its length.
const ARRAY_HEAD: usize = 24;

/// Bytes of an element of an array, at most, with its length.
fn room(arg: &Arg) -> usize {
    4 + match arg {
        Arg::Null => 0,
        Arg::Text(v) => v.len(),
        Arg::Blob(v) | Arg::Vector(v) => 4 + v.len(),
        Arg::Ints(v) => 8 * v.len(),
        _ => 16,
    }
}

fn list<'a, T>(
    column: impl Iterator<Item = &'a Arg>,
    read: impl Fn(&'a Arg) -> Option<T>,
) -> Result<Vec<Option<T>>, DbError> {
    let cell = |arg| match arg {
        &Arg::Null => Ok(None),
        arg => read(arg).map(Some).ok_or(DbError::Other { code: "argument".to_owned() }),
    };
    column.map(cell).collect()
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
