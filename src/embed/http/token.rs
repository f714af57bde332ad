//! The bearer token: fixed, or from a file that is read again whenever it changes.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::embed::EmbedError;

/// Where the token comes from.
pub enum Token {
    None,
    Fixed(SecretString),
    File(TokenFile),
}

/// A file with a token, as it was when last read.
pub struct TokenFile {
    path: PathBuf,
    known: Mutex<Option<(Mark, SecretString)>>,
}

/// What tells a changed file from an unchanged one.
type Mark = (Option<SystemTime>, u64);

impl Token {
    pub fn file(path: PathBuf) -> Self {
        Self::File(TokenFile { path, known: Mutex::new(None) })
    }

    /// The header to send, marked as sensitive so that no library prints it.
    ///
    /// # Errors
    /// [`EmbedError::Misconfigured`] when there is no token where one was configured, or it cannot be a header.
    pub async fn header(&self) -> Result<Option<HeaderValue>, EmbedError> {
        let secret = match self {
            Self::None => return Ok(None),
            Self::Fixed(secret) => secret.clone(),
            Self::File(file) => file.current().await.ok_or(EmbedError::Misconfigured)?,
        };
        let text = Zeroizing::new(format!("Bearer {}", secret.expose_secret()));
        let mut value = HeaderValue::from_str(&text).map_err(|_| EmbedError::Misconfigured)?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

impl TokenFile {
    /// The token; the one read before while the file is away (it is being replaced).
    async fn current(&self) -> Option<SecretString> {
        let mark = match tokio::fs::metadata(&self.path).await {
            Ok(data) => (data.modified().ok(), data.len()),
            Err(_) => return self.before(|_| true),
        };
        if let Some(secret) = self.before(|known| *known == mark) {
            return Some(secret);
        }
        let text = tokio::fs::read_to_string(&self.path).await.map(Zeroizing::new);
        match text.as_ref().map(|text| text.trim()) {
            Ok(token) if !token.is_empty() => {
                let secret = SecretString::from(token);
                *self.known() = Some((mark, secret.clone()));
                Some(secret)
            }
            _ => self.before(|_| true),
        }
    }

    fn before(&self, still: impl Fn(&Mark) -> bool) -> Option<SecretString> {
        self.known().as_ref().filter(|(mark, _)| still(mark)).map(|(_, secret)| secret.clone())
    }

    fn known(&self) -> MutexGuard<'_, Option<(Mark, SecretString)>> {
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(token: &Token) -> String {
        token.header().await.unwrap().unwrap().to_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_changed_file_is_read_again_and_a_missing_one_keeps_the_last_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = Token::file(path.clone());
        assert_eq!(token.header().await, Err(EmbedError::Misconfigured));
        std::fs::write(&path, "first\n").unwrap();
        assert_eq!(sent(&token).await, "Bearer first");
        std::fs::write(&path, "the second\n").unwrap();
        assert_eq!(sent(&token).await, "Bearer the second");
        std::fs::write(&path, "").unwrap();
        assert_eq!(sent(&token).await, "Bearer the second");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(sent(&token).await, "Bearer the second");
    }

    #[tokio::test]
    async fn the_header_hides_the_token_when_printed() {
        let header = Token::Fixed("canary".into()).header().await.unwrap().unwrap();
        assert!(!format!("{header:?}").contains("canary"));
        assert_eq!(Token::Fixed("two\nlines".into()).header().await, Err(EmbedError::Misconfigured));
    }
}
