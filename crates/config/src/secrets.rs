//! Secrets from files: for each secret setting `KEY` there is `KEY_file`, the path of a file that holds the value. What a
//! file holds is copied into no other buffer than the secret itself, and that is wiped when it is dropped.
//!
//! Who may read such a file: its owner. A file that is owned by root may also be readable (never writable) by its group,
//! since Kubernetes mounts secrets of a pod with `fsGroup` as `root:GROUP 0440`. Anything wider is refused.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use figment::value::{Dict, Value};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

use super::{ConfigError, Settings};

/// Why the content of a file is not taken for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretFile {
    #[error("the file cannot be read")]
    Unreadable,
    #[error(
        "the file may be read or written by others: set its mode to 0600 (0440 when root owns it and the group is the program's)"
    )]
    Exposed,
    #[error("the file is empty, longer than 64 KiB or not text")]
    Content,
}

/// Longest secret, bytes: a file behind a mistyped path is not read into memory.
const LONGEST: u64 = 65_536;

/// Whether only those may read the file who should (see the head of this file).
///
/// # Errors
/// [`SecretFile::Unreadable`] when it is not there, [`SecretFile::Exposed`] when others may read or write it.
pub(crate) fn guarded(path: &Path) -> Result<(), SecretFile> {
    let about = std::fs::metadata(path).map_err(|_| SecretFile::Unreadable)?;
    fit(&about)
}

fn fit(about: &std::fs::Metadata) -> Result<(), SecretFile> {
    if !about.is_file() {
        return Err(SecretFile::Unreadable);
    }
    let open = if about.uid() == 0 { 0o037 } else { 0o077 };
    if about.mode() & open == 0 { Ok(()) } else { Err(SecretFile::Exposed) }
}

/// The secret that a file holds, without white space at its ends.
///
/// # Errors
/// See [`SecretFile`]; none of them quotes what the file holds.
pub fn read(path: &Path) -> Result<SecretString, SecretFile> {
    let file = std::fs::File::open(path).map_err(|_| SecretFile::Unreadable)?;
    // Of the file that is open, not of the path, which may be another file by now.
    let about = file.metadata().map_err(|_| SecretFile::Unreadable)?;
    fit(&about)?;
    // Room for all at once: a buffer that grows leaves copies in memory that are not wiped.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(LONGEST).unwrap_or(0) + 1));
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|_| SecretFile::Unreadable)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| SecretFile::Content)?.trim();
    if text.is_empty() || bytes.len() as u64 > LONGEST {
        return Err(SecretFile::Content);
    }
    Ok(SecretString::from(text))
}

/// Reads the secrets that the settings name by file. Every one that cannot be read is in the answer.
pub(super) fn fill(settings: &mut Settings) -> Vec<ConfigError> {
    let mut refused = Vec::new();
    let mut note = |read: Result<(), ConfigError>| refused.extend(read.err());
    let store = &mut settings.store;
    note(one("store.url_file", &mut store.url, &store.url_file));
    note(one("store.migrate_url_file", &mut store.migrate_url, &store.migrate_url_file));
    note(one("store.jobs_url_file", &mut store.jobs_url, &store.jobs_url_file));
    note(one("store.keys_url_file", &mut store.keys_url, &store.keys_url_file));
    let broker = &mut settings.broker;
    note(one("broker.url_file", &mut broker.url, &broker.url_file));
    note(one("broker.management_url_file", &mut broker.management_url, &broker.management_url_file));
    for hook in &mut broker.webhooks {
        note(one("broker.webhooks.secret_file", &mut hook.secret, &hook.secret_file));
    }
    let traces = &mut settings.traces;
    note(one("traces.headers_file", &mut traces.headers, &traces.headers_file));
    for producer in &settings.intake.producers {
        note(later("intake.producers.key_file", &producer.key_file));
    }
    let mut embedding = Some(&mut settings.embedding);
    while let Some(section) = embedding {
        if !section.proxy_file.as_os_str().is_empty() {
            let mut proxy = section.proxy.take().unwrap_or_default();
            note(one("embedding.proxy_file", &mut proxy, &section.proxy_file));
            section.proxy = Some(proxy);
        }
        if let Some(path) = &section.api_key_file {
            note(later("embedding.api_key_file", path));
        }
        embedding = section.next.as_deref_mut();
    }
    note(later("extraction.llm.api_key_file", &settings.extraction.llm.api_key_file));
    for organization in &settings.redaction.organizations {
        note(later("redaction.organizations.google_token_file", &organization.google_token_file));
        note(later("redaction.organizations.token_key", &organization.token_key));
    }
    refused
}

