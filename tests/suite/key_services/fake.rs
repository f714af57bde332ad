//! A fake key service as a client sees it: keys with versions, tokens that can be revoked, and faults. Each service
//! adds its protocol ([`Dialect`]); a request with missing parts is recorded and fails the test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// A fault that replaces the normal answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceFault {
    None,
    /// Answers this status to every call of the key, as often as said.
    Status(u16, u32),
    /// The identity has no permission.
    Forbidden,
    /// The key is disabled, or not there.
    NoKey,
    /// Answers after the client's time limit.
    Slow,
    /// 200, and not from the service.
    Garbage,
    /// A right answer with a wrong byte in it.
    Flipped,
}

/// A call of the key, taken apart.
pub(crate) enum KeyCall {
    Wrap {
        plain: Vec<u8>,
        context: Vec<u8>,
    },
    Unwrap {
        sealed: Vec<u8>,
        context: Vec<u8>,
    },
    /// Something else, such as a login: this is the answer.
    Other(ResponseTemplate),
}

/// The protocol of one service. `Err` names the missing part of a request.
pub(crate) trait Dialect: Send + Sync + 'static {
    fn read(&self, request: &Request, state: &mut ServiceState) -> Result<KeyCall, String>;
    fn wrapped(&self, sealed: &[u8], version: u32) -> ResponseTemplate;
    fn unwrapped(&self, plain: &[u8]) -> ResponseTemplate;
    fn not_ours(&self) -> ResponseTemplate;
    fn forbidden(&self) -> ResponseTemplate;
    fn no_key(&self) -> ResponseTemplate;
    /// Whether the request carries the token that is valid now.
    fn is_authorised(&self, request: &Request, state: &ServiceState) -> bool;
    fn unauthorised(&self) -> ResponseTemplate;
    /// A failure of the service, or its wish to be asked less often (429).
    fn failing(&self, status: u16) -> ResponseTemplate {
        ResponseTemplate::new(status)
    }
}

/// The state of the service.
pub(crate) struct ServiceState {
    pub(crate) version: u32,
    pub(crate) fault: ServiceFault,
    /// The token that is valid now; each login makes the next.
    pub(crate) token: u32,
    pub(crate) logins: u32,
    /// Calls of the key, refused ones included.
    pub(crate) calls: u32,
    /// Missing parts of requests.
    pub(crate) problems: Vec<String>,
    kept: HashMap<Vec<u8>, (Vec<u8>, Vec<u8>)>,
}

impl ServiceState {
    /// A login: the token that is valid from now on.
    pub(crate) fn login(&mut self) -> String {
        self.logins += 1;
        format!("token-{}", self.token)
    }
}

pub(crate) struct FakeKeyService {
    pub(crate) server: MockServer,
    state: Arc<Mutex<ServiceState>>,
}

struct Answering<D>(D, Arc<Mutex<ServiceState>>);

pub(crate) const LATE: Duration = Duration::from_millis(900);

impl FakeKeyService {
    pub(crate) async fn start(dialect: impl Dialect) -> Self {
        Self::on(MockServer::start().await, dialect).await
    }

    pub(crate) async fn on(server: MockServer, dialect: impl Dialect) -> Self {
        let state = ServiceState {
            version: 1,
            fault: ServiceFault::None,
            token: 1,
            logins: 0,
            calls: 0,
            problems: Vec::new(),
            kept: HashMap::new(),
        };
        let state = Arc::new(Mutex::new(state));
        Mock::given(any()).respond_with(Answering(dialect, Arc::clone(&state))).mount(&server).await;
        Self { server, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ServiceState> {
        self.state.lock().unwrap()
    }

    pub(crate) fn fails(&self, fault: ServiceFault) {
        let mut state = self.state();
        state.fault = fault;
        state.calls = 0;
    }

    /// Revokes all tokens.
    pub(crate) fn loses_its_tokens(&self) {
        self.state().token += 1;
    }
}

impl<D: Dialect> Respond for Answering<D> {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = self.1.lock().unwrap();
        let call = match self.0.read(request, &mut state) {
            Ok(call) => call,
            Err(problem) => {
                state.problems.push(format!("{} {}: {problem}", request.method, request.url.path()));
                return ResponseTemplate::new(400);
            }
        };
        if let KeyCall::Other(answer) = call {
            return answer;
        }
        state.calls += 1;
        if !self.0.is_authorised(request, &state) {
            return self.0.unauthorised();
        }
        match state.fault {
            ServiceFault::Status(status, times) if times > 0 => {
                state.fault = ServiceFault::Status(status, times - 1);
                return self.0.failing(status);
            }
            ServiceFault::Forbidden => return self.0.forbidden(),
            ServiceFault::NoKey => return self.0.no_key(),
            ServiceFault::Garbage => return ResponseTemplate::new(200).set_body_string("<html>Please log in</html>"),
            _ => {}
        }
        let answer = match call {
            KeyCall::Wrap { plain, context } => {
                let sealed = format!("sealed-{}-{}", state.version, state.kept.len()).into_bytes();
                state.kept.insert(sealed.clone(), (plain, context));
                self.0.wrapped(&sealed, state.version)
            }
            KeyCall::Unwrap { sealed, context } => match state.kept.get(&sealed) {
                Some((plain, bound)) if *bound == context => {
                    let mut plain = plain.clone();
                    if state.fault == ServiceFault::Flipped {
                        plain[0] ^= 1;
                    }
                    self.0.unwrapped(&plain)
                }
                _ => self.0.not_ours(),
            },
            KeyCall::Other(answer) => answer,
        };
        if state.fault == ServiceFault::Slow { answer.set_delay(LATE) } else { answer }
    }
}

pub(crate) fn answer(status: u16, body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

pub(crate) fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The JSON body.
pub(crate) fn body(request: &Request) -> Result<Value, String> {
    serde_json::from_slice(&request.body).map_err(|_| "the body is no JSON".to_owned())
}

/// A field in an encoding of base64.
pub(crate) fn bytes(body: &Value, field: &str, engine: &impl base64::Engine) -> Result<Vec<u8>, String> {
    let text = body[field].as_str().ok_or_else(|| format!("{field} is missing"))?;
    engine.decode(text).map_err(|_| format!("{field} is no base64"))
}

pub(crate) fn demand(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// An OAuth answer.
pub(crate) fn access(token: &str) -> ResponseTemplate {
    answer(200, &json!({"access_token": token, "expires_in": 3600, "token_type": "Bearer"}))
}
