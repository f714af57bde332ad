//! Bearer tokens that end: asked for when needed, kept until shortly before their end, asked for again when refused.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use reqwest::RequestBuilder;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::http::{KeyServiceClient, ServiceReply};
use crate::KeyError;
use anamnesis_core::clock::Clock;
use anamnesis_transport::Client;

/// A token is replaced this long before its end, or at half of its life where that is shorter.
const EARLY: TimeDelta = TimeDelta::minutes(5);

/// A token and until when it may be used.
#[derive(Clone)]
pub(super) struct BearerToken {
    secret: SecretString,
    /// `None`: ask again at each use.
    use_until: Option<DateTime<Utc>>,
}

impl BearerToken {
    /// One that is read again at each use.
    pub(crate) fn once(secret: impl Into<SecretString>) -> Self {
        Self { secret: secret.into(), use_until: None }
    }

    /// One that lives for `life` from `now`.
    pub(crate) fn lasting(secret: impl Into<SecretString>, now: DateTime<Utc>, life: TimeDelta) -> Self {
        let life = life.clamp(TimeDelta::zero(), TimeDelta::days(1));
        Self { secret: secret.into(), use_until: Some(now + life - EARLY.min(life / 2)) }
    }
}

/// Where tokens come from.
#[async_trait]
pub(super) trait TokenSource: Send + Sync {
    /// # Errors
    /// [`KeyError::Transient`] where the issuer does not answer, [`KeyError::Denied`] where it gives us none.
    async fn fetch(&self) -> Result<BearerToken, KeyError>;
}

/// The token of a service, shared by its calls.
pub(super) struct TokenCache {
    source: Box<dyn TokenSource>,
    held: Mutex<Option<BearerToken>>,
    clock: Arc<dyn Clock>,
}

impl TokenCache {
    pub(crate) fn new(source: Box<dyn TokenSource>, clock: Arc<dyn Clock>) -> Self {
        Self { source, held: Mutex::new(None), clock }
    }

    /// The token to use now. `refused` is one that the service did not take: it is not given again from memory.
    async fn current(&self, refused: Option<&SecretString>) -> Result<SecretString, KeyError> {
        let mut held = self.held.lock().await;
        let usable = held.as_ref().filter(|bearer| {
            bearer.use_until.is_some_and(|until| self.clock.now() < until)
                && refused.is_none_or(|refused| refused.expose_secret() != bearer.secret.expose_secret())
        });
        if let Some(bearer) = usable {
            return Ok(bearer.secret.clone());
        }
        // Not kept while the issuer is asked: a token past its time must not come back when that fails.
        *held = None;
        let bearer = self.source.fetch().await?;
        let secret = bearer.secret.clone();
        *held = Some(bearer);
        Ok(secret)
    }

    /// Sends with a token. One that the service does not take (it was revoked, or ended early) is replaced once.
    ///
    /// # Errors
    /// As [`KeyServiceClient::send`] and [`TokenSource::fetch`]. An answer 401 or 403 to a new token is an answer.
    pub(crate) async fn send(
        &self,
        service: &KeyServiceClient,
        make: impl Fn(&Client, &str) -> RequestBuilder,
    ) -> Result<ServiceReply, KeyError> {
        let token = self.current(None).await?;
        let reply = service.send(|client| make(client, token.expose_secret())).await?;
        if !matches!(reply.status, 401 | 403) {
            return Ok(reply);
        }
        let token = self.current(Some(&token)).await?;
        service.send(|client| make(client, token.expose_secret())).await
    }
}

/// A token from a file, read now.
///
/// # Errors
/// [`KeyError::File`] for a file that is missing, unreadable or empty.
pub(super) async fn from_file(path: &Path) -> Result<Zeroizing<String>, KeyError> {
    let unusable = || KeyError::File { place: path.display().to_string() };
    let text = tokio::fs::read_to_string(path).await.map(Zeroizing::new).map_err(|_| unusable())?;
    match text.trim() {
        "" => Err(unusable()),
        token => Ok(Zeroizing::new(token.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use chrono::TimeZone as _;

    use super::*;
    use anamnesis_core::clock::ManualClock;

    /// Gives `1`, `2`, … each for ten minutes.
    struct Counted(Arc<AtomicU32>, Arc<ManualClock>);

    #[async_trait]
    impl TokenSource for Counted {
        async fn fetch(&self) -> Result<BearerToken, KeyError> {
            match self.0.fetch_add(1, Ordering::SeqCst) + 1 {
                9 => Err(KeyError::Transient),
                n => Ok(BearerToken::lasting(n.to_string(), self.1.now(), TimeDelta::minutes(10))),
            }
        }
    }

    #[tokio::test]
    async fn a_token_is_kept_until_shortly_before_its_end_and_replaced_when_refused() {
        let (count, clock) = (Arc::new(AtomicU32::new(0)), Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).unwrap());
        let clock = Arc::new(ManualClock::at(clock));
        let tokens = TokenCache::new(Box::new(Counted(Arc::clone(&count), Arc::clone(&clock))), clock.clone());
        let now = async |refused: Option<&str>| {
            let refused = refused.map(SecretString::from);
            tokens.current(refused.as_ref()).await.map(|secret| secret.expose_secret().to_owned())
        };
        assert_eq!(now(None).await.unwrap(), "1");
        clock.advance(TimeDelta::minutes(4));
        assert_eq!(now(None).await.unwrap(), "1");
        clock.advance(TimeDelta::minutes(1));
        assert_eq!(now(None).await.unwrap(), "2", "five minutes before its end");
        assert_eq!(now(Some("1")).await.unwrap(), "2", "another one was refused");
        assert_eq!(now(Some("2")).await.unwrap(), "3");
        count.store(8, Ordering::SeqCst);
        clock.advance(TimeDelta::minutes(9));
        assert_eq!(now(None).await.unwrap_err(), KeyError::Transient, "an old token is not given again");
        assert_eq!(now(None).await.unwrap(), "10");
    }

    #[test]
    fn a_short_life_is_used_for_half_and_an_absurd_one_for_a_day() {
        let now = Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).unwrap();
        let until = |life| BearerToken::lasting("t", now, life).use_until.unwrap() - now;
        assert_eq!(until(TimeDelta::seconds(60)), TimeDelta::seconds(30));
        assert_eq!(until(TimeDelta::hours(1)), TimeDelta::minutes(55));
        assert_eq!(until(TimeDelta::seconds(-5)), TimeDelta::zero());
        assert!(until(TimeDelta::MAX) <= TimeDelta::days(1));
    }
}
