//! The connection to the model's server. One request, no retry: the rules' result is at hand already.

use reqwest::Url;
use reqwest::header::CONTENT_TYPE;

use super::{LlmOptionDefect, LlmOptions, LlmOutcome};
use anamnesis_transport::{self as transport, ApiToken, ClientError, Endpoint, Options, SendError};

/// Most bytes of an answer.
const LARGEST: usize = 1 << 20;

pub(crate) struct LlmClient {
    http: transport::Client,
    url: Url,
    token: ApiToken,
}

impl LlmClient {
    /// # Errors
    /// When the address cannot be used or no client can be made.
    pub(crate) fn new(options: &LlmOptions) -> Result<Self, LlmOptionDefect> {
        let endpoint = Endpoint::parse(&options.url).and_then(Endpoint::bare);
        let endpoint = endpoint.map_err(|error| LlmOptionDefect { key: "url", rule: error.rule() })?;
        let url = endpoint.join(&["chat", "completions"]);
        let defect = |error: ClientError| match error {
            ClientError::Authority => LlmOptionDefect { key: "ca_file", rule: "has no readable certificate" },
            _ => LlmOptionDefect { key: "url", rule: "cannot be used for an HTTP client" },
        };
        let authority = transport::authority(&options.ca_file).map_err(defect)?;
        let limits = Options { authority: authority.as_deref(), ..Options::within(options.timeout) };
        let http = transport::Client::new(endpoint, &limits).map_err(defect)?;
        Ok(Self { http, url, token: ApiToken::from_settings(options.key.clone(), options.key_file.clone()) })
    }

    /// Posts a question; the body of a success.
    ///
    /// # Errors
    /// Why there is no answer that could be read.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, LlmOutcome> {
        let request = self.http.post(&self.url).header(CONTENT_TYPE, "application/json").body(body);
        let reply = self.http.send(request, &self.token, LARGEST).await.map_err(|error| match error {
            SendError::Timeout => LlmOutcome::Timeout,
            SendError::Unreachable => LlmOutcome::Unreachable,
            SendError::TooLarge => LlmOutcome::InvalidResponse,
            // There is no token where one was configured.
            SendError::Request | SendError::Elsewhere => LlmOutcome::Denied,
        })?;
        match reply.status.as_u16() {
            200 => Ok(reply.body),
            401 | 403 => Err(LlmOutcome::Denied),
            408 | 429 | 500..=599 => Err(LlmOutcome::Overloaded),
            _ => Err(LlmOutcome::Refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(url: &str) -> Result<LlmClient, LlmOptionDefect> {
        LlmClient::new(&LlmOptions {
            url: url.to_owned(),
            model: "m".to_owned(),
            key: None,
            key_file: None,
            ca_file: std::path::PathBuf::new(),
            timeout: std::time::Duration::from_secs(1),
            max_input_chars: 1,
            max_output_tokens: 1,
            tokens_per_hour: 0,
        })
    }

    #[test]
    fn only_safe_addresses_are_taken() {
        let client = made("https://models.example/v1/").unwrap();
        assert_eq!(client.url.as_str(), "https://models.example/v1/chat/completions");
        assert!(made("http://127.0.0.1:11434/v1").is_ok() && made("http://localhost/v1").is_ok());
        for bad in ["http://models.example/v1", "ftp://localhost", "models.example", "https://a:b@models.example"] {
            assert_eq!(made(bad).err().map(|defect| defect.key), Some("url"), "{bad}");
        }
    }
}
