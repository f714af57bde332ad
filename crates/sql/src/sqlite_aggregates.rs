//! Aggregate functions that pack a column of all rows into one value inside SQLite: `{all …}` compiles to them. SQLite's
//! own `group_concat` made a text of every number and a second copy of every value; a patient's ten thousand passages
//! carried three megabytes of keyed terms out of the engine, of which a query needs a handful.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use libsqlite3_sys as ffi;
use sqlx::SqliteConnection;

use anamnesis_text::TermFilter;

/// The state of an aggregate function.
trait Aggregate: Default {
    /// Arguments of the SQL function.
    const ARGUMENTS: c_int;
    /// Takes the values of one row.
    fn step(&mut self, values: &[SqliteValue]);
    /// The aggregate of all rows.
    fn packed(&self) -> &[u8];
}

/// A value of a row, for as long as the row is read; nothing but SQLite's pointer, of which it hands over an array.
#[repr(transparent)]
struct SqliteValue(*mut ffi::sqlite3_value);

impl SqliteValue {
    fn integer(&self) -> Option<i64> {
        // SAFETY: SQLite's own value, which outlives the step that reads it.
        #[allow(unsafe_code)]
        unsafe {
            (ffi::sqlite3_value_type(self.0) == ffi::SQLITE_INTEGER).then(|| ffi::sqlite3_value_int64(self.0))
        }
    }

    /// A blob's bytes; `None` of anything else.
    fn blob(&self) -> Option<&[u8]> {
        // SAFETY: for a blob, SQLite requires the pointer to be read before the length; an empty one has no pointer.
        // The bytes live until the value is converted to another form, which never happens here.
        #[allow(unsafe_code)]
        unsafe {
            if ffi::sqlite3_value_type(self.0) != ffi::SQLITE_BLOB {
                return None;
            }
            let start = ffi::sqlite3_value_blob(self.0).cast::<u8>();
            let length = usize::try_from(ffi::sqlite3_value_bytes(self.0)).unwrap_or_default();
            Some(if start.is_null() { &[] } else { slice::from_raw_parts(start, length) })
        }
    }
}

/// `packed(value)`: concatenated blobs, numbers as eight bytes, big endian. NULLs are left out.
#[derive(Default)]
struct PackAggregate(Vec<u8>);

impl Aggregate for PackAggregate {
    const ARGUMENTS: c_int = 1;

    fn step(&mut self, values: &[SqliteValue]) {
        if let Some(number) = values[0].integer() {
            self.0.extend_from_slice(&number.to_be_bytes());
        } else if let Some(bytes) = values[0].blob() {
            self.0.extend_from_slice(bytes);
        }
    }

    fn packed(&self) -> &[u8] {
        &self.0
    }
}

/// `held(terms, wanted)`: of each row's terms (eight bytes each) those that are wanted, with repetitions, after their
/// number. Without wanted ones: all of them.
#[derive(Default)]
struct TermAggregate {
    wanted: Option<TermFilter>,
    found: Vec<u8>,
}

impl Aggregate for TermAggregate {
    const ARGUMENTS: c_int = 2;

    fn step(&mut self, values: &[SqliteValue]) {
        let terms = values[0].blob().unwrap_or_default().as_chunks::<8>().0;
        let place = self.found.len();
        self.found.extend_from_slice(&[0; 8]);
        if let Some(list) = values[1].blob() {
            let of = || list.as_chunks::<8>().0.iter().map(|term| i64::from_be_bytes(*term));
            let wanted = self.wanted.get_or_insert_with(|| TermFilter::new(of()));
            for term in terms.iter().filter(|term| wanted.holds(i64::from_be_bytes(**term))) {
                self.found.extend_from_slice(term);
            }
        } else {
            self.found.extend_from_slice(terms.as_flattened());
        }
        let count = ((self.found.len() - place) / 8 - 1) as u64;
        self.found[place..place + 8].copy_from_slice(&count.to_be_bytes());
    }

    fn packed(&self) -> &[u8] {
        &self.found
    }
}

/// Registers `packed` and `held` on a connection.
pub(super) async fn register_aggregates(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    let database = handle.as_raw_handle().as_ptr();
    register::<PackAggregate>(database, c"packed").and_then(|()| register::<TermAggregate>(database, c"held"))
}

