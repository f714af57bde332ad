//! Over real HTTP against the server of `bench::provider`, and against wiremock where a single answer matters.

use std::sync::Mutex;

use chrono::{DateTime, TimeZone, Utc};
use serde_json::json;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;
use crate::build::{EmbedderDeps, http};
use crate::embed_each;
use crate::sleep::recorder::Recorder;
use anamnesis_config::embedding::{EmbeddingSettings, Encoding, Provider};
use anamnesis_core::clock::{ManualClock, SeededEntropy};
use anamnesis_test_servers::provider::{Base64, FakeOptions, FakeProvider, FaultRates, ProviderFault, vector_of};

mod silence;

const DIMENSION: usize = 8;

/// Settings of a small model at `url`.
pub(crate) fn settings(url: &str) -> EmbeddingSettings {
    let mut settings = EmbeddingSettings {
        provider: Provider::OpenAi,
        url: Some(url.to_owned()),
        profile: Some(ModelProfile {
            model: "test-model".into(),
            dimension: DIMENSION,
            min_score: 0.7,
            contradiction_similarity: 0.6,
            generation: 1,
            max_tokens: 512,
            document_task: None,
            query_task: None,
        }),
        ..EmbeddingSettings::default()
    };
    settings.breaker.failures = 1_000;
    settings
}

/// The calls that an observer received.
#[derive(Default)]
struct RecordedRequests(Mutex<Vec<(RequestOutcome, usize, u64, usize)>>, Mutex<Vec<bool>>);

impl EmbedObserver for RecordedRequests {
    fn request(&self, seen: &EmbedRequest<'_>) {
        self.0.lock().unwrap().push((seen.outcome, seen.texts, seen.tokens, seen.truncated));
    }

    fn circuit(&self, open: bool) {
        self.1.lock().unwrap().push(open);
    }
}

struct HttpFixture {
    embedder: HttpEmbedder,
    pauses: Recorder,
    clock: Arc<ManualClock>,
    seen: Arc<RecordedRequests>,
}

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 12, 0, 0).unwrap()
}

fn bed(settings: &EmbeddingSettings) -> HttpFixture {
    let (pauses, clock) = (Recorder::default(), Arc::new(ManualClock::at(noon())));
    let seen = Arc::new(RecordedRequests::default());
    let world = EmbedderDeps {
        clock: clock.clone(),
        entropy: Arc::new(SeededEntropy::new(3)),
        observer: seen.clone(),
        sleep: Arc::new(pauses.clone()),
    };
    HttpFixture { embedder: http(settings, world).unwrap(), pauses, clock, seen }
}

async fn fake(change: impl FnOnce(&mut FakeOptions)) -> FakeProvider {
    let mut options = FakeOptions { dimension: DIMENSION, ..FakeOptions::default() };
    change(&mut options);
    FakeProvider::start(options).await.unwrap()
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("text number {at}")).collect()
}

fn close(got: &[Vec<f32>], texts: &[&str]) {
    assert_eq!(got.len(), texts.len());
    for (vector, text) in got.iter().zip(texts) {
        let distance: f32 = vector.iter().zip(vector_of(text, DIMENSION)).map(|(a, b)| (a - b).abs()).sum();
        assert!(distance < 1e-5, "{text}: {distance}");
    }
}

/// One call with `faults` in store for its requests: result, requests, pauses.
async fn meeting(
    change: impl FnOnce(&mut EmbeddingSettings),
    faults: impl IntoIterator<Item = ProviderFault>,
) -> (Result<Vec<Vec<f32>>, EmbedError>, u64, Vec<Duration>) {
    let server = fake(|_| {}).await;
    server.script(faults.into_iter().map(Some));
    let mut settings = settings(&server.openai_url());
    settings.encoding = Encoding::Float; // no second request to try plain
    change(&mut settings);
    let bed = bed(&settings);
    let result = bed.embedder.embed(Purpose::Document, &["a", "b", "c"]).await;
    if let Ok(vectors) = &result {
        close(vectors, &["a", "b", "c"]);
    }
    (result, server.counts().requests, bed.pauses.waits())
}

#[tokio::test]
async fn many_texts_come_back_in_order_from_either_shape_and_encoding() {
    let texts = texts(300);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (provider, encoding) in
        [(Provider::OpenAi, Encoding::Auto), (Provider::OpenAi, Encoding::Float), (Provider::Vertex, Encoding::Auto)]
    {
        let server = fake(|_| {}).await;
        let url = if provider == Provider::Vertex { server.vertex_url() } else { server.openai_url() };
        let mut settings = EmbeddingSettings { provider, encoding, send_dimensions: true, ..settings(&url) };
        settings.batch.max_texts = Some(7);
        let vectors = bed(&settings).embedder.embed(Purpose::Query, &texts).await.unwrap();
        close(&vectors, &texts);
        assert_eq!(server.counts().requests, 43, "{provider:?}");
    }
}

