//! Arguments and rows, the same for both engines.

use uuid::Uuid;

use super::DbError;

/// An argument of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    Null,
    I64(i64),
    F64(f64),
    Bool(bool),
    Text(String),
    Blob(Vec<u8>),
    Uuid(Uuid),
    /// A list for `IN {uuids $n}`.
    Uuids(Vec<Uuid>),
    /// A list for `IN {ints $n}`, or a column of [`super::ColumnType::Ints`].
    Ints(Vec<i64>),
    /// 16-bit floats, little endian, for `{similarity …}`.
    Vector(Vec<u8>),
    /// A list for `IN {blobs $n}`.
    Blobs(Vec<Vec<u8>>),
    /// A list for `IN {texts $n}`.
    Texts(Vec<String>),
    /// A list for `(column, column) IN {pairs $n}` or `{keyed $n}`.
    Pairs(Vec<(Uuid, Vec<u8>)>),
}

macro_rules! from {
    ($($type:ty => $variant:ident),+ $(,)?) => {$(
        impl From<$type> for Arg {
            fn from(value: $type) -> Self { Arg::$variant(value.into()) }
        }
    )+};
}

from!(i64 => I64, i32 => I64, u32 => I64, f64 => F64, bool => Bool, String => Text, &str => Text, Vec<u8> => Blob, &[u8] => Blob, Uuid => Uuid);

impl<const N: usize> From<[u8; N]> for Arg {
    fn from(value: [u8; N]) -> Self {
        Arg::Blob(value.to_vec())
    }
}

impl<T: Into<Arg>> From<Option<T>> for Arg {
    fn from(value: Option<T>) -> Self {
        value.map_or(Arg::Null, Into::into)
    }
}

/// The value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    Null,
    I64(i64),
    F64(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// One row, read by position.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<SqlValue>);

macro_rules! getter {
    ($name:ident, $optional:ident, $type:ty, $($pattern:pat => $value:expr),+) => {
        pub fn $name(&self, index: usize) -> Result<$type, DbError> {
            self.$optional(index)?.ok_or(DbError::Decode { index })
        }

        pub fn $optional(&self, index: usize) -> Result<Option<$type>, DbError> {
            match self.0.get(index) {
                Some(SqlValue::Null) => Ok(None),
                $(Some($pattern) => Ok(Some($value)),)+
                _ => Err(DbError::Decode { index }),
            }
        }
    };
}

impl Row {
    getter!(i64, opt_i64, i64, SqlValue::I64(v) => *v);
    getter!(f64, opt_f64, f64, SqlValue::F64(v) => *v, SqlValue::I64(v) => *v as f64);
    getter!(text, opt_text, String, SqlValue::Text(v) => v.clone());
    getter!(blob, opt_blob, Vec<u8>, SqlValue::Blob(v) => v.clone());

    pub fn bool(&self, index: usize) -> Result<bool, DbError> {
        Ok(self.i64(index)? != 0)
    }

    pub fn uuid(&self, index: usize) -> Result<Uuid, DbError> {
        self.opt_uuid(index)?.ok_or(DbError::Decode { index })
    }

    pub fn opt_uuid(&self, index: usize) -> Result<Option<Uuid>, DbError> {
        match self.opt_blob(index)? {
            None => Ok(None),
            Some(bytes) => Uuid::from_slice(&bytes).map(Some).map_err(|_| DbError::Decode { index }),
        }
    }

    /// A fixed-length blob, such as a keyed hash.
    pub fn bytes<const N: usize>(&self, index: usize) -> Result<[u8; N], DbError> {
        self.blob(index)?.try_into().map_err(|_| DbError::Decode { index })
    }

    /// An instant stored as microseconds.
    pub fn time(&self, index: usize) -> Result<chrono::DateTime<chrono::Utc>, DbError> {
        Ok(anamnesis_core::clock::from_micros(self.i64(index)?))
    }

    pub fn opt_time(&self, index: usize) -> Result<Option<chrono::DateTime<chrono::Utc>>, DbError> {
        Ok(self.opt_i64(index)?.map(anamnesis_core::clock::from_micros))
    }

    /// A list of integers, as `terms` columns hold them.
    pub fn ints(&self, index: usize) -> Result<Vec<i64>, DbError> {
        let Some(SqlValue::Blob(packed)) = self.0.get(index) else { return Err(DbError::Decode { index }) };
        let (words, rest) = packed.as_chunks::<8>();
        if rest.is_empty() {
            Ok(words.iter().map(|w| i64::from_be_bytes(*w)).collect())
        } else {
            Err(DbError::Decode { index })
        }
    }

    /// The value of `{similarity column $n}`: the dot product of the stored vector with `query`, −1.0–1.0 for unit
    /// vectors; `None` without a query, a vector, or where their dimensions differ.
    pub fn similarity(&self, index: usize, query: Option<&[f32]>) -> Result<Option<f64>, DbError> {
        match self.0.get(index) {
            Some(SqlValue::Null) => Ok(None),
            Some(SqlValue::F64(found)) => Ok(Some(found.clamp(-1.0, 1.0))),
            Some(SqlValue::Blob(stored)) => Ok(query.and_then(|query| anamnesis_core::vector::cosine(query, stored))),
            _ => Err(DbError::Decode { index }),
        }
    }
}

impl From<chrono::DateTime<chrono::Utc>> for Arg {
    fn from(at: chrono::DateTime<chrono::Utc>) -> Self {
        Arg::I64(anamnesis_core::clock::micros(at))
    }
}

/// All rows of a bulk statement as one JSON text (SQLite's `json_each`); bytes as hexadecimal.
pub(super) fn rows_as_json(rows: &[Vec<Arg>]) -> String {
    let mut out = String::with_capacity(rows.len() * 256);
    out.push('[');
    for (n, row) in rows.iter().enumerate() {
        out.push_str(if n == 0 { "[" } else { ",[" });
        for (i, arg) in row.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            push_json(&mut out, arg);
        }
        out.push(']');
    }
    out.push(']');
    out
}

