//! TEI tells its batch limits at `/info`; other servers answer 404 and the configuration holds.

use reqwest::Url;
use serde::Deserialize;

use super::client::ProviderClient;
use super::wire_format::parsed;
use crate::batching::BatchLimits;
use anamnesis_config::embedding_limits::BatchSettings;

/// What of TEI's answer matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(crate) struct ServerLimits {
    #[serde(default)]
    pub(crate) max_client_batch_size: Option<usize>,
    #[serde(default)]
    pub(crate) max_batch_tokens: Option<usize>,
    #[serde(default)]
    pub(crate) max_input_length: Option<usize>,
}

/// Asks the server. None: it cannot be reached just now, ask again another time.
pub(crate) async fn ask(client: &ProviderClient, url: &Url) -> Option<ServerLimits> {
    let reply = client.get(url, 64 * 1024).await.ok()?;
    if reply.status.is_server_error() || matches!(reply.status.as_u16(), 401 | 403 | 429) {
        return None;
    }
    let limits = if reply.status.is_success() { parsed(&reply.body).unwrap_or_default() } else { Default::default() };
    Some(limits)
}

/// Configuration caps, the server caps, the default fills what neither says.
pub(crate) fn limits(configured: &BatchSettings, server: ServerLimits) -> BatchLimits {
    let pick = |own: Option<usize>, theirs: Option<usize>, usual: usize| match (own, theirs.filter(|n| *n > 0)) {
        (Some(own), Some(theirs)) => own.min(theirs),
        (own, theirs) => own.or(theirs).unwrap_or(usual),
    };
    BatchLimits {
        texts: pick(configured.max_texts, server.max_client_batch_size, BatchLimits::DEFAULT.texts),
        tokens: pick(configured.max_tokens, server.max_batch_tokens, BatchLimits::DEFAULT.tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_configuration_and_server_holds() {
        let server =
            ServerLimits { max_client_batch_size: Some(32), max_batch_tokens: Some(0), max_input_length: None };
        let own = |max_texts, max_tokens| BatchSettings { max_texts, max_tokens };
        let limits = |settings| (super::limits(&settings, server).texts, super::limits(&settings, server).tokens);
        assert_eq!(limits(own(None, None)), (32, BatchLimits::DEFAULT.tokens));
        assert_eq!(limits(own(Some(8), Some(100))), (8, 100));
        assert_eq!(limits(own(Some(500), None)).0, 32);
        assert_eq!(super::limits(&own(None, None), ServerLimits::default()), BatchLimits::DEFAULT);
    }
}