#[tokio::test]
async fn what_may_pass_is_tried_again_as_often_as_configured() {
    for fault in [
        ProviderFault::Status(500),
        ProviderFault::Status(503),
        ProviderFault::Status(408),
        ProviderFault::Status(424),
        ProviderFault::Reset,
    ] {
        let (result, requests, pauses) = meeting(|_| {}, [fault]).await;
        assert!(result.is_ok(), "{fault:?}");
        assert_eq!((requests, pauses.len()), (2, 1), "{fault:?}");
        let (result, requests, pauses) = meeting(|_| {}, [fault; 4]).await;
        assert_eq!(result, Err(EmbedError::Transient { after: None }), "{fault:?}");
        assert_eq!((requests, pauses.len()), (4, 3), "{fault:?}");
    }
}

#[tokio::test]
async fn what_cannot_pass_is_sent_once() {
    for status in [400, 422] {
        let (result, requests, _) = meeting(|_| {}, [ProviderFault::Status(status)]).await;
        assert_eq!((result, requests), (Err(EmbedError::Rejected), 2), "{status}: it takes another text");
        let (result, requests, _) = meeting(|_| {}, [ProviderFault::Status(status); 2]).await;
        assert_eq!((result, requests), (Err(EmbedError::Misconfigured), 2), "{status}: it refuses everything");
    }
    for status in [401, 403, 404] {
        let (result, requests, _) = meeting(|_| {}, [ProviderFault::Status(status)]).await;
        assert_eq!((result, requests), (Err(EmbedError::Misconfigured), 1), "{status}");
    }
}

#[tokio::test]
async fn the_pause_that_the_provider_asks_for_is_kept_or_handed_on() {
    let asks = |seconds| ProviderFault::TooManyRequests { retry_after: Some(seconds) };
    let (result, requests, pauses) = meeting(|_| {}, [asks(7), asks(0)]).await;
    assert!(result.is_ok());
    assert_eq!((requests, pauses[0]), (3, Duration::from_secs(7)));
    let (result, requests, pauses) = meeting(|_| {}, [asks(3_600)]).await;
    assert_eq!(result, Err(EmbedError::Transient { after: Some(Duration::from_secs(3_600)) }));
    assert_eq!((requests, pauses), (1, vec![]));
}

#[tokio::test]
async fn a_date_as_retry_after_is_counted_from_the_given_clock() {
    let server = MockServer::start().await;
    let date = ResponseTemplate::new(503).insert_header("retry-after", "Sat, 21 Nov 2026 12:00:09 GMT");
    Mock::given(method("POST")).respond_with(date).mount(&server).await;
    let bed = bed(&settings(&format!("{}/v1", server.uri())));
    let wanted = Duration::from_secs(9);
    assert_eq!(bed.embedder.embed(Purpose::Document, &["a"]).await, Err(EmbedError::Transient { after: Some(wanted) }));
    assert_eq!(bed.pauses.waits(), [wanted; 3]);
}

#[tokio::test]
async fn an_answer_against_the_contract_is_asked_again_and_then_reported() {
    for (fault, error) in [
        (ProviderFault::WrongCount, EmbedError::BadAnswer),
        (ProviderFault::DoubleIndex, EmbedError::BadAnswer),
        (ProviderFault::NotJson, EmbedError::BadAnswer),
        (ProviderFault::Oversize, EmbedError::BadAnswer),
        (ProviderFault::WrongDimension, EmbedError::Dimension),
        (ProviderFault::NotANumber, EmbedError::NotFinite),
        (ProviderFault::TooBig, EmbedError::NotFinite),
        (ProviderFault::Zero, EmbedError::NotFinite),
    ] {
        let (result, requests, _) = meeting(|_| {}, [fault]).await;
        assert!(result.is_ok(), "{fault:?} once: {result:?}");
        assert_eq!(requests, 2, "{fault:?}");
        let (result, requests, _) = meeting(|_| {}, [fault; 4]).await;
        assert_eq!((result, requests), (Err(error), 4), "{fault:?}");
    }
}

