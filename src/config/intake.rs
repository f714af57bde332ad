//! `[intake]`: what is let in, and which producer may speak for which organisation.

use serde::{Deserialize, Serialize};

use crate::domain::ids::OrgId;

/// See `default.toml` for the meaning of each key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntakeConfig {
    /// Bytes of one message body.
    pub max_body_bytes: usize,
    pub unknown_organizations: UnknownOrganizations,
    /// Empty: every source may speak for every organisation. Otherwise only the listed ones, for theirs.
    pub producers: Vec<Producer>,
}

/// What happens to a message of an organisation that the store does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownOrganizations {
    /// It is registered with the default policy.
    #[default]
    Register,
    /// The message is quarantined.
    Refuse,
}

/// One producer's binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// The CloudEvents `source`, exactly; `urn:anamnesis:bare` for data without an envelope.
    pub source: String,
    pub organizations: Vec<OrgId>,
}

impl Default for IntakeConfig {
    fn default() -> Self {
        Self {
            max_body_bytes: 1024 * 1024,
            unknown_organizations: UnknownOrganizations::default(),
            producers: Vec::new(),
        }
    }
}
