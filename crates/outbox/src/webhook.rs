//! HTTP callbacks, signed as Standard Webhooks describes: `webhook-id`, `webhook-timestamp` and
//! `webhook-signature: v1,BASE64(HMAC-SHA-256(secret, "ID.TIMESTAMP.BODY"))`. The receiver compares the signature, refuses
//! old timestamps, and takes an id once.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use secrecy::ExposeSecret as _;

use super::{DeliveryOutcome, Destination, OutboxEvent};
use anamnesis_config::broker::Webhook;
use anamnesis_core::clock::Clock;
use anamnesis_core::failpoints;
use anamnesis_transport::{AddressError, ApiToken, Client, ClientError, Endpoint, Options, authority};

/// Of an answer only its status counts.
const LARGEST: usize = 64 * 1024;
const TOTAL: Duration = Duration::from_secs(10);
/// Shorter keys can be guessed.
const SHORTEST_SECRET: usize = 16;

/// What is wrong with a configured callback. Never quotes it: a URL may hold a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    #[error("broker.webhooks: a url {0}")]
    Url(AddressError),
    #[error("broker.webhooks: a secret has fewer than {SHORTEST_SECRET} characters")]
    Secret,
    #[error("broker.webhooks: {0}")]
    Client(#[from] ClientError),
}

/// One receiver.
pub struct WebhookDestination {
    name: String,
    secret: hmac::Key,
    /// Types wanted; empty: all.
    events: Vec<String>,
    client: Client,
    clock: Arc<dyn Clock>,
    backoff: Mutex<FailureBackoff>,
}

/// How the receiver has been of late. One that fails is left alone for longer and longer, so that it holds up neither the
/// exchange nor other callbacks.
#[derive(Debug, Default)]
struct FailureBackoff {
    /// Failed attempts since the last event that it took.
    in_a_row: u32,
    /// How long it is left alone next time.
    rest: Duration,
    until: Option<Instant>,
}

/// Refusals in a row after which the receiver is left alone: one event that it cannot take keeps nothing from the others.
const FAILURES_BEFORE_PAUSE: u32 = 3;
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The name of a callback among the destinations: derived from its address and the events that it wants, without showing
/// either.
pub fn webhook_name(config: &Webhook) -> String {
    let text = format!("{} {}", config.url, config.events.join(" "));
    format!("webhook-{}", hex::encode(&digest(&SHA256, text.as_bytes()).as_ref()[..4]))
}

/// The value of `webhook-signature`.
pub fn signature(secret: &hmac::Key, id: &str, timestamp: i64, body: &[u8]) -> String {
    let mut context = hmac::Context::with_key(secret);
    context.update(format!("{id}.{timestamp}.").as_bytes());
    context.update(body);
    format!("v1,{}", STANDARD.encode(context.sign().as_ref()))
}

impl WebhookDestination {
    /// # Errors
    /// When the URL is not encrypted beyond this machine, or the secret is too short.
    pub fn new(config: &Webhook, clock: Arc<dyn Clock>) -> Result<Self, WebhookError> {
        let endpoint = Endpoint::parse(&config.url).map_err(WebhookError::Url)?;
        let secret = config.secret.expose_secret().as_bytes();
        if secret.len() < SHORTEST_SECRET {
            return Err(WebhookError::Secret);
        }
        let trusted = authority(&config.ca_file)?;
        let client = Client::new(endpoint, &Options { authority: trusted.as_deref(), ..Options::within(TOTAL) })?;
        let events = config.events.clone();
        let name = webhook_name(config);
        let backoff = Mutex::default();
        Ok(Self { name, backoff, secret: hmac::Key::new(hmac::HMAC_SHA256, secret), events, client, clock })
    }

    fn wants(&self, event: &OutboxEvent) -> bool {
        let short = event.kind.strip_prefix("anamnesis.").unwrap_or(&event.kind);
        self.events.is_empty() || self.events.iter().any(|wanted| wanted == &event.kind || wanted == short)
    }