#[tokio::test]
async fn another_order_is_put_right() {
    let (result, requests, _) = meeting(|_| {}, [ProviderFault::WrongOrder]).await;
    assert!(result.is_ok());
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn a_body_that_stalls_and_a_server_that_is_not_there_are_transient() {
    let hasty = |settings: &mut EmbeddingSettings| {
        settings.timeouts.read_ms = 100;
        settings.retry.attempts = 2;
    };
    let (result, requests, _) = meeting(hasty, [ProviderFault::SlowBody; 2]).await;
    assert_eq!((result, requests), (Err(EmbedError::Transient { after: None }), 2));
    let server = fake(|_| {}).await;
    let url = server.openai_url();
    drop(server);
    let bed = bed(&settings(&url));
    let result = bed.embedder.embed(Purpose::Document, &["a"]).await;
    assert_eq!(result, Err(EmbedError::Transient { after: None }));
    assert_eq!(bed.pauses.waits().len(), 3);
}

#[tokio::test]
async fn a_server_without_base64_is_found_out_once() {
    for (base64, first) in [(Base64::Ignored, 1), (Base64::Refused, 2), (Base64::Obeyed, 1)] {
        let server = fake(|options| options.base64 = base64).await;
        let bed = bed(&settings(&server.openai_url()));
        for call in 0..3 {
            close(&bed.embedder.embed(Purpose::Document, &["a"]).await.unwrap(), &["a"]);
            assert_eq!(server.counts().requests, first + call, "{base64:?}");
        }
    }
}

#[tokio::test]
async fn a_batch_that_is_too_much_goes_in_halves_and_a_single_text_is_refused() {
    let texts = texts(16);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let server = fake(|options| options.max_texts = 5).await;
    close(&bed(&settings(&server.openai_url())).embedder.embed(Purpose::Document, &texts).await.unwrap(), &texts);
    assert_eq!(server.counts().requests, 1 + 2 + 4);
    let (result, ..) = meeting(|s| s.batch.max_texts = Some(1), [ProviderFault::Status(413)]).await;
    assert_eq!(result, Err(EmbedError::Rejected));
}

#[tokio::test]
async fn a_server_that_tells_its_limits_is_never_asked_too_much() {
    let texts = texts(16);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let server = fake(|options| (options.max_texts, options.tells_limits) = (5, true)).await;
    let observed = bed(&settings(&server.openai_url()));
    for _ in 0..2 {
        close(&observed.embedder.embed(Purpose::Document, &texts).await.unwrap(), &texts);
    }
    assert_eq!(server.counts().requests, 2 * 4);
    assert!(observed.seen.0.lock().unwrap().iter().all(|seen| seen.0 == RequestOutcome::Ok));
}

#[tokio::test]
async fn a_server_that_never_answers_info_is_asked_three_times_and_embeds_all_the_same() {
    let server = MockServer::start().await;
    let vector = [1.0].into_iter().chain([0.0; DIMENSION - 1]).collect::<Vec<f64>>();
    let answer = json!({"data": [{"index": 0, "embedding": vector}]});
    let down = ResponseTemplate::new(503);
    Mock::given(path("/info")).respond_with(down).expect(3).mount(&server).await;
    Mock::given(path("/v1/embeddings"))
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    let bed = bed(&settings(&format!("{}/v1", server.uri())));
    for _ in 0..5 {
        bed.embedder.embed(Purpose::Document, &["a"]).await.unwrap();
    }
}

#[tokio::test]
async fn a_poisoned_text_is_found_and_its_neighbours_get_their_vectors() {
    for (refuses, error) in [(true, EmbedError::Rejected), (false, EmbedError::NotFinite)] {
        let server = fake(|options| match refuses {
            true => options.refuses = Some("17".into()),
            false => options.chokes_on = Some("17".into()),
        })
        .await;
        let texts = texts(40);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let bed = bed(&settings(&server.openai_url()));
        let results = embed_each(&bed.embedder, Purpose::Document, &texts).await;
        for (at, (result, text)) in results.into_iter().zip(&texts).enumerate() {
            match result {
                Ok(vector) => close(&[vector], &[text]),
                Err(got) => assert_eq!((at, got), (17, error.clone())),
            }
        }
    }
}

#[tokio::test]
async fn a_text_that_the_provider_cut_is_refused() {
    let server = MockServer::start().await;
    let mut values = vec![0.0; DIMENSION];
    values[0] = 1.0;
    let answer = json!({"predictions": [{"embeddings": {"values": values,
        "statistics": {"truncated": true, "token_count": 2048}}}]});
    let whole = json!({"predictions": [{"embeddings": {"values": values, "statistics": {"token_count": 2}}}]});
    let place = "/publishers/google/models/test-model:predict";
    Mock::given(path(place))
        .and(wiremock::matchers::body_string_contains(PROBE))
        .respond_with(ResponseTemplate::new(200).set_body_json(whole))
        .mount(&server)
        .await;
    Mock::given(path(place)).respond_with(ResponseTemplate::new(200).set_body_json(answer)).mount(&server).await;
    let bed = bed(&EmbeddingSettings { provider: Provider::Vertex, ..settings(&server.uri()) });
    assert_eq!(bed.embedder.embed(Purpose::Document, &["a"]).await, Err(EmbedError::Rejected));
    assert_eq!(*bed.seen.0.lock().unwrap(), [(RequestOutcome::Rejected, 1, 2048, 1), (RequestOutcome::Ok, 1, 2, 0)]);
}

#[tokio::test]
async fn a_failing_provider_is_rested_and_then_probed() {
    let server = fake(|_| {}).await;
    let mut settings = settings(&server.openai_url());
    (settings.breaker.failures, settings.retry.attempts) = (3, 2);
    let bed = bed(&settings);
    server.script([Some(ProviderFault::Status(500)); 3]);
    let embed = || bed.embedder.embed(Purpose::Document, &["a"]);
    assert_eq!(embed().await, Err(EmbedError::Transient { after: None }));
    let rest = Duration::from_millis(settings.breaker.open_ms);
    assert_eq!(embed().await, Err(EmbedError::CircuitOpen { after: rest }));
    assert_eq!(embed().await, Err(EmbedError::CircuitOpen { after: rest }));
    assert_eq!(server.counts().requests, 3);
    bed.clock.advance(chrono::Duration::from_std(rest).unwrap());
    close(&embed().await.unwrap(), &["a"]);
    assert_eq!(*bed.seen.1.lock().unwrap(), [true, false]);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = MockServer::start().await;
    let moved = ResponseTemplate::new(307).insert_header("location", "/elsewhere");
    Mock::given(path("/v1/embeddings")).respond_with(moved).expect(1).mount(&server).await;
    Mock::given(path("/elsewhere")).respond_with(ResponseTemplate::new(200)).expect(0).mount(&server).await;
    let bed = bed(&settings(&format!("{}/v1", server.uri())));
    assert_eq!(bed.embedder.embed(Purpose::Document, &["a"]).await, Err(EmbedError::Misconfigured));
}

#[tokio::test]
async fn the_key_is_sent_and_a_configured_proxy_is_used() {
    let proxy = MockServer::start().await;
    let refusal = ResponseTemplate::new(403);
    let key = header("authorization", "Bearer sk-canary");
    Mock::given(key).and(path("/v1/embeddings")).respond_with(refusal).expect(1).mount(&proxy).await;
    let mut settings = settings("http://localhost:1/v1");
    settings.ignore_server_limits = true;
    settings.proxy = Some(proxy.uri().into());
    settings.api_key = Some("sk-canary".into());
    assert_eq!(bed(&settings).embedder.embed(Purpose::Document, &["a"]).await, Err(EmbedError::Misconfigured));
}

#[tokio::test]
async fn a_blank_text_is_refused_unsent_and_nothing_needs_no_server() {
    let server = fake(|_| {}).await;
    let bed = bed(&settings(&server.openai_url()));
    assert_eq!(bed.embedder.embed(Purpose::Document, &["a", " \n"]).await, Err(EmbedError::Rejected));
    assert_eq!(bed.embedder.embed(Purpose::Document, &[]).await, Ok(vec![]));
    assert_eq!(server.counts().requests, 0);
}

#[tokio::test]
async fn the_observer_receives_each_request() {
    let server = fake(|_| {}).await;
    server.script([Some(ProviderFault::TooManyRequests { retry_after: None }), Some(ProviderFault::Status(500)), None]);
    let bed = bed(&settings(&server.openai_url()));
    bed.embedder.embed(Purpose::Document, &["abcd", "ef"]).await.unwrap();
    let seen = bed.seen.0.lock().unwrap().clone();
    assert_eq!(seen[..2], [(RequestOutcome::RateLimited, 2, 7, 0), (RequestOutcome::Transient, 2, 7, 0)]);
    assert_eq!(seen[2..], [(RequestOutcome::Ok, 2, 2, 0)], "the provider's own count");
}

/// Under a storm of every fault each answer is right or an error, never another text's vector.
#[tokio::test]
async fn under_a_storm_of_faults_no_text_gets_another_texts_vector() {
    let kinds = [
        ProviderFault::TooManyRequests { retry_after: Some(1) },
        ProviderFault::Status(500),
        ProviderFault::WrongCount,
        ProviderFault::WrongDimension,
        ProviderFault::NotANumber,
        ProviderFault::TooBig,
        ProviderFault::WrongOrder,
        ProviderFault::DoubleIndex,
        ProviderFault::Reset,
        ProviderFault::NotJson,
    ];
    let server = fake(|options| options.faults = FaultRates::new(kinds.map(|kind| (kind, 0.04)))).await;
    let mut settings = settings(&server.openai_url());
    settings.batch.max_texts = Some(3);
    let bed = bed(&settings);
    let texts = texts(30);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut right = 0;
    for _ in 0..20 {
        for (result, text) in embed_each(&bed.embedder, Purpose::Document, &texts).await.into_iter().zip(&texts) {
            if let Ok(vector) = result {
                close(&[vector], &[text]);
                right += 1;
            }
        }
    }
    assert!(right > 300, "{right} of 600");
}
