//! The redactor of each organisation: its policy, recognisers, key and services from the configuration, or the policy
//! of its row in the store. Unusable settings stop the start. Unknown ones redact nothing, so that nothing is stored.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anamnesis_config::redaction::{OrganizationRedaction, RedactionConfig};
use anamnesis_core::ids::OrgId;
use anamnesis_redaction::remote::{Google, Presidio, Remote, RemoteError, Services};
use anamnesis_redaction::{CustomRecognisers, Redaction, RedactionError, RedactionPolicy, Redactor, TokenKey};
use anamnesis_store::records::StoredReplacement;
use anamnesis_transport::{ApiToken, ClientError};

type ByPolicy = BTreeMap<String, Arc<Redactor>>;

/// The redactors of the built-in policies: made once per process, shared by all.
static BUILT_IN: LazyLock<Result<ByPolicy, RedactionError>> = LazyLock::new(|| of_each_policy(Redactor::builtin));

fn of_each_policy(redactor: fn(RedactionPolicy) -> Redactor) -> Result<ByPolicy, RedactionError> {
    let made = |name: &str| Ok((name.to_owned(), Arc::new(redactor(RedactionPolicy::named(name)?))));
    ["safe_harbor", "gdpr_pseudonymise", "strict"].into_iter().map(made).collect()
}

/// A fault of an organisation's redaction settings. It names the place, never its content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("redaction.organizations[{at}].{key}: {problem}")]
pub struct RedactorsError {
    at: usize,
    key: &'static str,
    problem: String,
}

/// All redactors of a process.
#[derive(Clone)]
pub struct Redactors {
    built_in: ByPolicy,
    own: BTreeMap<OrgId, Arc<Redactor>>,
}

impl Redactors {
    /// # Errors
    /// The first organisation's key whose file or value cannot be used.
    pub fn load(config: &RedactionConfig) -> Result<Self, RedactorsError> {
        let defect = |error: &RedactionError| RedactorsError { at: 0, key: "policy", problem: error.to_string() };
        let built_in = BUILT_IN.as_ref().map_err(defect)?.clone();
        let mut own = BTreeMap::new();
        for (at, rules) in config.organizations.iter().enumerate() {
            let redactor = made(rules).map_err(|(key, problem)| RedactorsError { at, key, problem })?;
            if own.insert(rules.organization, Arc::new(redactor)).is_some() {
                let problem = "is listed twice".to_owned();
                return Err(RedactorsError { at, key: "organization", problem });
            }
        }
        Ok(Self { built_in, own })
    }

    /// The built-in policies, for organisations whose rows name them.
    pub fn built_in() -> Self {
        Self { built_in: BUILT_IN.as_ref().cloned().unwrap_or_default(), own: BTreeMap::new() }
    }

    /// The built-in policies with patterns and people of the message only.
    ///
    /// # Errors
    /// As [`RedactionPolicy::named`].
    pub(crate) fn patterns_only() -> Result<Self, RedactionError> {
        Ok(Self { built_in: of_each_policy(Redactor::patterns_only)?, own: BTreeMap::new() })
    }

    /// The redactor of an organisation whose row names this policy; `None` for a policy that does not exist.
    pub fn get(&self, organization: OrgId, policy: &str) -> Option<&Arc<Redactor>> {
        self.own.get(&organization).or_else(|| self.built_in.get(policy))
    }
}

