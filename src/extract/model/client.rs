//! The connection: reqwest without its defaults. One request, no retry: the rules' result is at hand already.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use super::{ModelDefect, ModelOptions, ModelOutcome};

/// Most bytes of an answer.
const LARGEST: usize = 1 << 20;
const CONNECT: std::time::Duration = std::time::Duration::from_secs(3);
const IDLE: std::time::Duration = std::time::Duration::from_secs(15);

pub struct Client {
    http: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
    key_file: Option<std::path::PathBuf>,
}

impl Client {
    /// # Errors
    /// When the address cannot be used or no client can be made.
    pub fn new(options: &ModelOptions) -> Result<Self, ModelDefect> {
        let url = endpoint(&options.url)?;
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .https_only(url.scheme() == "https")
            .referer(false)
            .connect_timeout(CONNECT)
            .timeout(options.timeout)
            .pool_idle_timeout(IDLE)
            .user_agent(concat!("anamnesis/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| ModelDefect { key: "url", rule: "no client can be made for it" })?;
        Ok(Self { http, url, key: options.key.clone(), key_file: options.key_file.clone() })
    }

    /// Posts a question; the body of a success.
    ///
    /// # Errors
    /// Why there is no answer that could be read.
    pub async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, ModelOutcome> {
        let mut request = self.http.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = self.header().await? {
            request = request.header(AUTHORIZATION, key);
        }
        let mut response = request.send().await.map_err(|error| failed(&error))?;
        match response.status().as_u16() {
            200 => {}
            401 | 403 => return Err(ModelOutcome::Denied),
            408 | 429 | 500..=599 => return Err(ModelOutcome::Busy),
            _ => return Err(ModelOutcome::Refused),
        }
        let mut whole = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| failed(&error))? {
            if whole.len() + part.len() > LARGEST {
                return Err(ModelOutcome::Answer);
            }
            whole.extend_from_slice(&part);
        }
        Ok(whole)
    }

    async fn header(&self) -> Result<Option<HeaderValue>, ModelOutcome> {
        let secret = match (&self.key, &self.key_file) {
            (Some(key), _) => Zeroizing::new(key.expose_secret().to_owned()),
            (None, Some(path)) => {
                Zeroizing::new(tokio::fs::read_to_string(path).await.map_err(|_| ModelOutcome::Denied)?)
            }
            (None, None) => return Ok(None),
        };
        let text = Zeroizing::new(format!("Bearer {}", secret.trim()));
        let mut value = HeaderValue::from_str(&text).map_err(|_| ModelOutcome::Denied)?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// The library's error names the address and may hold more: only its class goes on.
fn failed(error: &reqwest::Error) -> ModelOutcome {
    if error.is_timeout() { ModelOutcome::Timeout } else { ModelOutcome::Unreachable }
}

/// The address, checked: https outside loopback, no credentials.
fn endpoint(base: &str) -> Result<Url, ModelDefect> {
    let defect = |rule| ModelDefect { key: "url", rule };
    let mut url = Url::parse(base).map_err(|_| defect("is not an absolute URL"))?;
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
    let near = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if url.scheme() != "https" && !(url.scheme() == "http" && near) {
        return Err(defect("must be https (http on loopback)"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(defect("holds credentials: use api_key"));
    }
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_addresses_are_taken() {
        assert_eq!(
            endpoint("https://models.example/v1/").unwrap().as_str(),
            "https://models.example/v1/chat/completions"
        );
        assert!(endpoint("http://127.0.0.1:11434/v1").is_ok() && endpoint("http://localhost/v1").is_ok());
        for bad in ["http://models.example/v1", "ftp://localhost", "models.example", "https://a:b@models.example"] {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
    }
}
