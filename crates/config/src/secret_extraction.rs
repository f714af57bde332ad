//! Secret settings on their way from a file or a variable to where they are kept. The layers of the configuration are copied
//! and merged, and dropped copies are not wiped: a mark travels through them instead of each secret, which is moved from
//! where it was read to where it is kept.

use figment::value::{Dict, Value};
use secrecy::{ExposeSecret as _, SecretString};

use super::Settings;

/// What stands in the layers for secret number `n`.
fn mark(n: usize) -> String {
    format!("\u{1}secret {n}\u{1}")
}

/// The secrets that were taken out of the layers.
#[derive(Default)]
pub(super) struct ExtractedSecrets(Vec<SecretString>);

impl ExtractedSecrets {
    /// Takes the secrets out of a layer.
    pub(crate) fn take_from(&mut self, layer: &mut Dict) {
        if let Some(store) = section(layer, "store") {
            self.take(store, &["url", "migrate_url", "jobs_url", "master_key", "keys_url"]);
        }
        if let Some(broker) = section(layer, "broker") {
            self.take(broker, &["url", "management_url"]);
            if let Some(Value::Array(_, hooks)) = broker.get_mut("webhooks") {
                for hook in hooks.iter_mut().filter_map(dict) {
                    self.take(hook, &["secret"]);
                }
            }
        }
        let mut embedding = section(layer, "embedding");
        while let Some(one) = embedding {
            self.take(one, &["api_key", "proxy"]);
            embedding = section(one, "next");
        }
        if let Some(llm) = section(layer, "extraction").and_then(|extraction| section(extraction, "llm")) {
            self.take(llm, &["api_key"]);
        }
        if let Some(traces) = section(layer, "traces") {
            self.take(traces, &["headers"]);
        }
    }

    /// What is not text is left for the check of types.
    fn take(&mut self, section: &mut Dict, keys: &[&str]) {
        for key in keys {
            if let Some(Value::String(_, text)) = section.get_mut(*key)
                && !text.is_empty()
            {
                let secret = std::mem::replace(text, mark(self.0.len()));
                self.0.push(SecretString::from(secret));
            }
        }
    }

    /// Puts each secret where its mark has come to.
    pub(crate) fn put_into(mut self, settings: &mut Settings) {
        let marks: Vec<String> = (0..self.0.len()).map(mark).collect();
        for kept in kept(settings) {
            if let Some(n) = marks.iter().position(|mark| mark == kept.expose_secret()) {
                *kept = std::mem::take(&mut self.0[n]);
            }
        }
    }
}

fn section<'a>(layer: &'a mut Dict, name: &str) -> Option<&'a mut Dict> {
    layer.get_mut(name).and_then(dict)
}

fn dict(value: &mut Value) -> Option<&mut Dict> {
    match value {
        Value::Dict(_, dict) => Some(dict),
        _ => None,
    }
}

/// Where the settings keep secrets.
fn kept(settings: &mut Settings) -> Vec<&mut SecretString> {
    let (store, broker) = (&mut settings.store, &mut settings.broker);
    let mut kept =
        vec![&mut store.url, &mut store.migrate_url, &mut store.jobs_url, &mut store.master_key, &mut store.keys_url];
    kept.extend([&mut broker.url, &mut broker.management_url]);
    kept.extend(broker.webhooks.iter_mut().map(|hook| &mut hook.secret));
    let mut embedding = Some(&mut settings.embedding);
    while let Some(one) = embedding {
        kept.extend(one.api_key.as_mut());
        kept.extend(one.proxy.as_mut());
        embedding = one.next.as_deref_mut();
    }
    kept.extend(settings.extraction.llm.api_key.as_mut());
    kept.push(&mut settings.traces.headers);
    kept
}