/// A list of integers as a column holds it: eight bytes each, biggest first.
pub(super) fn packed(list: &[i64]) -> Vec<u8> {
    list.iter().map(|value| value.to_be_bytes()).collect::<Vec<_>>().into_flattened()
}

/// A list argument as JSON text.
pub(super) fn list_as_json(args: impl Iterator<Item = Arg>) -> String {
    let mut out = String::from("[");
    for (i, arg) in args.enumerate() {
        if i > 0 {
            out.push(',');
        }
        push_json(&mut out, &arg);
    }
    out.push(']');
    out
}

/// Pairs as a JSON text of two-element lists.
pub(super) fn pairs_as_json(pairs: Vec<(Uuid, Vec<u8>)>) -> String {
    rows_as_json(&pairs.into_iter().map(|(id, bytes)| vec![Arg::Uuid(id), Arg::Blob(bytes)]).collect::<Vec<_>>())
}

fn push_json(out: &mut String, arg: &Arg) {
    match arg {
        Arg::Null => out.push_str("null"),
        Arg::I64(v) => out.push_str(&v.to_string()),
        Arg::F64(v) => out.push_str(&serde_json::Value::from(*v).to_string()),
        Arg::Bool(v) => out.push_str(if *v { "1" } else { "0" }),
        Arg::Text(v) => out.push_str(&serde_json::Value::from(v.as_str()).to_string()),
        Arg::Blob(v) => push_hex(out, v),
        Arg::Uuid(v) => push_hex(out, v.as_bytes()),
        Arg::Ints(v) => push_hex(out, &packed(v)),
        Arg::Vector(v) => push_hex(out, v),
        Arg::Uuids(_) | Arg::Blobs(_) | Arg::Texts(_) | Arg::Pairs(_) => out.push_str("null"),
    }
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    out.push('"');
    out.push_str(&hex::encode(bytes));
    out.push('"');
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
