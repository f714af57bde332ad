//! `keys`: the key store of a store: making it, looking at it, rotating it, and an escrow of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Value, json};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::keyring::KeyStoreSetup;
use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit, audited, keyring};
use anamnesis_config::{self as config, Settings};
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{Escrow, KeyError, KeyStore, Keyring, LocalRoot, RootKey, SqliteTable, private_file};
use anamnesis_sql::{Database, DbError, Location};
use anamnesis_store::audit_trail::{AuditedAction, PLATFORM};
use anamnesis_store::binding::KeyBinding;
use anamnesis_store::{Store, StoreError};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: KeysSubcommand,
}

#[derive(Debug, Subcommand)]
enum KeysSubcommand {
    /// Create the key store of an empty store and bind the store to it; does nothing if they exist
    Init,
    /// Show the key store and its content, and check that it belongs to the store
    Status {
        /// Decrypt every key of every patient.
        #[arg(long)]
        verify: bool,
    },
    /// Rotate keys while workers run; run it again to continue an interrupted rotation
    #[command(group = clap::ArgGroup::new("which").required(true))]
    Rotate {
        /// Create a new key-encryption key and wrap all data keys with it.
        #[arg(long, group = "which")]
        master: bool,
        /// Create new data keys, for data that is encrypted from now on.
        #[arg(long, group = "which")]
        data: bool,
        /// Organisation of the patient.
        #[arg(long, value_name = "UUID", requires = "patient", conflicts_with = "master")]
        org: Option<Uuid>,
        /// Only the data key of this patient.
        #[arg(long, value_name = "UUID", requires = "org")]
        patient: Option<Uuid>,
    },
    /// Wrap the store key with another root key; then configure that root key
    #[command(group = clap::ArgGroup::new("target").required(true))]
    Rewrap {
        /// File of the new root key; created if missing.
        #[arg(long, value_name = "FILE", group = "target")]
        to: Option<PathBuf>,
        /// A configuration file with the new root key in `[keys]`, such as one of a key service.
        #[arg(long, value_name = "FILE", group = "target")]
        to_config: Option<PathBuf>,
    },
    /// Write all keys into an escrow file that needs two escrow keys to open
    Export {
        /// The escrow file to write.
        file: PathBuf,
        #[command(flatten)]
        by: EscrowKeyArgs,
    },
    /// Check that an escrow file can be opened; with --keys and --root, restore a key store from it
    ImportEscrow {
        /// The escrow file.
        file: PathBuf,
        #[command(flatten)]
        by: EscrowKeyArgs,
        /// File of the key store to create.
        #[arg(long, value_name = "FILE", requires = "root")]
        keys: Option<PathBuf>,
        /// File of its root key; created if missing.
        #[arg(long, value_name = "FILE", requires = "keys")]
        root: Option<PathBuf>,
    },
}

/// The two escrow keys.
#[derive(Debug, clap::Args)]
struct EscrowKeyArgs {
    /// File of the first escrow key, 64 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    first: PathBuf,
    /// File of the second escrow key.
    #[arg(long, value_name = "FILE")]
    second: PathBuf,
}

/// An opened key store, its store, and the settings that name them.
struct OpenKeyStore {
    settings: Settings,
    keys: Arc<Keyring>,
    store: Store,
}

impl OpenKeyStore {
    async fn open(context: &Context) -> Result<Self, CliError> {
        let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
        let first = KeyStoreSetup::from_settings(&settings);
        Self::with(settings, first).await
    }

    /// As [`OpenKeyStore::open`]; the key store of an empty store is made and bound to it.
    async fn init(context: &Context) -> Result<Self, CliError> {
        let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
        Self::with(settings, KeyStoreSetup::Create).await
    }

