//! Rows and errors of PostgreSQL as the engine's own.

use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgRow, PgValueRef};
use sqlx::{Column as _, Row as _, TypeInfo as _, ValueRef as _};

use super::super::{DbError, Row, SqlValue};

const BOOL: Oid = Oid(16);
const BYTEA: Oid = Oid(17);
const INT8: Oid = Oid(20);
const INT2: Oid = Oid(21);
const INT4: Oid = Oid(23);
const FLOAT8: Oid = Oid(701);
const UUID: Oid = Oid(2950);
const INT8_ARRAY: Oid = Oid(1016);
const FLOAT8_ARRAY: Oid = Oid(1022);
const UUID_ARRAY: Oid = Oid(2951);

/// Dimensions, whether there are NULLs, the type; then the only dimension's length and its first place.
const ARRAY_HEAD: usize = 20;

pub(super) fn row(row: &PgRow) -> Result<Row, DbError> {
    let cell = |index| {
        let raw = row.try_get_raw(index).map_err(|_| DbError::Decode { index })?;
        if raw.is_null() { Ok(SqlValue::Null) } else { cell(&raw).ok_or(DbError::Decode { index }) }
    };
    Ok(Row(row.columns().iter().map(|column| cell(column.ordinal())).collect::<Result<_, _>>()?))
}

/// `None` for a type that no statement uses.
fn cell(raw: &PgValueRef<'_>) -> Option<SqlValue> {
    let bytes = raw.as_bytes().ok()?;
    let kind = raw.type_info();
    Some(match kind.oid() {
        Some(INT8) => SqlValue::I64(i64::from_be_bytes(bytes.try_into().ok()?)),
        Some(INT4) => SqlValue::I64(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        Some(INT2) => SqlValue::I64(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        Some(BOOL) => SqlValue::I64((*bytes.first()?).into()),
        Some(FLOAT8) => SqlValue::F64(f64::from_be_bytes(bytes.try_into().ok()?)),
        Some(BYTEA | UUID) => SqlValue::Blob(bytes.to_vec()),
        Some(INT8_ARRAY | FLOAT8_ARRAY) => SqlValue::Blob(packed::<8>(bytes)?),
        Some(UUID_ARRAY) => SqlValue::Blob(packed::<16>(bytes)?),
        _ if kind.name() == "halfvec" => {
            SqlValue::Blob(bytes.get(4..)?.chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect())
        }
        _ if matches!(kind.name(), "TEXT" | "VARCHAR" | "NAME" | "\"CHAR\"" | "CHAR") => {
            SqlValue::Text(std::str::from_utf8(bytes).ok()?.to_owned())
        }
        _ => return None,
    })
}

/// The concatenated values of a one-dimensional array; `None` if one of them has another size, like NULL.
fn packed<const SIZE: usize>(bytes: &[u8]) -> Option<Vec<u8>> {
    let values = bytes.get(ARRAY_HEAD..)?;
    let each = values.chunks_exact(4 + SIZE);
    let mut out = Vec::with_capacity(values.len());
    if !each.remainder().is_empty() {
        return None;
    }
    for value in each {
        let (length, value) = value.split_first_chunk::<4>()?;
        if u32::from_be_bytes(*length) as usize != SIZE {
            return None;
        }
        out.extend_from_slice(value);
    }
    Some(out)
}

/// DETAIL and messages may quote a row, so only SQLSTATE and names of the schema are passed on.
pub(crate) fn error(error: &sqlx::Error) -> DbError {
    match error {
        sqlx::Error::Database(inner) => {
            let code = inner.code().unwrap_or_default().into_owned();
            let constraint = || {
                let name = [inner.table(), inner.constraint()].into_iter().flatten().collect::<Vec<_>>().join(".");
                DbError::Constraint { constraint: name }
            };
            match code.as_str() {
                "40001" | "40P01" => DbError::Transient("conflict"),
                "55P03" => DbError::Transient("lock"),
                "25006" => DbError::Transient("read_only"),
                "57014" | "25P03" | "25P04" => DbError::Transient("timeout"),
                "42P01" | "42703" | "3F000" => DbError::Schema,
                "42501" => DbError::Denied,
                "26000" | "42P05" | "08P01" => DbError::Pooler,
                state => match &state[..state.len().min(2)] {
                    "08" | "57" => DbError::Transient("connection"),
                    "53" | "58" => DbError::Transient("resources"),
                    "23" => constraint(),
                    "28" => DbError::Login,
                    _ => DbError::Other { code },
                },
            }
        }
        sqlx::Error::PoolTimedOut => DbError::Transient("pool"),
        sqlx::Error::PoolClosed => DbError::Transient("closed"),
        // The error of a certificate that is not the host's own.
        sqlx::Error::Io(inner) if inner.kind() == std::io::ErrorKind::InvalidData => DbError::Tls,
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::BeginFailed => DbError::Transient("io"),
        sqlx::Error::Tls(_) => DbError::Tls,
        _ => DbError::Other { code: "client".to_owned() },
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
