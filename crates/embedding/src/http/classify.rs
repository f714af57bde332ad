//! From a status to a decision (docs/providers.md, "Uniform classes"). The body of an error is looked at for known words and
//! then forgotten: it may quote the text that was sent.

use std::time::Duration;

use reqwest::StatusCode;

use crate::EmbedError;
use crate::observer::RequestOutcome;
use crate::retry::Retry;

/// Why one request gave no vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResponseFailure {
    /// 413, or 400 for too many tokens or texts: halves may pass.
    TooMuch,
    /// 429.
    RateLimited {
        after: Option<Duration>,
    },
    Embed(EmbedError),
}

impl ResponseFailure {
    pub(crate) fn outcome(&self) -> RequestOutcome {
        match self {
            Self::TooMuch => RequestOutcome::PayloadTooLarge,
            Self::RateLimited { .. } => RequestOutcome::RateLimited,
            Self::Embed(error) => RequestOutcome::from_error(error),
        }
    }

    /// Is the provider ailing (then the circuit breaker counts it), and what did it ask for?
    pub(crate) fn ailing(&self) -> Option<Option<Duration>> {
        match self {
            Self::RateLimited { after } | Self::Embed(EmbedError::Transient { after }) => Some(*after),
            Self::Embed(EmbedError::BadAnswer) => Some(None),
            _ => None,
        }
    }
}

impl Retry for ResponseFailure {
    fn retry_after(&self) -> Option<Duration> {
        self.ailing().map(Option::unwrap_or_default)
    }
}

impl From<EmbedError> for ResponseFailure {
    fn from(error: EmbedError) -> Self {
        Self::Embed(error)
    }
}

impl From<ResponseFailure> for EmbedError {
    fn from(failure: ResponseFailure) -> Self {
        match failure {
            ResponseFailure::TooMuch => Self::Rejected, // a single text that is too long
            ResponseFailure::RateLimited { after } => Self::Transient { after },
            ResponseFailure::Embed(error) => error,
        }
    }
}

/// What a status other than success says. `body` may be cut short.
pub(crate) fn failure(status: StatusCode, after: Option<Duration>, body: &[u8]) -> ResponseFailure {
    match status.as_u16() {
        429 if says(body, &["insufficient_quota"]) => EmbedError::Misconfigured.into(), // no waiting refills an account
        429 => ResponseFailure::RateLimited { after },
        408 | 424 | 425 | 500..=599 => EmbedError::Transient { after }.into(),
        413 => ResponseFailure::TooMuch,
        400 if says(body, &["api_key_invalid"]) => EmbedError::Misconfigured.into(), // Google's 401
        400 | 422 if says(body, TOO_MUCH) => ResponseFailure::TooMuch,
        400 | 422 => EmbedError::Rejected.into(),
        // Redirects are not followed; 401, 403, 404 and the rest speak of key, model and address.
        _ => EmbedError::Misconfigured.into(),
    }
}

/// How providers say "too many tokens" or "too many texts": OpenAI, Vertex, TEI, vLLM, in lower case. A false hit costs a
/// second, smaller request and nothing else.
const TOO_MUCH: &[&str] = &[
    "max_tokens_per_request",
    "tokens per request",
    "too many tokens",
    "too many inputs",
    "token count",
    "maximum context length",
    "context_length_exceeded",
    "batch size",
    "array too long",
    "instances per prediction",
];

fn says(body: &[u8], phrases: &[&str]) -> bool {
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(status: u16, body: &str) -> ResponseFailure {
        failure(StatusCode::from_u16(status).unwrap(), None, body.as_bytes())
    }

    #[test]
    fn each_status_has_its_class() {
        for status in [408, 424, 500, 502, 503, 504, 529] {
            assert_eq!(
                classified(status, ""),
                ResponseFailure::Embed(EmbedError::Transient { after: None }),
                "{status}"
            );
        }
        for status in [400, 422] {
            assert_eq!(classified(status, "{}"), ResponseFailure::Embed(EmbedError::Rejected), "{status}");
        }
        for status in [301, 302, 307, 401, 402, 403, 404, 405, 415] {
            assert_eq!(classified(status, ""), ResponseFailure::Embed(EmbedError::Misconfigured), "{status}");
        }
        assert_eq!(classified(413, ""), ResponseFailure::TooMuch);
        let after = Some(Duration::from_secs(3));
        assert_eq!(failure(StatusCode::TOO_MANY_REQUESTS, after, b""), ResponseFailure::RateLimited { after });
    }

    #[test]
    fn too_many_tokens_is_told_from_a_bad_input_in_each_providers_words() {
        for body in [
            r#"{"error":{"message":"Requested 300123 tokens, max 300000 tokens per request","type":"max_tokens_per_request"}}"#,
            r#"{"error":{"code":400,"message":"Unable to submit request because the input token count is 25000","status":"INVALID_ARGUMENT"}}"#,
            r#"{"error":"batch size 64 > maximum allowed batch size 32","error_type":"Validation"}"#,
            r#"{"message":"This model's maximum context length is 512 tokens."}"#,
        ] {
            assert_eq!(classified(400, body), ResponseFailure::TooMuch, "{body}");
        }
    }

    #[test]
    fn an_empty_account_and_an_invalid_key_wait_for_an_operator() {
        assert_eq!(classified(429, r#"{"error":{"code":"insufficient_quota"}}"#), EmbedError::Misconfigured.into());
        assert_eq!(
            classified(400, r#"{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}"#),
            EmbedError::Misconfigured.into()
        );
    }

    #[test]
    fn a_single_text_that_is_too_much_is_refused() {
        assert_eq!(EmbedError::from(ResponseFailure::TooMuch), EmbedError::Rejected);
    }
}
