//! Requirements for every root key, in any service.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anamnesis_config::keys::{KeyLimits, KeysConfig};
use anamnesis_core::clock::{Clock, Entropy, SeededEntropy, SystemClock};
use anamnesis_crypto::{KeyError, LocalRoot, RootKey, service_root};
use zeroize::Zeroizing;

use super::fake::{FakeKeyService, ServiceFault};

const STORE: &[u8] = b"0123456789abcdef";
const KEY: [u8; 32] = *b"the store key of the tests, here";
/// Below [`super::fake::LATE`].
pub(crate) const LIMITS: KeyLimits =
    KeyLimits { connect_ms: 300, total_ms: 300, attempts: 3, initial_backoff_ms: 5, max_backoff_ms: 1000 };

pub(crate) fn entropy() -> Arc<dyn Entropy> {
    Arc::new(SeededEntropy::new(1))
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The root that a `[keys]` section names, in an environment.
pub(crate) fn configured(section: &str, environment: &[(&str, &str)]) -> Result<Arc<dyn RootKey>, KeyError> {
    let mut config: KeysConfig = toml::from_str(section).unwrap();
    config.limits = LIMITS;
    let owned: Vec<(String, String)> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let variables = move |name: &str| owned.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    service_root(&config, &variables, &clock(), &entropy()).map(|root| root.expect("a service is configured"))
}

async fn opened(root: &dyn RootKey, wrapped: &[u8]) -> Result<[u8; 32], KeyError> {
    root.unwrap(STORE, wrapped).await.map(|key| *key)
}

/// Holds for local roots too.
pub(crate) async fn wraps_for_its_context_alone(root: &dyn RootKey) -> Vec<u8> {
    let wrapped = root.wrap(STORE, &KEY).await.unwrap();
    assert!(!wrapped.windows(8).any(|part| KEY.windows(8).any(|key| key == part)), "nothing in clear");
    assert_eq!(opened(root, &wrapped).await.unwrap(), KEY);
    let wrong = |result: Result<Zeroizing<[u8; 32]>, KeyError>| {
        let error = result.map(|_| ()).unwrap_err();
        assert!(matches!(error, KeyError::WrongMaster { .. }), "{error:?}");
    };
    wrong(root.unwrap(b"another key store", &wrapped).await);
    let mut changed = wrapped.clone();
    let last = changed.len() - 4;
    changed[last] ^= 1;
    wrong(root.unwrap(STORE, &changed).await);
    wrong(root.unwrap(STORE, &wrapped[..3]).await);
    wrong(root.unwrap(STORE, b"").await);
    wrapped
}

/// The whole contract.
pub(crate) async fn holds(fake: &FakeKeyService, root: &dyn RootKey) {
    let old = wraps_for_its_context_alone(root).await;
    no_problem(fake);
    rotates(fake, root, &old).await;
    loses_its_token(fake, root, &old).await;
    is_refused(fake, root, &old).await;
    is_away(fake, root, &old).await;
    no_problem(fake);
}

fn no_problem(fake: &FakeKeyService) {
    assert_eq!(fake.state().problems, Vec::<String>::new());
}

async fn rotates(fake: &FakeKeyService, root: &dyn RootKey, old: &[u8]) {
    fake.state().version = 2;
    assert_eq!(opened(root, old).await.unwrap(), KEY, "what an older version wrapped still opens");
    let new = root.wrap(STORE, &KEY).await.unwrap();
    assert_ne!(old, new);
    assert_eq!(opened(root, &new).await.unwrap(), KEY);
}

async fn loses_its_token(fake: &FakeKeyService, root: &dyn RootKey, wrapped: &[u8]) {
    let before = fake.state().logins;
    assert_eq!(opened(root, wrapped).await.unwrap(), KEY);
    assert_eq!(fake.state().logins, before, "a token that works is used again");
    fake.loses_its_tokens();
    assert_eq!(opened(root, wrapped).await.unwrap(), KEY, "asks for another token");
}

async fn is_refused(fake: &FakeKeyService, root: &dyn RootKey, wrapped: &[u8]) {
    for fault in [ServiceFault::Forbidden, ServiceFault::NoKey] {
        fake.fails(fault);
        for error in [root.wrap(STORE, &KEY).await.unwrap_err(), opened(root, wrapped).await.unwrap_err()] {
            let KeyError::Denied { place, reason } = &error else { panic!("{fault:?}: {error:?}") };
            assert!(root.name() == *place && reason.contains(' '), "{error}");
            assert!(!error.to_string().contains("canary"), "nothing that the service says: {error}");
        }
        // A refusal is no reason to try again, but for another token.
        assert!(fake.state().calls <= 4, "{fault:?}: {}", fake.state().calls);
    }
    fake.fails(ServiceFault::None);
}

async fn is_away(fake: &FakeKeyService, root: &dyn RootKey, wrapped: &[u8]) {
    for status in [429, 500, 503] {
        fake.fails(ServiceFault::Status(status, u32::MAX));
        assert_eq!(opened(root, wrapped).await.unwrap_err(), KeyError::Transient, "{status}");
        assert_eq!(fake.state().calls, 3, "{status}: as many attempts as configured");
        fake.fails(ServiceFault::Status(status, 2));
        assert_eq!(opened(root, wrapped).await.unwrap(), KEY, "{status}: the third attempt is answered");
    }
    for fault in [ServiceFault::Slow, ServiceFault::Garbage] {
        fake.fails(fault);
        let begun = Instant::now();
        assert_eq!(opened(root, wrapped).await.unwrap_err(), KeyError::Transient, "{fault:?}");
        assert_eq!(root.wrap(STORE, &KEY).await.unwrap_err(), KeyError::Transient, "{fault:?}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{fault:?}: {:?}", begun.elapsed());
    }
    fake.fails(ServiceFault::None);
    assert_eq!(opened(root, wrapped).await.unwrap(), KEY, "back again");
}

#[tokio::test]
async fn a_local_root_wraps_for_its_context_alone() {
    wraps_for_its_context_alone(&LocalRoot::new("test", Zeroizing::new([5; 32]), entropy())).await;
}

#[tokio::test]
async fn a_service_that_does_not_listen_is_unreachable_and_not_a_wrong_key() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "token-1").unwrap();
    let vault =
        format!("root = \"vault\"\n[vault]\nurl = \"http://127.0.0.1:9\"\nkey = \"k\"\ntoken_file = {token:?}\n");
    let google = "root = \"google\"\n[google]\nkey = \"projects/p/locations/l/keyRings/r/cryptoKeys/k\"\n\
         metadata_host = \"127.0.0.1:9\"\nendpoint = \"http://127.0.0.1:9\"\n";
    let azure = "root = \"azure\"\n[azure]\nvault_url = \"http://127.0.0.1:9\"\nkey = \"k\"\n\
         identity_endpoint = \"http://127.0.0.1:9/token\"\n";
    for section in [vault.as_str(), google, azure] {
        let root = configured(section, &[]).unwrap();
        assert_eq!(root.wrap(STORE, &KEY).await.unwrap_err(), KeyError::Transient, "{}", root.name());
    }
}
