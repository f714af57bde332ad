//! Connections that leave the machine: to the configured hosts, encrypted, and never through a proxy of the
//! environment.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use wiremock::matchers::{method, path, path_regex};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::broker::{BrokerWorker, until};
use crate::support::{ORG, Program, TestEngine, document};

/// Listens at the proxy address of the environment, and records the first line of each request.
struct FakeProxy {
    url: String,
    received: Arc<Mutex<Vec<String>>>,
}

impl FakeProxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let record = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut bytes = [0u8; 512];
                let read = stream.read(&mut bytes).unwrap_or(0);
                let text = String::from_utf8_lossy(&bytes[..read]).lines().next().unwrap_or_default().to_owned();
                record.lock().unwrap().push(text);
                let _ = stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
            }
        });
        Self { url, received }
    }

    /// Every spelling that a library may read.
    fn environment(&self) -> Vec<(String, String)> {
        ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
            .map(|name| (name.to_owned(), self.url.clone()))
            .to_vec()
    }

    fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

fn run(program: &Program, arguments: &[&str], environment: &[(String, String)], input: &str) -> Output {
    let mut command = program.command(&[]);
    command.args(arguments).envs(environment.iter().cloned());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

async fn asked(server: &MockServer, wanted: &str) -> usize {
    let all = server.received_requests().await.unwrap();
    all.iter().filter(|request| request.url.path().contains(wanted)).count()
}

/// Answers as every service that the program may ask: Presidio, Google, a language model, a callback, RabbitMQ.
async fn services() -> MockServer {
    let server = MockServer::start().await;
    let empty = ResponseTemplate::new(200).set_body_json(json!([]));
    Mock::given(path("/analyze")).respond_with(empty).mount(&server).await;
    let same = ResponseTemplate::new(200).set_body_json(json!({"item": {"value": "Duerme mal."}, "overview": {}}));
    Mock::given(path_regex("deidentify$")).respond_with(same).mount(&server).await;
    Mock::given(path_regex("completions$")).respond_with(ResponseTemplate::new(503)).mount(&server).await;
    Mock::given(path("/hook")).respond_with(ResponseTemplate::new(204)).mount(&server).await;
    let definitions = ResponseTemplate::new(200).set_body_json(json!({"queues": []}));
    Mock::given(method("GET")).and(path_regex("^/api/definitions")).respond_with(definitions).mount(&server).await;
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_goes_through_a_proxy_of_the_environment() {
    let (proxy, server, program) = (FakeProxy::start(), services().await, Program::on(TestEngine::File).await);
    let uri = server.uri();
    let config = program.folder.path().join("anamnesis.toml");
    let text = format!(
        "[[redaction.organizations]]\norganization = \"{ORG}\"\npresidio = \"{uri}\"\n\
         [extraction.llm]\nurl = \"{uri}/v1\"\nmodel = \"m\"\n\
         [broker]\nmanagement_url = \"{}\"\n\
         [[broker.webhooks]]\nurl = \"{uri}/hook\"\nsecret = \"0123456789abcdef\"\n",
        uri.replace("http://", "http://guest:guest@")
    );
    std::fs::write(&config, text).unwrap();
    let mut environment = proxy.environment();
    environment.push(("ANAMNESIS_CONFIG".to_owned(), config.display().to_string()));
    environment.push(("ANAMNESIS_DLP_TOKEN".to_owned(), "token".to_owned()));

    let services = ["redact", "--presidio", &uri, "--google", "projects/p/locations/l", "--google-url", &uri];
    run(&program, &services, &environment, "{\"id\":\"1\",\"text\":\"Duerme mal.\"}\n");
    let note = format!("{}\n", document(1, 1, "2026-03-02T10:00:00Z", "Duerme mal."));
    let stored = run(&program, &["ingest", "-"], &environment, &note);
    assert!(stored.status.success(), "{}", String::from_utf8_lossy(&stored.stderr));
    run(&program, &["topology", "check"], &environment, "");
    let worker = BrokerWorker::start(&program, &environment).await;
    until("the callback is asked", || async { asked(&server, "/hook").await > 0 || !proxy.received().is_empty() })
        .await;
    drop(worker);
    assert_eq!(proxy.received(), Vec::<String>::new(), "what was meant for a service went to the proxy");
    for service in ["/analyze", "deidentify", "completions", "/hook", "/api/definitions"] {
        assert!(asked(&server, service).await > 0, "{service} was not asked");
    }

    // An encrypted connection through a proxy begins with its own request to it.
    let beyond = ["redact", "--presidio", "https://presidio.invalid"];
    let failed = run(&program, &beyond, &environment, "{\"id\":\"1\",\"text\":\"Duerme mal.\"}\n");
    assert_ne!(failed.status.code(), Some(0));
    assert_eq!(proxy.received(), Vec::<String>::new());
}

const PATIENCE: Duration = Duration::from_secs(20);

fn run_with_setting(arguments: &[&str], key: &str, value: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    command.args(arguments).current_dir(folder.path()).env(key, value).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // A configuration fault is reported at the start: a program that keeps running has not seen it.
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_broker_beyond_this_machine_is_reached_encrypted_or_not_at_all() {
    let url = "amqp://ana:hunter2@rabbit.invalid:5672/%2f";
    for verb in [&["worker"][..], &["publish", "-"], &["topology", "check"], &["topology", "apply"]] {
        let (code, said) = run_with_setting(verb, "ANAMNESIS__BROKER__URL", url);
        assert_eq!(code, Some(2), "{verb:?}: {said}");
        assert!(said.contains("broker.url") && said.contains("must be amqps"), "{verb:?}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("rabbit.invalid"), "{verb:?}: {said}");
    }
}

#[test]
fn plain_http_beyond_this_machine_is_a_mistake_of_the_configuration() {
    let organization = format!("[{{organization=\"{ORG}\",presidio=\"http://presidio.invalid:3000\"}}]");
    let google = format!("[{{organization=\"{ORG}\",google=\"p\",google_url=\"http://dlp.invalid\"}}]");
    let webhook = "[{url=\"http://clinic.invalid/hook\",secret=\"0123456789abcdef\"}]";
    for (key, value, named) in [
        ("ANAMNESIS__REDACTION__ORGANIZATIONS", organization.as_str(), "redaction.organizations.presidio"),
        ("ANAMNESIS__REDACTION__ORGANIZATIONS", google.as_str(), "redaction.organizations.google_url"),
        ("ANAMNESIS__EXTRACTION__LLM__URL", "http://models.invalid/v1", "extraction.llm.url"),
        ("ANAMNESIS__BROKER__MANAGEMENT_URL", "http://u:p@rabbit.invalid:15672", "broker.management_url"),
        ("ANAMNESIS__BROKER__WEBHOOKS", webhook, "broker.webhooks.url"),
    ] {
        let (code, said) = run_with_setting(&["worker"], key, value);
        assert_eq!(code, Some(2), "{named}: {said}");
        assert!(said.contains(named) && said.contains("must be https"), "{named}: {said}");
        assert!(!said.contains(".invalid"), "{named}: {said}");
    }
    let (code, said) =
        run_with_setting(&["redact", "--presidio", "http://presidio.invalid"], "ANAMNESIS_DLP_TOKEN", "x");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--presidio: must be https"), "{said}");
}
