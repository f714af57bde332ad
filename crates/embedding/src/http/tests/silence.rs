//! What a provider answers, what it is sent and what opens it stay out of logs and errors.

use super::*;

#[test]
fn no_key_and_no_text_reaches_a_log_or_an_error() {
    let log = Arc::new(Mutex::new(Vec::<u8>::new()));
    let writer = Written(Arc::clone(&log));
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let errors = tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(every_failure_with_canaries())
    });
    let log = String::from_utf8_lossy(&log.lock().unwrap()).into_owned();
    assert!(log.contains("embedding request failed"), "the log was not captured");
    assert!(!format!("{log}{errors:?}").contains("canary"), "{log}");
    assert!(errors.iter().all(|error| !error.to_string().contains("canary")));
}

async fn every_failure_with_canaries() -> Vec<EmbedError> {
    let mut errors = Vec::new();
    for fault in [
        ProviderFault::Status(500),
        ProviderFault::Status(401),
        ProviderFault::Status(400),
        ProviderFault::NotANumber,
        ProviderFault::Reset,
    ] {
        let server = fake(|_| {}).await;
        server.script([Some(fault); 8]);
        let mut settings = settings(&server.openai_url());
        settings.api_key = Some("sk-canary".into());
        errors.extend(bed(&settings).embedder.embed(Purpose::Document, &["the canary sings"]).await.err());
    }
    let echo = MockServer::start().await;
    let quoting = ResponseTemplate::new(422).set_body_string(r#"{"detail":[{"input":"the canary sings"}]}"#);
    Mock::given(path("/v1/embeddings")).respond_with(quoting).mount(&echo).await;
    let quoting = settings(&format!("{}/v1", echo.uri()));
    errors.extend(bed(&quoting).embedder.embed(Purpose::Document, &["the canary sings"]).await.err());
    assert_eq!(errors.len(), 6);
    errors
}

#[derive(Clone)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