    async fn send(&self, event: &OutboxEvent) -> DeliveryOutcome {
        let (id, timestamp) = (event.id.to_string(), self.clock.now().timestamp());
        let body = event.structured().to_string().into_bytes();
        let request = self
            .client
            .post(self.client.endpoint().url())
            .header("content-type", "application/cloudevents+json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature(&self.secret, &id, timestamp, &body))
            .body(body);
        match self.client.send(request, &ApiToken::None, LARGEST).await.map(|answer| answer.status) {
            Ok(status) => self.record(outcome_of(status)),
            // Nobody is there: the next event would meet the same.
            Err(error) => {
                self.failed(FAILURES_BEFORE_PAUSE, "unreachable");
                tracing::debug!(%error, webhook = self.name, "a callback gave no answer");
                DeliveryOutcome::Failed
            }
        }
    }

    fn record(&self, taken: DeliveryOutcome) -> DeliveryOutcome {
        match taken {
            DeliveryOutcome::Failed => self.failed(1, "refused"),
            _ => *self.lock() = FailureBackoff::default(),
        }
        if taken == DeliveryOutcome::Refused {
            tracing::warn!(
                code = "webhook_refused",
                webhook = self.name,
                "a callback permanently refused an event (410)"
            );
        }
        taken
    }

    /// Counts a failure; from the third in a row on the receiver rests.
    fn failed(&self, weight: u32, why: &'static str) {
        let mut backoff = self.lock();
        backoff.in_a_row = backoff.in_a_row.saturating_add(weight);
        if backoff.in_a_row >= FAILURES_BEFORE_PAUSE {
            backoff.rest = (backoff.rest * 2).clamp(MIN_PAUSE, MAX_PAUSE);
            backoff.until = Some(Instant::now() + backoff.rest);
            let seconds = backoff.rest.as_secs();
            tracing::warn!(
                code = "webhook_failing",
                webhook = self.name,
                why,
                seconds,
                "a callback fails and is paused"
            );
        }
    }

    /// How long the receiver is still left alone.
    fn resting(&self) -> Option<Duration> {
        let left = self.lock().until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    fn lock(&self) -> MutexGuard<'_, FailureBackoff> {
        self.backoff.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Only 410 is the receiver's last word: "gone, and it will not be back". A 404 is a wrong path, a 401 a wrong key, a 400 a
/// receiver that is not ready for this event; each is for a person to mend, and the event waits for that.
fn outcome_of(status: StatusCode) -> DeliveryOutcome {
    match status {
        StatusCode::GONE => DeliveryOutcome::Refused,
        status if status.is_success() => DeliveryOutcome::Accepted,
        status if status.is_client_error() && failpoints::is("refused_is_ok") => DeliveryOutcome::Accepted,
        _ => DeliveryOutcome::Failed,
    }
}

#[async_trait]
impl Destination for WebhookDestination {
    fn name(&self) -> &str {
        &self.name
    }

    fn tries(&self, event: &OutboxEvent) -> bool {
        self.wants(event) && self.resting().is_none()
    }

    async fn deliver(&self, events: &[OutboxEvent]) -> Vec<DeliveryOutcome> {
        let mut answers = Vec::with_capacity(events.len());
        for event in events {
            answers.push(match self.resting() {
                _ if !self.wants(event) => DeliveryOutcome::Accepted,
                Some(left) => DeliveryOutcome::Paused(left),
                None => self.send(event).await,
            });
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::clock::SystemClock;

    fn hook(url: &str, secret: &str) -> Result<WebhookDestination, WebhookError> {
        let config = Webhook {
            url: url.to_owned(),
            secret: secret.into(),
            events: Vec::new(),
            ca_file: Default::default(),
            secret_file: Default::default(),
        };
        WebhookDestination::new(&config, Arc::new(SystemClock))
    }

    #[test]
    fn a_callback_is_encrypted_and_signed_or_not_made() {
        assert!(hook("https://clinic.example/hook", "0123456789abcdef").is_ok());
        assert!(hook("http://127.0.0.1:9/hook", "0123456789abcdef").is_ok());
        assert!(hook("http://[::1]:9/hook", "0123456789abcdef").is_ok());
        assert_eq!(
            hook("http://clinic.example/hook", "0123456789abcdef").err(),
            Some(WebhookError::Url(AddressError::NotEncrypted))
        );
        assert_eq!(
            hook("ftp://clinic.example", "0123456789abcdef").err(),
            Some(WebhookError::Url(AddressError::NotEncrypted))
        );
        assert_eq!(hook("https://clinic.example", "short").err(), Some(WebhookError::Secret));
    }

    #[test]
    fn the_signature_is_the_one_of_standard_webhooks() {
        // Computed with: printf 'msg_1.1700000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef -binary | base64
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"0123456789abcdef");
        let signed = signature(&key, "msg_1", 1_700_000_000, b"{\"a\":1}");
        assert_eq!(signed, "v1,41C4mdfM4X7k7EqLRBhc2OjUAQFwQVsqMUoL0CbTfxc=");
        assert_ne!(signature(&key, "msg_2", 1_700_000_000, b"{\"a\":1}"), signed);
    }

    #[test]
    fn only_410_is_a_receivers_last_word() {
        assert_eq!(outcome_of(StatusCode::GONE), DeliveryOutcome::Refused);
        for status in [200, 201, 202, 204] {
            assert_eq!(outcome_of(StatusCode::from_u16(status).unwrap()), DeliveryOutcome::Accepted, "{status}");
        }
        for status in [301, 307, 400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 501, 502, 503] {
            assert_eq!(outcome_of(StatusCode::from_u16(status).unwrap()), DeliveryOutcome::Failed, "{status}");
        }
    }

    #[test]
    fn a_receiver_that_fails_again_and_again_is_left_alone_for_longer_and_longer() {
        let hook = hook("https://clinic.example/hook", "0123456789abcdef").unwrap();
        for refusal in 1..FAILURES_BEFORE_PAUSE {
            hook.record(DeliveryOutcome::Failed);
            assert_eq!(hook.resting(), None, "{refusal}");
        }
        hook.record(DeliveryOutcome::Failed);
        assert!(hook.resting().is_some_and(|left| left <= MIN_PAUSE));
        for _ in 0..20 {
            hook.record(DeliveryOutcome::Failed);
        }
        assert!(hook.resting().is_some_and(|left| left > MAX_PAUSE / 2 && left <= MAX_PAUSE));
        hook.record(DeliveryOutcome::Accepted);
        assert_eq!(hook.resting(), None);
    }

    #[test]
    fn the_name_of_a_callback_tells_callbacks_apart_and_shows_nothing() {
        let named = |url: &str, events: &[&str]| {
            let events = events.iter().map(|event| (*event).to_owned()).collect();
            webhook_name(&Webhook {
                url: url.to_owned(),
                secret: "".into(),
                events,
                ca_file: Default::default(),
                secret_file: Default::default(),
            })
        };
        let name = named("https://clinic.example/token-hunter2", &[]);
        assert!(name.starts_with("webhook-") && !name.contains("hunter2") && !name.contains(' '));
        assert_ne!(name, named("https://clinic.example/other", &[]));
        assert_ne!(name, named("https://clinic.example/token-hunter2", &["risk.flagged.v1"]));
    }
}