fn register<G: Aggregate>(database: *mut ffi::sqlite3, name: &'static std::ffi::CStr) -> Result<(), sqlx::Error> {
    let flags = ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS;
    // SAFETY: the caller holds the connection's lock; the name lives for ever; step and end are functions of the types
    // that are asked for, whose state SQLite keeps for each statement.
    #[allow(unsafe_code)]
    let status = unsafe {
        ffi::sqlite3_create_function_v2(
            database,
            name.as_ptr(),
            G::ARGUMENTS,
            flags,
            std::ptr::null_mut(),
            None,
            Some(step::<G>),
            Some(end::<G>),
            None,
        )
    };
    if status == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(sqlx::Error::Protocol("an aggregate cannot be taught".to_owned()))
    }
}

/// Called by SQLite for each row.
#[allow(unsafe_code)]
unsafe extern "C" fn step<G: Aggregate>(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: SQLite hands over `count` values, as many as the function was made known with, and keeps a zeroed pointer
    // for each run of the aggregate, which only these two functions touch. `SqliteValue` has the layout of the pointer.
    unsafe {
        let slot = ffi::sqlite3_aggregate_context(context, size_of::<*mut G>() as c_int).cast::<*mut G>();
        if slot.is_null() {
            return ffi::sqlite3_result_error_nomem(context);
        }
        if (*slot).is_null() {
            *slot = Box::into_raw(Box::default());
        }
        let values = slice::from_raw_parts(values.cast::<SqliteValue>(), count as usize);
        let kept = &mut **slot;
        // Nothing may unwind into C.
        if catch_unwind(AssertUnwindSafe(|| kept.step(values))).is_err() {
            ffi::sqlite3_result_error_code(context, ffi::SQLITE_INTERNAL);
        }
    }
}

/// Called by SQLite once after the last row, also where a statement is aborted; of no rows the column is NULL.
#[allow(unsafe_code)]
unsafe extern "C" fn end<G: Aggregate>(context: *mut ffi::sqlite3_context) {
    // SAFETY: the pointer is the one that `step` stored, or null without rows; it is freed exactly once. SQLite copies
    // the bytes before this returns.
    unsafe {
        let slot = ffi::sqlite3_aggregate_context(context, 0).cast::<*mut G>();
        if slot.is_null() || (*slot).is_null() {
            return ffi::sqlite3_result_null(context);
        }
        let kept = Box::from_raw(std::mem::replace(&mut *slot, std::ptr::null_mut()));
        let (bytes, transient) = (kept.packed(), ffi::SQLITE_TRANSIENT());
        ffi::sqlite3_result_blob64(context, bytes.as_ptr().cast::<c_void>(), bytes.len() as u64, transient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Arg, Database, Location, Row, Sql, SqlValue};

    async fn one(sql: &'static str, args: Vec<Arg>) -> Row {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.read(Access::Platform).await.unwrap();
        tx.fetch_optional(&Sql::new(sql), args).await.unwrap().unwrap()
    }

    fn bytes(numbers: &[i64]) -> SqlValue {
        SqlValue::Blob(numbers.iter().flat_map(|n| n.to_be_bytes()).collect())
    }

    #[tokio::test]
    async fn a_column_is_packed_row_by_row_and_nulls_are_left_out() {
        let sql = "SELECT packed(value->>0), packed(unhex(value->>1)), packed(NULL) FROM json_each($1)";
        let row = one(sql, vec![r#"[[1, "00FF"], [-2, null], [null, "07"]]"#.into()]).await;
        assert_eq!(row.0, [bytes(&[1, -2]), SqlValue::Blob(vec![0, 255, 7]), SqlValue::Blob(Vec::new())]);
        assert_eq!(one(sql, vec!["[]".into()]).await.0, [SqlValue::Null, SqlValue::Null, SqlValue::Null]);
    }

    #[tokio::test]
    async fn each_rows_wanted_terms_follow_their_number() {
        let sql = "SELECT held(unhex(value), $2) FROM json_each($1)";
        let hex = |terms: &[i64]| terms.iter().map(|term| format!("{term:016x}")).collect::<String>();
        let rows = format!(r#"["{}", "", "{}"]"#, hex(&[5, -7, 5]), hex(&[9]));
        let wanted = |terms: &[i64]| Arg::Blob(terms.iter().flat_map(|term| term.to_be_bytes()).collect());
        for (asked, status) in [
            (Arg::Null, vec![3, 5, -7, 5, 0, 1, 9]),
            (wanted(&[5, 9, 11]), vec![2, 5, 5, 0, 1, 9]),
            (wanted(&[-7]), vec![1, -7, 0, 0]),
            (wanted(&[]), vec![0, 0, 0]),
        ] {
            assert_eq!(one(sql, vec![rows.as_str().into(), asked]).await.0, [bytes(&status)]);
        }
    }
}