fn one(key: &str, secret: &mut SecretString, path: &Path) -> Result<(), ConfigError> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    if !secret.expose_secret().is_empty() {
        return Err(refused(key, path, "give the value or the file that holds it, not both"));
    }
    *secret = read(path).map_err(|error| refused(key, path, problem(error)))?;
    Ok(())
}

/// A file that is read when it is needed, and again when it changes: it may not be there yet, but never open to others.
fn later(key: &str, path: &Path) -> Result<(), ConfigError> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    match guarded(path) {
        Err(SecretFile::Exposed) => Err(refused(key, path, problem(SecretFile::Exposed))),
        _ => Ok(()),
    }
}

fn refused(key: &str, path: &Path, problem: &'static str) -> ConfigError {
    ConfigError::Key { key: key.to_owned(), origin: path.display().to_string(), problem }
}

fn problem(error: SecretFile) -> &'static str {
    match error {
        SecretFile::Unreadable => "names a file that cannot be read",
        SecretFile::Exposed => {
            "names a file that others may read or write: set its mode to 0600 (0440 when root owns it and the group is the program's)"
        }
        SecretFile::Content => "names a file that is empty, longer than 64 KiB or not text",
    }
}

/// How the names of variables end that hold secrets: by kind, so that a setting of tomorrow is among them.
const SECRET_ENDINGS: [&str; 8] = ["URL", "KEY", "WEBHOOKS", "PROXY", "SECRET", "TOKEN", "PASSWORD", "HEADERS"];

/// Whether a variable of the environment gives a setting that may be, or hold, a secret.
pub fn is_secret(variable: &str) -> bool {
    let name = variable.to_uppercase();
    name.starts_with("ANAMNESIS__") && SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Variables that hold secrets, wiped when they are dropped. A child gets them by a pipe and not by its environment, which
/// other processes of the same user can read.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub struct PassedSecrets(BTreeMap<String, SecretString>);

impl Serialize for PassedSecrets {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value.expose_secret())))
    }
}

impl PassedSecrets {
    /// Those of this process. The environment itself stays where the operating system has put it: a secret that must not
    /// be there comes from a file.
    pub fn of_this_process() -> Self {
        let text = |word: OsString| word.into_string().unwrap_or_else(|word| word.to_string_lossy().into_owned());
        let all = std::env::vars_os().map(|(name, value)| (text(name), SecretString::from(text(value))));
        Self(all.filter(|(name, _)| is_secret(name)).collect())
    }

    /// Every variable that is a setting, secret or not: name and text, which is wiped.
    pub(super) fn every_variable() -> impl Iterator<Item = (String, Zeroizing<String>)> {
        let text = |word: OsString| word.into_string().unwrap_or_else(|word| word.to_string_lossy().into_owned());
        std::env::vars_os().map(move |(name, value)| (text(name), Zeroizing::new(text(value))))
    }

    /// As settings. The environment's usual reading would take a token of digits for a number.
    pub(super) fn nested(&self) -> Dict {
        let mut all = Dict::new();
        for (name, value) in &self.0 {
            let Some(key) = name.get("ANAMNESIS__".len()..).filter(|_| is_secret(name)) else { continue };
            let value = value.expose_secret();
            // A list is written as one; all other secrets are text, whatever they look like.
            let list = key.to_uppercase().ends_with("WEBHOOKS");
            let parsed = if list { value.parse::<Value>().ok() } else { None };
            let value = parsed.unwrap_or_else(|| Value::from(value));
            if let Some(dict) = figment::util::nest(&key.to_lowercase().replace("__", "."), value).into_dict() {
                merge(&mut all, dict);
            }
        }
        all
    }
}

/// Everything that there is to read. A buffer that becomes too small is wiped when it is left.
///
/// # Errors
/// Of the reader.
pub fn read_wiping(mut from: impl Read) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; 65_536]);
    let mut filled = 0;
    loop {
        match from.read(&mut bytes[filled..]) {
            Ok(0) => {
                bytes.truncate(filled);
                return Ok(bytes);
            }
            Ok(more) => filled += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if filled == bytes.len() {
            let mut larger = Zeroizing::new(vec![0; 2 * filled]);
            larger[..filled].copy_from_slice(&bytes);
            bytes = larger;
        }
    }
}

