//! How AWS's library sends: over rustls with aws-lc-rs, through no proxy of the environment, within our limits.

use std::time::Duration;

use aws_sdk_kms::Client;
use aws_sdk_kms::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_kms::config::retry::RetryConfig;
use aws_sdk_kms::config::timeout::TimeoutConfig;
use aws_sdk_kms::config::{BehaviorVersion, Builder, ConfigBag, Intercept, Region, RuntimeComponents};
use aws_sdk_kms::error::BoxError;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;

use anamnesis_config::keys::{AwsConfig, KeyLimits};
use anamnesis_transport::Endpoint;

/// What is said where the environment names an endpoint of plain http.
pub(super) const PLAIN: &str = "the endpoint must be https outside loopback";

/// Reads region and credentials as AWS's libraries do.
pub(super) async fn client(config: &AwsConfig, limits: KeyLimits) -> Client {
    let ms = Duration::from_millis;
    // Built by hand: the library's own client is another one from version to version, and may take proxies.
    let http = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc)).build_https();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .timeout_config(
            TimeoutConfig::builder()
                .connect_timeout(ms(limits.connect_ms))
                .operation_attempt_timeout(ms(limits.total_ms))
                .build(),
        )
        .retry_config(
            RetryConfig::standard()
                .with_max_attempts(u32::try_from(limits.attempts).unwrap_or(1))
                .with_initial_backoff(ms(limits.initial_backoff_ms))
                .with_max_backoff(ms(limits.max_backoff_ms)),
        );
    if let Some(region) = region(config) {
        loader = loader.region(Region::new(region));
    }
    let shared = loader.load().await;
    let mut kms = Builder::from(&shared).interceptor(HttpsOnly);
    if !config.endpoint.is_empty() {
        kms = kms.endpoint_url(&config.endpoint);
    }
    Client::from_conf(kms.build())
}

/// The configured region, or that of the key's ARN.
fn region(config: &AwsConfig) -> Option<String> {
    let of_arn = || config.key.strip_prefix("arn:").and_then(|rest| rest.split(':').nth(2)).map(str::to_owned);
    if config.region.is_empty() { of_arn() } else { Some(config.region.clone()) }
}

/// Refuses to send a key in clear, whatever endpoint the environment names.
#[derive(Debug)]
struct HttpsOnly;

impl Intercept for HttpsOnly {
    fn name(&self) -> &'static str {
        "HttpsOnly"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        Endpoint::parse(context.request().uri()).map(drop).map_err(|_| PLAIN.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_is_configured_or_the_arns_own() {
        let of = |key: &str, set: &str| {
            region(&AwsConfig { key: key.to_owned(), region: set.to_owned(), ..AwsConfig::default() })
        };
        assert_eq!(of("arn:aws:kms:eu-west-3:111122223333:key/1", "").as_deref(), Some("eu-west-3"));
        assert_eq!(of("arn:aws:kms:eu-west-3:111122223333:key/1", "us-east-1").as_deref(), Some("us-east-1"));
        assert_eq!(of("alias/anamnesis", ""), None);
    }
}
