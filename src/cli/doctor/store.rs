//! Where memory lives: reachable, writable, with the schema of this program and a role that fits.

use std::path::Path;

use rustix::fs::{Access, access};
use secrecy::ExposeSecret as _;

use super::Doctor;
use anamnesis_sql::{Database, DbError, Location, SchemaState, found_schema};

/// The store, opened for reading, where that is possible.
pub(super) async fn check(doctor: &mut Doctor) -> Option<Database> {
    let location = match Location::from_config(&doctor.settings.store) {
        Ok(location) => location,
        Err(error) => {
            refused(doctor, &error);
            return None;
        }
    };
    if let Location::File(path) = &location {
        let path = path.clone();
        if !folder(doctor, &path) {
            return None;
        }
        if !path.exists() {
            doctor.skip("store", "it is not there yet: the first command that opens it makes it");
            return None;
        }
    }
    if !schema(doctor, &location).await {
        return None;
    }
    let db = match Database::open_for_reading(&location).await {
        Ok(db) => db,
        Err(error) => {
            refused(doctor, &error);
            return None;
        }
    };
    server(doctor, &db).await;
    doctor.done("store");
    Some(db)
}

/// Whether the embedded store can be where it is to be.
fn folder(doctor: &mut Doctor, path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A start makes the folders that are missing, below one that is there.
    let there = folder.ancestors().find(|folder| folder.as_os_str().is_empty() || folder.exists());
    let there = there.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !there.is_dir() || (there != folder && access(there, Access::WRITE_OK).is_err()) {
        doctor.found("store_folder", format!("{}: {} cannot hold it", folder.display(), there.display()));
        return false;
    }
    let closed = |path: &Path| path.exists() && access(path, Access::WRITE_OK).is_err();
    if let Some(closed) = [folder, path].into_iter().find(|path| closed(path)) {
        doctor.found("store_not_writable", format!("{} may not be written to by this user", closed.display()));
        return false;
    }
    true
}

async fn schema(doctor: &mut Doctor, location: &Location) -> bool {
    let state = match found_schema(location).await {
        Ok(state) => state,
        Err(error) => {
            refused(doctor, &error);
            return false;
        }
    };
    let current = state == SchemaState::Current;
    match state {
        SchemaState::Current => {}
        SchemaState::Behind(missing) => doctor.found(
            "schema_behind",
            format!("{} migrations are missing, up to {}", missing.len(), missing.last().unwrap_or(&0)),
        ),
        SchemaState::Newer(version) => doctor.found("schema_newer", DbError::Newer(version).to_string()),
        SchemaState::Changed(version) => doctor.found("schema_changed", DbError::Changed(version).to_string()),
    }
    doctor.done("schema");
    current
}

async fn server(doctor: &mut Doctor, db: &Database) {
    match db.server_info().await {
        Ok(None) => {}
        Ok(Some(facts)) => {
            if facts.read_only {
                doctor.found("store_read_only", "the server of store.url takes no writes");
            }
            if !facts.missing_rights.is_empty() {
                doctor.found("store_rights", format!("the role lacks {}", facts.missing_rights.join(", ")));
            }
        }
        Err(error) => refused(doctor, &error),
    }
}

fn refused(doctor: &mut Doctor, error: &DbError) {
    let embedded = doctor.settings.store.url.expose_secret().is_empty();
    let code = match error {
        DbError::Url => "store_url",
        DbError::Tls => "store_tls",
        DbError::Login => "store_login",
        DbError::Role(_) => "store_role",
        DbError::Denied => "store_rights",
        DbError::NotDurable(_) => "store_not_durable",
        DbError::Pooler => "store_pooler",
        DbError::Schema => "schema_behind",
        DbError::Newer(_) => "schema_newer",
        DbError::Changed(_) => "schema_changed",
        _ if embedded => "store_damaged",
        _ => "store_unreachable",
    };
    let place = if embedded { format!("{}: ", doctor.settings.store.path.display()) } else { String::new() };
    doctor.found(code, format!("{place}{error}"));
}