fn merge(into: &mut Dict, more: Dict) {
    for (key, value) in more {
        match (into.get_mut(&key), value) {
            (Some(Value::Dict(_, known)), Value::Dict(_, value)) => merge(known, value),
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::{load, load_with};

    fn file(folder: &Path, name: &str, text: &str, mode: u32) -> std::path::PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn secret(key: &str) -> String {
        let scheme = if key == "management" { "http" } else { "amqp" };
        format!("{scheme}://127.0.0.1/{key}-value")
    }

    #[test]
    fn each_secret_can_come_from_a_file_that_only_its_owner_may_read() {
        let dir = tempfile::tempdir().unwrap();
        let named = |key: &str| file(dir.path(), key, &format!(" {}\n", secret(key)), 0o600).display().to_string();
        let text = format!(
            "[store]\nurl_file = '{}'\nmigrate_url_file = '{}'\njobs_url_file = '{}'\nkeys_url_file = '{}'\n[broker]\nurl_file = '{}'\n\
             management_url_file = '{}'\n[[broker.webhooks]]\nurl = 'https://a'\nsecret_file = '{}'\n[embedding]\nproxy_file = '{}'\n\
             [traces]\nheaders_file = '{}'\n",
            named("url"),
            named("migrate"),
            named("jobs"),
            named("keys"),
            named("broker"),
            named("management"),
            named("hook"),
            named("proxy"),
            named("headers")
        );
        let settings = load(Some(&file(dir.path(), "a.toml", &text, 0o644))).unwrap();
        let read = [
            &settings.store.url,
            &settings.store.migrate_url,
            &settings.store.jobs_url,
            &settings.store.keys_url,
            &settings.broker.url,
            &settings.broker.management_url,
            &settings.broker.webhooks[0].secret,
            settings.embedding.proxy.as_ref().unwrap(),
            &settings.traces.headers,
        ];
        let read: Vec<&str> = read.iter().map(|secret| secret.expose_secret()).collect();
        let expected = ["url", "migrate", "jobs", "keys", "broker", "management", "hook", "proxy", "headers"];
        assert_eq!(read, expected.map(secret));
        assert!(!format!("{settings:?}{}", serde_json::to_string(&settings).unwrap()).contains("-value"));
    }

    #[test]
    fn a_secret_file_that_others_may_read_is_refused_by_key_and_path_and_never_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::metadata(dir.path()).unwrap().uid() == 0;
        for (mode, fit) in [(0o600, true), (0o400, true), (0o440, root), (0o640, root), (0o660, false), (0o604, false)]
        {
            let path = file(dir.path(), "url", "hunter2", mode);
            let text = format!("[store]\nurl_file = '{}'\n", path.display());
            let read = load(Some(&file(dir.path(), "a.toml", &text, 0o600)));
            assert_eq!(read.is_ok(), fit, "{mode:o}");
            if let Err(error) = read {
                let error = error.to_string();
                assert!(error.contains("store.url_file") && error.contains("0600"), "{error}");
                assert!(!error.contains("hunter2"), "{error}");
            }
        }
        for (name, text) in [("empty", " \n"), ("absent", "")] {
            let path = dir.path().join(name);
            if name == "empty" {
                file(dir.path(), name, text, 0o600);
            }
            assert!(read(&path).is_err(), "{name}");
        }
        let both = format!("[store]\nurl = 'a'\nurl_file = '{}'\n", file(dir.path(), "url", "b", 0o600).display());
        assert!(load(Some(&file(dir.path(), "b.toml", &both, 0o600))).unwrap_err().to_string().contains("not both"));
        let token = file(dir.path(), "token", "t", 0o644).display().to_string();
        let text = format!("[embedding]\napi_key_file = '{token}'\n");
        assert!(load(Some(&file(dir.path(), "c.toml", &text, 0o600))).is_err(), "a token that is read later");
    }

    #[test]
    fn variables_handed_over_mean_what_they_mean_in_the_environment() {
        let given = [
            ("ANAMNESIS__STORE__URL", "postgres://a:b@c/d"),
            ("anamnesis__store__master_key", "0011"),
            ("ANAMNESIS__EMBEDDING__API_KEY", "k"),
            ("ANAMNESIS__LOG__FILTER", "trace"),
        ];
        let given = PassedSecrets(given.map(|(name, value)| (name.to_owned(), value.into())).into());
        let settings = load_with(None, &given).unwrap();
        assert_eq!(settings.store.url.expose_secret(), "postgres://a:b@c/d");
        assert_eq!(settings.embedding.api_key.unwrap().expose_secret(), "k");
        assert_eq!(settings.log, load(None).unwrap().log, "what is no secret stays in the environment");
    }

    #[test]
    fn every_variable_that_may_hold_a_secret_is_known_as_one() {
        for name in [
            "STORE__URL",
            "BROKER__URL",
            "BROKER__WEBHOOKS",
            "EMBEDDING__NEXT__API_KEY",
            "EMBEDDING__PROXY",
            "STORE__KEYS_URL",
            "TRACES__HEADERS",
        ] {
            assert!(is_secret(&format!("ANAMNESIS__{name}")), "{name}");
        }
        for name in ["ANAMNESIS__STORE__PATH", "ANAMNESIS__STORE__URL_FILE", "PATH", "ANAMNESIS_CONFIG"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
