//! The dot product of two stored vectors inside SQLite, as pgvector has it in PostgreSQL: vectors are compared where they
//! lie, and eight bytes of each leave the engine. Carried out to be compared, ten thousand of them took five times as long.

use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;
use std::slice;

use libsqlite3_sys as ffi;
use sqlx::SqliteConnection;

use anamnesis_core::vector::dot;

/// The most numbers of a vector, and so the longest blob, that is compared: longer ones are no vectors of ours.
const LONGEST: usize = 1 << 20;

/// Registers `similarity(vector, vector)` on a connection: the dot product as eight bytes, big endian, which `packed`
/// can aggregate; no number where the vectors differ in length.
pub(super) async fn register(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    let flags = ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS;
    // SAFETY: the handle is locked and open; the name is a C string with static lifetime; `similarity` is a function of
    // the required type, needs no user data and therefore no destructor.
    #[allow(unsafe_code)]
    let status = unsafe {
        ffi::sqlite3_create_function_v2(
            handle.as_raw_handle().as_ptr(),
            c"similarity".as_ptr(),
            2,
            flags,
            std::ptr::null_mut(),
            Some(similarity),
            None,
            None,
            None,
        )
    };
    if status == ffi::SQLITE_OK { Ok(()) } else { Err(sqlx::Error::Protocol("similarity cannot be taught".to_owned())) }
}

/// Called by SQLite with two arguments, as registered.
#[allow(unsafe_code)]
unsafe extern "C" fn similarity(context: *mut ffi::sqlite3_context, _: c_int, values: *mut *mut ffi::sqlite3_value) {
    // SAFETY: SQLite hands over as many values as the function was made known with, and they outlive this call.
    let found = unsafe {
        let (one, other) = (bytes(*values), bytes(*values.add(1)));
        // Nothing may unwind into C.
        catch_unwind(|| dot(one, other)).ok().flatten()
    };
    let packed = found.unwrap_or(f64::NAN).to_be_bytes();
    // SAFETY: SQLite copies the bytes before this returns.
    unsafe {
        let transient = ffi::SQLITE_TRANSIENT();
        ffi::sqlite3_result_blob(context, packed.as_ptr().cast::<c_void>(), packed.len() as c_int, transient);
    }
}

/// A value's bytes; none of a NULL.
///
/// # Safety
/// The value must outlive the slice, and not be asked for in another form meanwhile.
#[allow(unsafe_code)]
unsafe fn bytes<'a>(value: *mut ffi::sqlite3_value) -> &'a [u8] {
    // SAFETY: for a blob, SQLite requires the pointer to be read before the length; an empty blob has no pointer.
    unsafe {
        let start = ffi::sqlite3_value_blob(value).cast::<u8>();
        match usize::try_from(ffi::sqlite3_value_bytes(value)) {
            Ok(length) if !start.is_null() && length <= LONGEST => slice::from_raw_parts(start, length),
            _ => &[],
        }
    }
}
