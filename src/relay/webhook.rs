//! HTTP callbacks, signed as Standard Webhooks describes: `webhook-id`, `webhook-timestamp` and
//! `webhook-signature: v1,BASE64(HMAC-SHA-256(secret, "ID.TIMESTAMP.BODY"))`. The receiver compares the signature, refuses
//! old timestamps, and takes an id once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use secrecy::ExposeSecret as _;

use super::{Destination, Event, Taken};
use crate::clock::Clock;
use crate::config::broker::Webhook;
use crate::transport::{AddressError, Client, ClientError, Endpoint, Options, Token, authority};

/// Of an answer only its status counts.
const LARGEST: usize = 64 * 1024;
const TOTAL: Duration = Duration::from_secs(10);
/// Shorter keys can be guessed.
const SHORTEST_SECRET: usize = 16;

/// What is wrong with a configured callback. Never quotes it: a URL may hold a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("broker.webhooks: a url {0}")]
    Url(AddressError),
    #[error("broker.webhooks: a secret has fewer than {SHORTEST_SECRET} characters")]
    Secret,
    #[error("broker.webhooks: {0}")]
    Client(#[from] ClientError),
}

/// One receiver.
pub struct Hook {
    secret: hmac::Key,
    /// Types wanted; empty: all.
    events: Vec<String>,
    client: Client,
    clock: Arc<dyn Clock>,
}

/// The value of `webhook-signature`.
pub fn signature(secret: &hmac::Key, id: &str, timestamp: i64, body: &[u8]) -> String {
    let mut context = hmac::Context::with_key(secret);
    context.update(format!("{id}.{timestamp}.").as_bytes());
    context.update(body);
    format!("v1,{}", STANDARD.encode(context.sign().as_ref()))
}

impl Hook {
    /// # Errors
    /// When the URL is not encrypted beyond this machine, or the secret is too short.
    pub fn new(config: &Webhook, clock: Arc<dyn Clock>) -> Result<Self, HookError> {
        let endpoint = Endpoint::parse(&config.url).map_err(HookError::Url)?;
        let secret = config.secret.expose_secret().as_bytes();
        if secret.len() < SHORTEST_SECRET {
            return Err(HookError::Secret);
        }
        let trusted = authority(&config.ca_file)?;
        let client = Client::new(endpoint, &Options { authority: trusted.as_deref(), ..Options::within(TOTAL) })?;
        let events = config.events.clone();
        Ok(Self { secret: hmac::Key::new(hmac::HMAC_SHA256, secret), events, client, clock })
    }

    fn wants(&self, event: &Event) -> bool {
        let short = event.kind.strip_prefix("anamnesis.").unwrap_or(&event.kind);
        self.events.is_empty() || self.events.iter().any(|wanted| wanted == &event.kind || wanted == short)
    }

    async fn send(&self, event: &Event) -> Taken {
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
        match self.client.send(request, &Token::None, LARGEST).await.map(|answer| answer.status) {
            Ok(status) if status.is_success() => Taken::Yes,
            Ok(status) => refused(status),
            Err(_) => Taken::Later,
        }
    }
}

/// A client error is the receiver's last word, but for those that ask for patience.
fn refused(status: StatusCode) -> Taken {
    let patience = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS, StatusCode::UNAUTHORIZED];
    if status.is_client_error() && !patience.contains(&status) { Taken::Never } else { Taken::Later }
}

#[async_trait]
impl Destination for Hook {
    async fn deliver(&self, events: &[Event]) -> Vec<Taken> {
        let mut answers = Vec::with_capacity(events.len());
        for event in events {
            // A receiver that is away is asked once per pass.
            let answer = match answers.last() {
                _ if !self.wants(event) => Taken::Yes,
                Some(Taken::Later) => Taken::Later,
                _ => self.send(event).await,
            };
            if answer == Taken::Never {
                tracing::warn!(code = "webhook_refused", "a callback refuses an event for good");
            }
            answers.push(answer);
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    fn hook(url: &str, secret: &str) -> Result<Hook, HookError> {
        let config = Webhook {
            url: url.to_owned(),
            secret: secret.into(),
            events: Vec::new(),
            ca_file: Default::default(),
            secret_file: Default::default(),
        };
        Hook::new(&config, Arc::new(SystemClock))
    }

    #[test]
    fn a_callback_is_encrypted_and_signed_or_not_made() {
        assert!(hook("https://clinic.example/hook", "0123456789abcdef").is_ok());
        assert!(hook("http://127.0.0.1:9/hook", "0123456789abcdef").is_ok());
        assert!(hook("http://[::1]:9/hook", "0123456789abcdef").is_ok());
        assert_eq!(
            hook("http://clinic.example/hook", "0123456789abcdef").err(),
            Some(HookError::Url(AddressError::NotEncrypted))
        );
        assert_eq!(
            hook("ftp://clinic.example", "0123456789abcdef").err(),
            Some(HookError::Url(AddressError::NotEncrypted))
        );
        assert_eq!(hook("https://clinic.example", "short").err(), Some(HookError::Secret));
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
    fn only_a_receivers_own_refusal_is_the_last_word() {
        assert_eq!(refused(StatusCode::GONE), Taken::Never);
        assert_eq!(refused(StatusCode::TOO_MANY_REQUESTS), Taken::Later);
        assert_eq!(refused(StatusCode::BAD_GATEWAY), Taken::Later);
    }
}
