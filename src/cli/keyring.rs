//! The key store of the settings: its root key and its table. The one place where adapters are chosen.

use std::path::PathBuf;
use std::sync::Arc;

use secrecy::ExposeSecret as _;

use super::{CliError, PatientAnswer};
use anamnesis_config::Settings;
use anamnesis_config::keys::RootKind;
use anamnesis_core::clock::{Clock, Entropy, SystemClock};
use anamnesis_core::failpoints;
use anamnesis_crypto::{
    KeyDatabase, KeyError, KeyTable, Keyring, LocalRoot, PostgresTable, RootKey, SqliteTable, TableState, parse_root,
    service_root,
};
use anamnesis_sql::Database;
use anamnesis_store::binding::{KeyBinding, is_used};
use anamnesis_store::{Store, StoreError};

/// The file of the local root key: as configured, else next to the key store.
pub(crate) fn root_file(settings: &Settings) -> PathBuf {
    let configured = &settings.store.master_key_file;
    if !configured.as_os_str().is_empty() {
        return configured.clone();
    }
    let mut name = settings.store.keys.as_os_str().to_owned();
    name.push(".master");
    PathBuf::from(name)
}

/// The configured root key. Nothing is made.
///
/// # Errors
/// [`KeyError::NoMaster`] where its file is not there, [`KeyError::BadMaster`], [`KeyError::Exposed`].
pub(crate) fn root(settings: &Settings, entropy: &Arc<dyn Entropy>) -> Result<Arc<dyn RootKey>, KeyError> {
    // The machine's own clock, because services end their tokens by it, whatever "now" is configured.
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    if let Some(root) = service_root(&settings.keys, &|name| std::env::var(name).ok(), &clock, entropy)? {
        return Ok(root);
    }
    let given = settings.store.master_key.expose_secret();
    if given.is_empty() {
        return Ok(Arc::new(LocalRoot::read(&root_file(settings), Arc::clone(entropy))?));
    }
    let place = "store.master_key";
    let root = parse_root(given).ok_or_else(|| KeyError::BadMaster { place: place.to_owned() })?;
    Ok(Arc::new(LocalRoot::new(place, root, Arc::clone(entropy))))
}

/// As [`root`], made where its file is not there: for `keys init` and a first start.
///
/// # Errors
/// As [`root`], and when the file cannot be made.
pub(crate) fn root_or_new(settings: &Settings, entropy: &Arc<dyn Entropy>) -> Result<Arc<dyn RootKey>, KeyError> {
    match root(settings, entropy) {
        Err(KeyError::NoMaster { .. }) => Ok(Arc::new(LocalRoot::create(&root_file(settings), Arc::clone(entropy))?)),
        read => read,
    }
}

/// The configured table of wrapped keys. Nothing is opened or made yet.
///
/// # Errors
/// [`KeyError::Denied`] for a database that is no place for keys.
pub(crate) fn table(settings: &Settings) -> Result<Arc<dyn KeyTable>, KeyError> {
    match settings.store.keys_url.expose_secret() {
        "" => Ok(Arc::new(SqliteTable::at(&settings.store.keys))),
        _ => Ok(Arc::new(database(settings)?)),
    }
}

/// Who creates the key store of a store that is empty and unbound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyStoreSetup {
    /// The first process that opens it: the local default, once; a demonstration, a measurement, `keys init`.
    Create,
    /// Only `keys init` creates keys. Several hosts open a store on a server, and a host that created keys itself would
    /// bind the store to keys that the others do not have. A key service must be configured by a person, too.
    Wait,
}

impl KeyStoreSetup {
    /// Of verbs and roles: only the store, its keys and its root key on this machine make themselves.
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let store = &settings.store;
        let on_servers = !store.url.expose_secret().is_empty() || !store.keys_url.expose_secret().is_empty();
        if on_servers || settings.keys.root != RootKind::Local { Self::Wait } else { Self::Create }
    }
}

/// The key table in the database of `store.keys_url`. Nothing is connected yet.
///
/// # Errors
/// [`KeyError::Denied`] for a database that is no place for keys.
pub(crate) fn database(settings: &Settings) -> Result<PostgresTable, KeyError> {
    let store = &settings.store;
    let others = [store.url.expose_secret(), store.migrate_url.expose_secret()];
    Ok(PostgresTable::new(KeyDatabase::new(store.keys_url.expose_secret(), &others, &store.postgres)?))
}