    async fn with(settings: Settings, first: KeyStoreSetup) -> Result<Self, CliError> {
        let (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
        let location = Location::from_config(&settings.store).map_err(|error| database(&error))?;
        let db = Database::open(&location).await.map_err(|error| database(&error))?;
        let keys = keyring::open(&settings, &db, first, &clock, &entropy).await;
        let keys = keys.map_err(|error| keyring::failure(&error))?;
        let keys = Arc::new(keys);
        let store = Store::new(db, Arc::clone(&keys) as Arc<dyn KeyStore>, clock, entropy);
        keyring::bind(&store, first).await.map_err(|error| keyring::failure(&error))?;
        Ok(Self { settings, keys, store })
    }

    /// Records the version of the key store in the store, so that an older copy is refused from now on, and audits the
    /// act.
    async fn noted(&self, action: &str, scope: Option<Scope>) -> Result<(), CliError> {
        self.store.key_binding().note_keys().await.map_err(|error| keyring::failure(&error))?;
        self.audited(action, scope).await
    }

    async fn audited(&self, action: &str, scope: Option<Scope>) -> Result<(), CliError> {
        let done = scope
            .map_or_else(|| AuditedAction::in_organization(PLATFORM, action), |scope| AuditedAction::to(scope, action));
        let actor = Actor { id: audited::user(), ..Actor::default() };
        self.store.audit_trail().audit(&actor, done).await.map_err(CliError::from)
    }
}

fn database(error: &DbError) -> CliError {
    CliError::failed(format!("the store: {error}"))
}

fn refused(error: KeyError) -> CliError {
    keyring::failure(&StoreError::Key(error))
}

/// # Errors
/// When the key store or the store cannot be used; names the file and what to do.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    context.block_on(async {
        let report = match args.what {
            KeysSubcommand::Init => status(&OpenKeyStore::init(context).await?, false).await?,
            KeysSubcommand::Status { verify } => status(&OpenKeyStore::open(context).await?, verify).await?,
            KeysSubcommand::Rotate { master: true, .. } => rotate_master(&OpenKeyStore::open(context).await?).await?,
            KeysSubcommand::Rotate { org, patient, .. } => {
                rotate_data(&OpenKeyStore::open(context).await?, org.zip(patient)).await?
            }
            KeysSubcommand::Rewrap { to: Some(to), .. } => rewrap(&OpenKeyStore::open(context).await?, &to).await?,
            KeysSubcommand::Rewrap { to_config, .. } => {
                rewrap_to(&OpenKeyStore::open(context).await?, &to_config.unwrap_or_default()).await?
            }
            KeysSubcommand::Export { file, by } => export(&OpenKeyStore::open(context).await?, &file, &by).await?,
            KeysSubcommand::ImportEscrow { file, by, keys, root } => import(&file, &by, keys.zip(root)).await?,
        };
        print(&report, format)?;
        Ok(Exit::Done)
    })
}

