//! Endpoints for Kubernetes and Prometheus. `/healthz` reports that the process runs, and calls nothing: a broken
//! database must not restart every pod, but an idle consumer with a backlog must be restarted. `/readyz` reports
//! whether work is possible. `/metrics` is the registry.

mod serve;

use std::sync::Arc;
use std::time::Duration;

use anamnesis_core::failpoints;
use async_trait::async_trait;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

pub(crate) use serve::serve;

use anamnesis_observability::metrics::Metrics;

/// `/readyz` answers within two seconds even if checks hang; the rest of them is for sending the answer.
const READY_WITHIN: Duration = Duration::from_millis(1_800);
/// Bytes of a request's body. No endpoint reads one.
const BODY: usize = 1024;

/// One thing that must work before work is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// The subject of the check: `store`, `schema`, `broker` …
    pub(crate) name: &'static str,
    pub(crate) ready: bool,
    /// Why not, as a code; never a library's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'static str>,
    /// How many findings a person should look at, although work is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attention: Option<u64>,
}

impl Check {
    pub(crate) fn ready(name: &'static str) -> Self {
        Self { name, ready: true, code: None, attention: None }
    }

    pub(crate) fn failed(name: &'static str, code: &'static str) -> Self {
        Self { name, ready: false, code: Some(code), attention: None }
    }
}

/// Checks the dependencies of the role. Called at every probe, so it should be cheap.
#[async_trait]
pub(crate) trait Readiness: Send + Sync {
    async fn check(&self) -> Vec<Check>;

    /// Why this process should be restarted, as a code. An unreachable dependency is no reason, because a new process
    /// could not reach it either.
    fn dead(&self) -> Option<&'static str> {
        None
    }
}

/// The state of the endpoints.
#[derive(Clone)]
pub(crate) struct Probes {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Arc<dyn Readiness>,
    /// Cancelled while the process drains: it lives, but must get no more work.
    pub(crate) draining: CancellationToken,
}

/// The three endpoints. A request that takes longer than `timeout` is answered 503; `/readyz` has a separate limit, so
/// that its answer names the hanging check. A body of more than a kilobyte is refused (413).
pub(crate) fn router(probes: Probes, timeout: Duration) -> Router {
    let within = READY_WITHIN.min(timeout);
    Router::new()
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, timeout))
        .route("/readyz", get(move |probes| readyz(probes, within)))
        .layer(RequestBodyLimitLayer::new(BODY))
        .with_state(probes)
}

#[derive(Serialize)]
struct ReadinessResponse {
    ready: bool,
    checks: Vec<Check>,
}

async fn healthz(State(probes): State<Probes>) -> Response {
    failpoints::panic_of("/healthz");
    match probes.readiness.dead() {
        None => "ok\n".into_response(),
        Some(code) => (StatusCode::SERVICE_UNAVAILABLE, format!("{code}\n")).into_response(),
    }
}

async fn readyz(State(probes): State<Probes>, within: Duration) -> Response {
    let checks = if probes.draining.is_cancelled() {
        vec![Check::failed("process", "draining")]
    } else {
        let late = |_| vec![Check::failed("process", "timeout")];
        tokio::time::timeout(within, probes.readiness.check()).await.unwrap_or_else(late)
    };
    let ready = checks.iter().all(|check| check.ready);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(ReadinessResponse { ready, checks })).into_response()
}

async fn metrics(State(probes): State<Probes>) -> Response {
    match probes.metrics.render() {
        Ok(text) => ([(header::CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "the proofs are the other side of the server")]

    use std::io;

    use tokio::net::TcpListener;

    use super::*;
    use anamnesis_observability::metrics::Identity;

    const LINGER: Duration = Duration::from_secs(2);

    struct FixedReadiness(Vec<Check>);

    #[async_trait]
    impl Readiness for FixedReadiness {
        async fn check(&self) -> Vec<Check> {
            self.0.clone()
        }
    }

    struct HangingReadiness;

    #[async_trait]
    impl Readiness for HangingReadiness {
        async fn check(&self) -> Vec<Check> {
            std::future::pending().await
        }
    }

    struct TestServer {
        address: String,
        draining: CancellationToken,
        stop: CancellationToken,
        server: tokio::task::JoinHandle<io::Result<()>>,
    }

    async fn app(readiness: impl Readiness + 'static, timeout: Duration) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (draining, stop) = (CancellationToken::new(), CancellationToken::new());
        let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
        let probes = Probes { metrics, readiness: Arc::new(readiness), draining: draining.clone() };
        let server = tokio::spawn(serve(listener, router(probes, timeout), stop.clone()));
        TestServer { address, draining, stop, server }
    }

    async fn asked(app: &TestServer, path: &str) -> (u16, String) {
        let answer = reqwest::get(format!("{}{path}", app.address)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    #[tokio::test]
    async fn a_broken_store_makes_the_process_unready_but_not_dead() {
        let app = app(FixedReadiness(vec![Check::ready("schema"), Check::failed("store", "locked")]), LINGER).await;
        let (status, body) = asked(&app, "/readyz").await;
        assert_eq!(status, 503);
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["checks"][1], serde_json::json!({"name": "store", "ready": false, "code": "locked"}));
        assert_eq!(asked(&app, "/healthz").await, (200, "ok\n".to_owned()));
    }

    struct PanickingReadiness;

    #[async_trait]
    impl Readiness for PanickingReadiness {
        async fn check(&self) -> Vec<Check> {
            vec![Check::ready("store")]
        }

        fn dead(&self) -> Option<&'static str> {
            Some("idle_with_backlog")
        }
    }

    #[tokio::test]
    async fn an_idle_process_with_a_backlog_is_not_alive() {
        let app = app(PanickingReadiness, LINGER).await;
        assert_eq!(asked(&app, "/healthz").await, (503, "idle_with_backlog\n".to_owned()));
    }

    #[tokio::test]
    async fn a_process_that_drains_lives_and_is_not_ready() {
        let app = app(FixedReadiness(vec![Check::ready("store")]), LINGER).await;
        assert_eq!(asked(&app, "/readyz").await.0, 200);
        app.draining.cancel();
        assert_eq!(asked(&app, "/readyz").await.0, 503);
        assert_eq!(asked(&app, "/healthz").await.0, 200);
    }

    #[tokio::test]
    async fn a_dependency_that_hangs_reads_as_not_ready() {
        let app = app(HangingReadiness, Duration::from_millis(10)).await;
        let (status, body) = asked(&app, "/readyz").await;
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["checks"][0]["code"]), (503, &serde_json::json!("timeout")));
    }

    #[tokio::test]
    async fn metrics_are_served_in_the_exposition_format() {
        let app = app(FixedReadiness(Vec::new()), LINGER).await;
        let answer = reqwest::get(format!("{}/metrics", app.address)).await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4");
        assert!(answer.text().await.unwrap().contains("# TYPE anamnesis_build_info gauge"));
    }

    #[tokio::test]
    async fn the_server_ends_on_request() {
        let app = app(FixedReadiness(Vec::new()), LINGER).await;
        assert_eq!(asked(&app, "/healthz").await.0, 200);
        app.stop.cancel();
        assert!(app.server.await.unwrap().is_ok());
    }
}
