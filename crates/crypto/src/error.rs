//! Why there are no keys.

/// Why there are no keys. At a start each is final, except [`KeyError::Transient`]; in a running process each is a retry
/// (`keys_unavailable`), since the right key store may come back. `place` is a path or the name of a database or service,
/// never a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key store, or the service of its root key, does not answer: try again.
    #[error("the key store is currently unavailable")]
    Transient,
    #[error("{place}: no key store found; restore its copy, or run `anamnesis keys init` for a new store")]
    Missing { place: String },
    #[error(
        "{place}: the key store was never initialised; restore its copy, or run `anamnesis keys init` for a new store"
    )]
    Uninitialised { place: String },
    #[error("{place}: the key store is damaged (empty, truncated or changed); restore its newest copy")]
    Damaged { place: String },
    #[error("{place}: a file or a key store already exists; nothing was changed")]
    Exists { place: String },
    /// A copy from before keys were made that the store uses.
    #[error(
        "{place}: the key store is older than the store: it is at generation {has}, the store has seen {seen}; \
         restore its newest copy"
    )]
    RolledBack { place: String, has: u64, seen: u64 },
    #[error("{place}: this key store belongs to another store; configure the key store that this store is bound to")]
    Foreign { place: String },
    /// The store is new, and no one has said yet that these are its keys.
    #[error("{place}: the store is not bound to a key store yet; run `anamnesis keys init` once for a new store")]
    Unbound { place: String },
    /// The store knows a patient whose key the key store does not have.
    #[error("{place}: the key store lacks the key of a stored patient; restore its newest copy")]
    Lost { place: String },
    #[error("{place}: the root key does not decrypt this key store; configure the root key that created it")]
    WrongMaster { place: String },
    #[error("{place}: no root key found; restore its copy, or run `anamnesis keys init` for a new store")]
    NoMaster { place: String },
    #[error(
        "{place}: the root key is readable by others; set its mode to 0600 (0440 when root owns it and the group is the program's)"
    )]
    Exposed { place: String },
    #[error("{place}: the root key must be 64 hexadecimal digits")]
    BadMaster { place: String },
    /// The service refuses us: credentials or permissions.
    #[error("{place}: the key service refuses this program ({reason})")]
    Denied { place: String, reason: String },
    #[error("{place}: the file cannot be created or read; restore it, or give the program write access to its folder")]
    File { place: String },
}

impl KeyError {
    /// Stable code for logs and metrics.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Transient => "keys_unanswered",
            Self::Missing { .. } => "keys_missing",
            Self::Uninitialised { .. } => "keys_uninitialised",
            Self::Damaged { .. } => "keys_damaged",
            Self::Exists { .. } => "keys_exist",
            Self::RolledBack { .. } => "keys_rolled_back",
            Self::Foreign { .. } => "keys_foreign",
            Self::Unbound { .. } => "keys_unbound",
            Self::Lost { .. } => "keys_lost",
            Self::WrongMaster { .. } => "root_key_wrong",
            Self::NoMaster { .. } => "root_key_missing",
            Self::Exposed { .. } => "root_key_exposed",
            Self::BadMaster { .. } => "root_key_malformed",
            Self::Denied { .. } => "root_key_denied",
            Self::File { .. } => "keys_file",
        }
    }
}