type KeyProblem = (&'static str, String);

fn made(rules: &OrganizationRedaction) -> Result<Redactor, KeyProblem> {
    let policy = policy(&rules.policy).map_err(|problem| ("policy", problem))?;
    let sealed = policy.is_reversible();
    let mut redactor = Redactor::builtin(policy);
    if let Some(text) = file(&rules.custom, "custom")? {
        redactor = redactor.custom(CustomRecognisers::from_toml(&text).map_err(|error| ("custom", error.to_string()))?);
    }
    match file(&rules.token_key, "token_key")? {
        Some(text) => {
            let key = TokenKey::from_hex(&text);
            redactor = redactor.token_key(key.ok_or(("token_key", "has not 128 hexadecimal digits".to_owned()))?);
        }
        None if sealed => return Err(("token_key", "is needed by a policy that seals values".to_owned())),
        None => {}
    }
    let services = services(rules)?;
    if services.is_empty() {
        return Ok(redactor);
    }
    let services = Services::new(services).map_err(|error| ("organization", error.to_string()))?;
    Ok(redactor.services(services))
}

fn policy(name: &str) -> Result<RedactionPolicy, String> {
    if name.ends_with(".toml") {
        let text = std::fs::read_to_string(name).map_err(|_| "the file cannot be read".to_owned())?;
        return RedactionPolicy::from_toml(&text).map_err(|error| error.to_string());
    }
    RedactionPolicy::named(name).map_err(|error| error.to_string())
}

fn file(path: &Path, key: &'static str) -> Result<Option<String>, KeyProblem> {
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    std::fs::read_to_string(path).map(Some).map_err(|_| (key, "the file cannot be read".to_owned()))
}

fn services(rules: &OrganizationRedaction) -> Result<Vec<Arc<dyn Remote>>, KeyProblem> {
    if !(1..=60_000).contains(&rules.timeout_ms) {
        return Err(("timeout_ms", "must lie between 1 and 60000".to_owned()));
    }
    let timeout = Duration::from_millis(rules.timeout_ms);
    let mut services: Vec<Arc<dyn Remote>> = Vec::new();
    if !rules.presidio.is_empty() {
        let presidio = Presidio::new(&rules.presidio, timeout, &rules.ca_file);
        services.push(Arc::new(presidio.map_err(|error| defect("presidio", error))?));
    }
    if !rules.google.is_empty() {
        // It is read again with every change; that it is there is known from the start.
        if file(&rules.google_token_file, "google_token_file")?.is_none() {
            return Err(("google_token_file", "is needed for Google's service".to_owned()));
        }
        let token = ApiToken::file(rules.google_token_file.clone());
        let google = Google::new(&rules.google_url, &rules.google, token, timeout, &rules.ca_file);
        services.push(Arc::new(google.map_err(|error| defect("google_url", error))?));
    }
    Ok(services)
}

/// The key to blame where a service cannot be made.
fn defect(address: &'static str, error: RemoteError) -> KeyProblem {
    match error {
        RemoteError::Client(ClientError::Authority) => ("ca_file", ClientError::Authority.to_string()),
        error => (address, error.to_string()),
    }
}

/// The stored form of a replacement: everything but the value, which is stored nowhere.
pub fn stored_replacement(one: &Redaction) -> StoredReplacement {
    StoredReplacement {
        label: one.label.to_owned(),
        recognizer: one.recognizer.to_owned(),
        // A hundredth is as fine as a score is meant.
        score: (one.score * 100.0).round() / 100.0,
        source: one.source,
        redacted: one.redacted,
        fingerprint: one.fingerprint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORG: &str = "5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e3f";

    fn config(lines: &str) -> RedactionConfig {
        toml::from_str(&format!("[[organizations]]\norganization = \"{ORG}\"\n{lines}")).unwrap()
    }

    fn wrong(lines: &str) -> String {
        Redactors::load(&config(lines)).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_organisation_has_its_own_redactor_and_others_the_one_of_their_row() {
        let redactors = Redactors::load(&config("policy = \"strict\"")).unwrap();
        let (own, other): (OrgId, OrgId) =
            (ORG.parse().unwrap(), "5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e40".parse().unwrap());
        assert!(redactors.get(own, "safe_harbor").unwrap().revision().starts_with("strict/"));
        assert!(redactors.get(other, "safe_harbor").unwrap().revision().starts_with("safe_harbor/"));
        assert!(redactors.get(other, "lenient").is_none());
    }

    #[test]
    fn what_cannot_be_used_is_named_by_its_key_and_never_quoted() {
        assert!(wrong("policy = \"secret\"").starts_with("redaction.organizations[0].policy: "));
        assert!(!wrong("policy = \"secret\"").contains("secret"));
        assert_eq!(wrong("custom = \"/no/such\""), "redaction.organizations[0].custom: the file cannot be read");
        assert!(wrong("google = \"projects/p/locations/l\"").contains("google_token_file"));
        let plain = "redaction.organizations[0].presidio: must be https (http is for loopback only)";
        assert_eq!(wrong("presidio = \"http://presidio.clinic:3000\""), plain);
        assert_eq!(wrong("presidio = \"https://presidio.clinic:3000\""), "");
        assert!(wrong("presidio = \"https://presidio.clinic\"\nca_file = \"/no/such\"").contains(".ca_file: "));
        assert!(wrong("timeout_ms = 0").contains("timeout_ms"));
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("own.toml");
        std::fs::write(&policy, "name = \"own\"\nversion = 1\n[operators]\nPERSON = \"token\"\n").unwrap();
        assert!(wrong(&format!("policy = \"{}\"", policy.display())).contains("token_key"));
    }

    #[test]
    fn the_version_of_a_document_contains_the_recognisers_of_the_organisation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.toml");
        let revision = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let redactors = Redactors::load(&config(&format!("custom = \"{}\"", path.display()))).unwrap();
            redactors.get(ORG.parse().unwrap(), "safe_harbor").unwrap().revision()
        };
        let first = revision("[allow]\nwords = [\"one\"]");
        assert_ne!(first, revision("[allow]\nwords = [\"two\"]"));
        assert_eq!(first, revision("[allow]\nwords = [\"one\"]"));
    }
}
