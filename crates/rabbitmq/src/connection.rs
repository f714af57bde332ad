//! One connection: opened within a time limit or not at all, and over when it is over.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use lapin::tcp::{OwnedIdentity, OwnedTLSConfig};
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{Channel, Connection, ConnectionProperties};
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::error::BrokerError;
use anamnesis_config::BrokerConfig;

/// What a connection is for; shown in the broker's own list. Consuming and publishing never share one: a broker in
/// alarm stops a publishing connection whole, acknowledgements included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionRole {
    Consume,
    Publish,
    Relay,
    Topology,
}

impl ConnectionRole {
    fn name(self) -> &'static str {
        match self {
            Self::Consume => "anamnesis consume",
            Self::Publish => "anamnesis publish",
            Self::Relay => "anamnesis relay",
            Self::Topology => "anamnesis topology",
        }
    }
}

/// How long a polite goodbye may take.
const GOODBYE: Duration = Duration::from_millis(800);
/// How long a peer that kept silent before may take to say its first word.
const FIRST_WORD: Duration = Duration::from_secs(3);

/// An open connection.
pub struct BrokerConnection {
    connection: Connection,
    answer: Duration,
    prefix: String,
}

impl BrokerConnection {
    /// Connects within `connect_timeout_ms`. The library's handshake has no limit of its own: over a silent listener
    /// it waits for ever.
    ///
    /// # Errors
    /// Credentials and virtual host are permanent, everything else is for another attempt.
    pub async fn open(config: &BrokerConfig, role: ConnectionRole) -> Result<Self, BrokerError> {
        config.address().map_err(|_| BrokerError::Url)?;
        let mut uri: AMQPUri = config.url.expose_secret().parse().map_err(|_| BrokerError::Url)?;
        uri.query.heartbeat = Some(config.heartbeat_seconds.clamp(1, 60));
        uri.query.connection_timeout = Some(config.connect_timeout_ms);
        let properties = ConnectionProperties::default().with_connection_name(role.name().into());
        let runtime = lapin::runtime::default_runtime().map_err(|error| BrokerError::from_handshake(&error))?;
        let connecting = Connection::connect_uri_with_config(uri, properties, tls(config)?, runtime);
        let connection = tokio::time::timeout(config.connect_timeout(), connecting)
            .await
            .map_err(|_| BrokerError::Late { step: "connect" })?
            .map_err(|error| BrokerError::from_handshake(&error))?;
        Ok(Self { connection, answer: config.rpc_timeout(), prefix: config.prefix.clone() })
    }

    /// The user as whom connections are opened: `user_id` of what they publish, where a message says who sends it.
    pub fn user(config: &BrokerConfig) -> Option<String> {
        let uri: AMQPUri = config.url.expose_secret().parse().ok()?;
        Some(uri.authority.userinfo.username).filter(|user| !user.is_empty())
    }

    /// Whether an AMQP server listens there. Asked before another attempt where the last one met silence:
    /// each handshake that hangs costs the library a thread until its socket ends. TLS listeners are believed.
    pub(crate) async fn answers(config: &BrokerConfig) -> bool {
        let Ok(uri) = config.url.expose_secret().parse::<AMQPUri>() else { return true };
        if uri.scheme == AMQPScheme::AMQPS {
            return true;
        }
        let word = async {
            let mut stream = TcpStream::connect((uri.authority.host.as_str(), uri.authority.port)).await.ok()?;
            stream.write_all(b"AMQP\x00\x00\x09\x01").await.ok()?;
            let mut first = [0u8; 1];
            stream.read_exact(&mut first).await.ok()
        };
        matches!(tokio::time::timeout(FIRST_WORD, word).await, Ok(Some(_)))
    }

    /// From now on an answer may take so long.
    pub(crate) fn wait_for_answers(&mut self, limit: Duration) {
        self.answer = limit;
    }

    /// A new channel.
    ///
    /// # Errors
    /// When the connection is over or does not answer.
    pub async fn channel(&self) -> Result<Channel, BrokerError> {
        self.within("channel", self.connection.create_channel()).await
    }

    /// Waits for the broker's answer, but not for ever.
    ///
    /// # Errors
    /// [`BrokerError::Late`], or what the broker says.
    pub async fn within<T>(
        &self,
        step: &'static str,
        answer: impl Future<Output = lapin::Result<T>>,
    ) -> Result<T, BrokerError> {
        match tokio::time::timeout(self.answer, answer).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(BrokerError::from_lapin(&error, &self.prefix)),
            Err(_) => Err(BrokerError::Late { step }),
        }
    }

    /// What the library says, as ours.
    pub(crate) fn error(&self, error: &lapin::Error) -> BrokerError {
        BrokerError::from_lapin(error, &self.prefix)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.connection.status().connected()
    }

    /// Whether an alarm of the broker stopped this connection.
    pub(crate) fn is_blocked(&self) -> bool {
        self.connection.status().blocked()
    }

    /// Says goodbye, without insisting.
    pub async fn close(self) {
        let _ = tokio::time::timeout(GOODBYE, self.connection.close(200, "OK".into())).await;
    }
}

/// Whom a connection trusts besides the machine's authorities, and as whom it comes. Read for each connection, so that
/// renewed certificates need no restart.
fn tls(config: &BrokerConfig) -> Result<OwnedTLSConfig, BrokerError> {
    let read = |path: &Path, key| match path.as_os_str().is_empty() {
        true => Ok(None),
        false => std::fs::read(path).map(Some).map_err(|_| BrokerError::Certificate { key }),
    };
    let authority = read(&config.ca_file, "broker.ca_file")?;
    let cert_chain = authority.map(String::from_utf8).transpose();
    let cert_chain = cert_chain.map_err(|_| BrokerError::Certificate { key: "broker.ca_file" })?;
    let certificate = read(&config.certificate_file, "broker.certificate_file")?;
    let identity = certificate.zip(read(&config.key_file, "broker.key_file")?);
    let identity = identity.map(|(pem, key)| OwnedIdentity::PKCS8 { pem, key });
    Ok(OwnedTLSConfig { identity, cert_chain })
}
