//! The key store and its root key: there, whole, the store's own, and as new as the store.

use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use super::Doctor;
use crate::cli::keyring::{self, KeyStoreSetup};
use anamnesis_crypto::{KeyError, KeyStore};
use anamnesis_sql::Database;
use anamnesis_store::binding::KeyBinding;
use anamnesis_store::{Store, StoreError};

/// Opens the keys without creating any. With a database, the opened store is reused by later checks.
pub(super) async fn check(doctor: &mut Doctor, db: Option<Database>) {
    let first = KeyStoreSetup::from_settings(&doctor.settings);
    let (settings, clock, entropy) = (doctor.settings.clone(), doctor.clock.clone(), doctor.entropy.clone());
    exposed(doctor);
    let keys = match keyring::existing(&settings, db.as_ref(), first, &clock, &entropy).await {
        Ok(Some(keys)) => keys,
        Ok(None) => {
            doctor.skip("keys", "there are none yet: the first command that opens the store makes them");
            return;
        }
        Err(error) => return refused(doctor, &error),
    };
    let keys: Arc<dyn KeyStore> = Arc::new(keys);
    let Some(db) = db else { return doctor.done("keys") };
    let bound = KeyBinding::read(&db).await;
    let store = Store::new(db, keys, clock, entropy);
    match (bound, store.key_binding().check_keys().await) {
        (Ok(None), _) if first == KeyStoreSetup::Wait => {
            doctor.found("keys_unbound", KeyError::Unbound { place: store.keys().place() }.to_string());
        }
        (_, Err(error)) => return refused(doctor, &error),
        _ => {
            // A patient without a key takes nothing from the checks of others.
            if let Err(error) = store.key_binding().every_patient_has_a_key().await {
                refused(doctor, &error);
            }
            doctor.store = Some(store);
        }
    }
    doctor.done("keys");
}

fn refused(doctor: &mut Doctor, error: &StoreError) {
    match error {
        StoreError::Key(key) => doctor.found(key.code(), key.to_string()),
        _ => doctor.skip("keys", "the store cannot be read, so that nothing is known of its keys"),
    }
}

/// The wrapped keys are ciphertext; still no other user has any use for them.
fn exposed(doctor: &mut Doctor) {
    let path = &doctor.settings.store.keys;
    let Ok(about) = std::fs::metadata(path) else { return };
    if about.mode() & 0o077 != 0 && about.is_file() {
        let cause = format!("{} has the mode {:04o}", path.display(), about.mode() & 0o7777);
        doctor.found("keys_exposed", cause);
    }
}