/// Opens the key store of a store. If `first` allows it, one is created for an empty and unbound store; otherwise a
/// missing, empty or damaged one is an error that names it. A key store from before headers gets its header.
///
/// # Errors
/// Of the root key, the table and the database.
pub(crate) async fn open(
    settings: &Settings,
    db: &Database,
    first: KeyStoreSetup,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
) -> Result<Keyring, StoreError> {
    if failpoints::is("keys_reminted")
        && matches!(table(settings)?.state().await?, TableState::Absent | TableState::Empty)
    {
        let root = root_or_new(settings, entropy)?;
        return Ok(Keyring::create(root.as_ref(), table(settings)?, clock.clone(), entropy.clone()).await?);
    }
    if let Some(keys) = existing(settings, Some(db), first, clock, entropy).await? {
        return Ok(keys);
    }
    let table = table(settings)?;
    let (clock, entropy) = (Arc::clone(clock), Arc::clone(entropy));
    if table.state().await? == TableState::Legacy {
        return Ok(Keyring::upgrade(root(settings, &entropy)?.as_ref(), table, clock, entropy).await?);
    }
    let root = root_or_new(settings, &entropy)?;
    let again = (Arc::clone(&table), Arc::clone(&clock), Arc::clone(&entropy));
    match Keyring::create(root.as_ref(), table, clock, entropy).await {
        // Another first start was quicker.
        Err(KeyError::Exists { .. }) => Ok(Keyring::open(root.as_ref(), again.0, again.1, again.2).await?),
        made => Ok(made?),
    }
}

/// The key store that is there, opened; nothing is made or changed. `None`: [`open`] makes it now, or gives it its header.
/// Without a database nothing is known of the store's binding.
///
/// # Errors
/// As [`open`].
pub(crate) async fn existing(
    settings: &Settings,
    db: Option<&Database>,
    first: KeyStoreSetup,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
) -> Result<Option<Keyring>, StoreError> {
    let table = table(settings)?;
    let place = table.place();
    let binding = match db {
        Some(db) => KeyBinding::read(db).await?,
        None => None,
    };
    let state = table.state().await?;
    // Checked only if no key store is ready, because a role of the audit trail may not read the quarantine.
    let used = match db {
        Some(db) if binding.is_none() && !matches!(state, TableState::Ready(_)) => is_used(db).await?,
        _ => false,
    };
    match (state, binding) {
        (TableState::Ready(_), _) => {
            let root = root(settings, entropy)?;
            let opened = Keyring::open(root.as_ref(), table, Arc::clone(clock), Arc::clone(entropy)).await?;
            Ok(Some(opened.holding(root)))
        }
        (TableState::Legacy, None) => Ok(None),
        (TableState::Legacy, Some(binding)) => {
            Err(KeyError::RolledBack { place, has: 0, seen: binding.generation }.into())
        }
        (TableState::Empty, None) if first == KeyStoreSetup::Wait && !used => {
            Err(KeyError::Uninitialised { place }.into())
        }
        (_, None) if first == KeyStoreSetup::Create && !used => Ok(None),
        (TableState::Absent, _) => Err(KeyError::Missing { place }.into()),
        (TableState::Empty, _) => Err(KeyError::Damaged { place }.into()),
    }
}

/// Compares the key store with the store's binding, and binds a store that is new where `first` allows it.
///
/// # Errors
/// As [`KeyStoreBinding::bind_keys`] and [`KeyStoreBinding::require_keys`].
pub(crate) async fn bind(store: &Store, first: KeyStoreSetup) -> Result<(), StoreError> {
    match first {
        KeyStoreSetup::Create => store.key_binding().bind_keys().await,
        KeyStoreSetup::Wait => store.key_binding().require_keys().await,
    }
}

/// How a verb ends that has no keys.
pub(crate) fn failure(error: &StoreError) -> CliError {
    let failure = match error {
        StoreError::Key(KeyError::Transient) | StoreError::Db(_) => CliError::failed(error.to_string()),
        error => CliError::usage(error.to_string()),
    };
    failure.answering(PatientAnswer::from_store_error(error))
}
