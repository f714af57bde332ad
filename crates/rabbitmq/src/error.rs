//! What may go wrong between us and the broker. The library's own texts go no further than here: they may quote a URL
//! with its password.

use lapin::ErrorKind;
use rustls::{AlertDescription, CertificateError};

/// Carries codes and names of the topology, never a URL, a header or a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// The configured URL cannot be read.
    #[error("broker.url is no AMQP URL or is unencrypted outside loopback: amqps://user:password@host:5671/vhost")]
    Url,
    /// A configured file of certificates or keys cannot be used.
    #[error("{key} cannot be read as PEM")]
    Certificate { key: &'static str },
    /// The broker's certificate does not prove that it is the broker.
    #[error("the broker's certificate is refused: {why}")]
    Untrusted { why: &'static str },
    /// User or password: trying again changes nothing.
    #[error("the broker refuses this user or password: check broker.url")]
    Refused,
    /// There is no such virtual host, or the user may not enter it.
    #[error("the broker has no such virtual host, or this user has no access to it: check the path of broker.url")]
    NoVhost,
    /// The user may not do this.
    #[error("the broker's user has no permission for this: it needs configure, write and read on {prefix}.*")]
    Forbidden { prefix: String },
    /// A queue or an exchange is not there.
    #[error("an exchange or a queue is missing: run `anamnesis topology apply`")]
    Missing,
    /// What is declared there is not what this version declares.
    #[error("{what}: run `anamnesis topology check`")]
    Mismatch { what: String },
    /// Not reachable, or closed in between.
    #[error("the broker is not reachable ({code})")]
    Lost { code: &'static str },
    /// No answer within the time limit.
    #[error("the broker did not answer in time ({step})")]
    Late { step: &'static str },
    /// The broker has an alarm (memory, disk) and takes nothing.
    #[error("the broker accepts no messages (blocked by a resource alarm)")]
    Blocked,
    /// No queue is bound for the routing key: the broker gave the message back.
    #[error("no queue is bound for this routing key")]
    Unroutable,
    /// The broker did not take responsibility for the message.
    #[error("the broker did not accept the message (negative acknowledgement)")]
    Nacked,
}

impl BrokerError {
    /// Whether trying again may help. The others need a person.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Lost { .. } | Self::Late { .. } | Self::Blocked | Self::Unroutable | Self::Nacked => true,
            Self::Url
            | Self::Certificate { .. }
            | Self::Untrusted { .. }
            | Self::Refused
            | Self::NoVhost
            | Self::Forbidden { .. }
            | Self::Missing
            | Self::Mismatch { .. } => false,
        }
    }

    /// For logs and probes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Url => "broker_url",
            Self::Certificate { .. } => "broker_certificate",
            Self::Untrusted { .. } => "broker_untrusted",
            Self::Refused => "broker_refused",
            Self::NoVhost => "broker_vhost",
            Self::Forbidden { .. } => "broker_forbidden",
            Self::Missing => "topology_missing",
            Self::Mismatch { .. } => "topology_mismatch",
            Self::Lost { code } => code,
            Self::Late { .. } => "broker_timeout",
            Self::Blocked => "broker_blocked",
            Self::Unroutable => "unroutable",
            Self::Nacked => "nacked",
        }
    }

    pub fn lost(code: &'static str) -> Self {
        Self::Lost { code }
    }

    /// What the library says once a connection is open.
    pub(crate) fn from_lapin(error: &lapin::Error, prefix: &str) -> Self {
        let ErrorKind::ProtocolError(protocol) = error.kind() else { return Self::broken(error) };
        match protocol.get_id() {
            403 => Self::Forbidden { prefix: prefix.to_owned() },
            404 => Self::Missing,
            405 => Self::lost("resource_locked"),
            406 => Self::Mismatch { what: difference(protocol.get_message().as_str()) },
            530 => Self::Refused,
            _ => Self::lost("closed_by_broker"),
        }
    }

    /// What the library says of a handshake: there a refusal is about the credentials.
    pub(crate) fn from_handshake(error: &lapin::Error) -> Self {
        let ErrorKind::ProtocolError(protocol) = error.kind() else { return Self::broken(error) };
        match protocol.get_id() {
            403 => Self::Refused,
            530 => Self::NoVhost,
            _ => Self::lost("closed_by_broker"),
        }
    }

    fn broken(error: &lapin::Error) -> Self {
        match error.kind() {
            ErrorKind::MissingHeartbeatError => Self::lost("heartbeat_missed"),
            ErrorKind::AuthProviderError(_) => Self::Refused,
            ErrorKind::IOError(error) => untrusted(error).unwrap_or(Self::lost("connection_broken")),
            ErrorKind::RuntimeShutdownError(_) => Self::lost("connection_broken"),
            _ => Self::lost("connection_closed"),
        }
    }
}

/// What TLS says of a certificate; `None` for any other failure of the connection.
fn untrusted(error: &std::io::Error) -> Option<BrokerError> {
    let why = match error.get_ref()?.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(reason) => match reason {
            // An authority of the same name and another key makes a bad signature.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "no authority of broker.ca_file or of this machine has signed it"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "it is not for the host of broker.url"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
            CertificateError::Revoked => "it was revoked",
            _ => "it cannot be verified",
        },
        // The broker's own answer to us: it wants a certificate, or does not trust the one that it got.
        rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown,
        ) => "the broker refuses the one of broker.certificate_file, or wants one",
        _ => return None,
    };
    Some(BrokerError::Untrusted { why })
}

/// Of RabbitMQ's `inequivalent arg 'x-queue-type' for queue 'a' in vhost '/': received 'quorum' but current is
/// 'classic'` what it is about. The names are ours; anything else is not repeated.
fn difference(text: &str) -> String {
    let quoted = |after: &str| {
        let rest = &text[text.find(after)? + after.len()..];
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).collect();
        (!name.is_empty()).then_some(name)
    };
    match (quoted("inequivalent arg '"), quoted("for queue '").or_else(|| quoted("for exchange '"))) {
        (Some(argument), Some(name)) => {
            let current = quoted("but current is '").unwrap_or_else(|| "another".to_owned());
            format!("`{name}` has another `{argument}` (currently {current})")
        }
        _ => "something declared there differs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_names_the_queue_and_the_argument() {
        let text = "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'a.b' in vhost '/': received the \
                    value 'quorum' of type 'longstr' but current is 'classic'";
        assert_eq!(difference(text), "`a.b` has another `x-queue-type` (currently classic)");
        assert_eq!(difference("whatever"), "something declared there differs");
    }

    #[test]
    fn only_what_time_may_heal_is_tried_again() {
        assert!(BrokerError::Blocked.is_transient() && BrokerError::lost("x").is_transient());
        assert!(!BrokerError::Refused.is_transient() && !BrokerError::Missing.is_transient());
    }
}