fn print(report: &Value, format: OutputFormat) -> Result<(), CliError> {
    if format == OutputFormat::Json {
        return output::json(report);
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows = report.as_object().into_iter().flatten().map(|(name, value)| [name.replace('_', " "), text(value)]);
    output::table(&["", "key store"], rows)
}

async fn status(opened: &OpenKeyStore, verify: bool) -> Result<Value, CliError> {
    let counts = opened.keys.counts().await.map_err(refused)?;
    let stamp = opened.keys.stamp();
    let binding = KeyBinding::read(opened.store.db()).await.map_err(|error| database(&error))?;
    let mut report = json!({
        "place": opened.keys.place(),
        "key_store_id": stamp.id,
        "root": opened.keys.root_name().await.map_err(refused)?,
        "generation": stamp.generation,
        "generation_seen_by_store": binding.map(|binding| binding.generation),
        "master_version": opened.keys.newest_kek(),
        "patients": counts.patients,
        "erased": counts.erased,
        "keys_under_older_masters": counts.outdated,
    });
    if verify {
        report["verified_patients"] = json!(opened.keys.verify().await.map_err(refused)?);
    }
    Ok(report)
}

async fn rotate_master(opened: &OpenKeyStore) -> Result<Value, CliError> {
    let progress = output::progress_count(None);
    let rotated = opened.keys.rotate_master(&mut |done| progress.set_position(done)).await;
    progress.finish_and_clear();
    let (version, patients) = rotated.map_err(refused)?;
    opened.noted("master_key_rotated", None).await?;
    Ok(json!({"master_version": version, "rewrapped_patients": patients}))
}

async fn rotate_data(opened: &OpenKeyStore, only: Option<(Uuid, Uuid)>) -> Result<Value, CliError> {
    let scope = only.map(|(org, patient)| Scope::new(OrgId(org), PatientId(patient))).transpose();
    let scope = scope.map_err(|error| CliError::usage(error.to_string()))?;
    let progress = output::progress_count(None);
    let rotated = opened.keys.rotate_data(scope, &mut |done| progress.set_position(done)).await;
    progress.finish_and_clear();
    let patients = rotated.map_err(refused)?;
    if scope.is_some() && patients == 0 {
        return Err(CliError::usage("the key store has no key of this patient"));
    }
    opened.noted("data_keys_rotated", scope).await?;
    Ok(json!({"rotated_patients": patients}))
}

async fn rewrap(opened: &OpenKeyStore, to: &Path) -> Result<Value, CliError> {
    let root = root_at(to)?;
    opened.keys.rewrap(&root).await.map_err(refused)?;
    opened.noted("keys_rewrapped", None).await?;
    let was = keyring::root_file(&opened.settings).display().to_string();
    Ok(
        json!({"root": root.name(), "next": format!("set store.master_key_file to {}; {was} opens it no longer", to.display())}),
    )
}

/// Under the root key of another configuration.
async fn rewrap_to(opened: &OpenKeyStore, config: &Path) -> Result<Value, CliError> {
    let settings = config::load(Some(config)).map_err(|error| CliError::usage(error.to_string()))?;
    let root = keyring::root_or_new(&settings, &(Arc::new(SystemEntropy) as Arc<dyn Entropy>)).map_err(refused)?;
    opened.keys.rewrap(root.as_ref()).await.map_err(refused)?;
    opened.noted("keys_rewrapped", None).await?;
    Ok(json!({"root": root.name(), "next": format!("use [keys] of {}", config.display())}))
}

/// A root key's file, made when it is not there.
fn root_at(path: &Path) -> Result<LocalRoot, CliError> {
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    match LocalRoot::read(path, Arc::clone(&entropy)) {
        Err(KeyError::NoMaster { .. }) => LocalRoot::create(path, entropy).map_err(refused),
        read => read.map_err(refused),
    }
}

impl EscrowKeyArgs {
    fn read(&self) -> Result<(Zeroizing<[u8; 32]>, Zeroizing<[u8; 32]>), CliError> {
        let read = |path: &Path| LocalRoot::read(path, Arc::new(SystemEntropy)).map(|root| root.secret());
        let (first, second) = (read(&self.first).map_err(refused)?, read(&self.second).map_err(refused)?);
        if first == second {
            return Err(CliError::usage("the two escrow keys are the same: give two files of two people"));
        }
        Ok((first, second))
    }
}

async fn export(opened: &OpenKeyStore, file: &Path, by: &EscrowKeyArgs) -> Result<Value, CliError> {
    let (first, second) = by.read()?;
    let escrow = opened.keys.escrow(&first, &second).await.map_err(refused)?;
    private_file(file, &escrow).map_err(refused)?;
    opened.audited("keys_exported", None).await?;
    let proved = Escrow::open(&file.display().to_string(), &std::fs::read(file)?, &first, &second).map_err(refused)?;
    Ok(json!({"file": file.display().to_string(), "key_store_id": proved.id(), "patients": proved.patients()}))
}

async fn import(file: &Path, by: &EscrowKeyArgs, to: Option<(PathBuf, PathBuf)>) -> Result<Value, CliError> {
    let (first, second) = by.read()?;
    let place = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|_| CliError::usage(format!("{place}: the escrow file cannot be read")))?;
    let escrow = Escrow::open(&place, &bytes, &first, &second).map_err(refused)?;
    let mut report = json!({"key_store_id": escrow.id(), "patients": escrow.patients(), "opens": true});
    if let Some((keys, root)) = to {
        let root = root_at(&root)?;
        let table = Arc::new(SqliteTable::at(&keys));
        let with = (Arc::new(SystemClock), Arc::new(SystemEntropy));
        escrow.restore(&root, table, with.0, with.1).await.map_err(refused)?;
        report["made"] = json!(keys.display().to_string());
        report["root"] = json!(root.name());
    }
    Ok(report)
}
