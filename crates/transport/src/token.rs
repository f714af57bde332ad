//! The bearer token: fixed, or from a file that is read again whenever it changes and whenever a service refuses it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

/// Where the token comes from.
pub enum ApiToken {
    None,
    Fixed(SecretString),
    File(TokenFile),
}

/// There is no token where one was configured, or it cannot be a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no usable token")]
pub(crate) struct NoToken;

/// A file with a token, as it was when last read.
pub struct TokenFile {
    path: PathBuf,
    known: Mutex<Option<CachedToken>>,
}

/// The token that was read, and by what an unchanged file is known; `None` where it must be read again in any case.
struct CachedToken {
    mark: Option<FileStamp>,
    secret: SecretString,
}

type FileStamp = (Option<SystemTime>, u64);

impl ApiToken {
    pub fn file(path: PathBuf) -> Self {
        Self::File(TokenFile { path, known: Mutex::new(None) })
    }

    /// A fixed token, else a file's, else none.
    pub fn from_settings(fixed: Option<SecretString>, file: Option<PathBuf>) -> Self {
        match (fixed, file) {
            (Some(secret), _) => Self::Fixed(secret),
            (None, Some(path)) => Self::file(path),
            (None, None) => Self::None,
        }
    }

    /// The header to send, marked as sensitive so that no library prints it.
    ///
    /// # Errors
    /// [`NoToken`].
    pub(crate) async fn header(&self) -> Result<Option<HeaderValue>, NoToken> {
        let secret = match self {
            Self::None => return Ok(None),
            Self::Fixed(secret) => secret.clone(),
            Self::File(file) => file.current().await.ok_or(NoToken)?,
        };
        let text = Zeroizing::new(format!("Bearer {}", secret.expose_secret()));
        let mut value = HeaderValue::from_str(&text).map_err(|_| NoToken)?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// A service refused the token: the file is read again before the next request, even where it looks unchanged.
    pub(crate) fn refused(&self) {
        if let Self::File(file) = self
            && let Some(known) = file.known().as_mut()
        {
            known.mark = None;
        }
    }
}

impl TokenFile {
    /// The token; the one read before while the file is away (it is being replaced).
    async fn current(&self) -> Option<SecretString> {
        let mark = match tokio::fs::metadata(&self.path).await {
            Ok(data) => (data.modified().ok(), data.len()),
            Err(_) => return self.before(),
        };
        let unchanged =
            self.known().as_ref().filter(|known| known.mark == Some(mark)).map(|known| known.secret.clone());
        if unchanged.is_some() {
            return unchanged;
        }
        let text = tokio::fs::read_to_string(&self.path).await.map(Zeroizing::new);
        match text.as_ref().map(|text| text.trim()) {
            Ok(token) if !token.is_empty() => {
                let secret = SecretString::from(token);
                *self.known() = Some(CachedToken { mark: Some(mark), secret: secret.clone() });
                Some(secret)
            }
            _ => self.before(),
        }
    }

    fn before(&self) -> Option<SecretString> {
        self.known().as_ref().map(|known| known.secret.clone())
    }

    fn known(&self) -> MutexGuard<'_, Option<CachedToken>> {
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(token: &ApiToken) -> String {
        token.header().await.unwrap().unwrap().to_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_changed_file_is_read_again_and_a_missing_one_keeps_the_last_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = ApiToken::file(path.clone());
        assert_eq!(token.header().await, Err(NoToken));
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
    async fn a_refused_token_is_read_again_even_where_its_file_looks_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "one").unwrap();
        let token = ApiToken::file(path.clone());
        assert_eq!(sent(&token).await, "Bearer one");
        let written = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "two").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        assert_eq!(sent(&token).await, "Bearer one", "time and length are the same");
        token.refused();
        assert_eq!(sent(&token).await, "Bearer two");
    }

    #[tokio::test]
    async fn the_header_hides_the_token_when_printed() {
        let header = ApiToken::Fixed("canary".into()).header().await.unwrap().unwrap();
        assert!(!format!("{header:?}").contains("canary"));
        assert_eq!(ApiToken::Fixed("two\nlines".into()).header().await, Err(NoToken));
    }
}
